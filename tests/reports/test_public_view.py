"""What everybody has of a release: its folder, whatever lies beside it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from discreet.errors import ReleaseError
from discreet.release.disclosed_noise import deviation_range
from discreet.release.public_view import disclosed_record, public_release
from discreet.release.release import open_release
from discreet.release.true_tables import has_true_counts

if TYPE_CHECKING:
    from pathlib import Path


def test_it_has_the_tables_and_no_curator(town_folder: Path) -> None:
    opened, side = open_release(town_folder / "out"), public_release(town_folder / "out")
    assert side.ids == opened.ids
    assert all(side.table(name).equals(opened.table(name)) for name in side.ids)
    assert side.description == opened.description
    assert opened.has_record
    assert not side.has_record
    assert not has_true_counts(side)
    assert not public_release(opened).has_record


def test_a_changed_table_is_refused_as_elsewhere(town_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(town_folder / "out", tmp_path / "out")
    side = public_release(tmp_path / "out")
    name = side.ids[0]
    (tmp_path / "out" / side.files[name]).write_bytes(b"something else")
    with pytest.raises(ReleaseError, match=r"damaged or was changed"):
        side.table(name)


def test_the_record_has_the_size_that_is_asked_for(town_folder: Path) -> None:
    record = disclosed_record(public_release(town_folder / "out"), 1.75)
    assert record.variance == pytest.approx(1.75**2)
    assert record.spsn
    assert (record.key_version, record.secret_check, record.data_fingerprint, record.records) == (None,) * 4


@pytest.mark.parametrize(("typical", "told"), [(2.6, "not more than about 5"), (14.1, None), (0.3, None)])
def test_any_noise_that_may_be_told_has_a_record(town_folder: Path, typical: float, told: str | None) -> None:
    side = public_release(town_folder / "out")
    side.description["noise"] = {"typical_noise": typical, **({"bound": told} if told else {})}
    for size in deviation_range(side.description["noise"]) or ():
        assert disclosed_record(side, size).variance == pytest.approx(size**2)
