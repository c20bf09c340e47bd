"""The page for everybody: the same whatever the curator has, and without anything of hers."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from discreet.release.release import open_release
from discreet.reports.release_report import report
from tests.reports.test_html_page import words

if TYPE_CHECKING:
    from pathlib import Path

CURATORS = (
    "Curator only", "Exact recovery rates on this release", "p-table", "Margins", "Bound disclosure",
    "Constraints of the design", "digest of the records", "mixed, version", "seed of attacks", "nearest feasible",
)  # fmt: skip


@pytest.fixture(scope="module")
def alone(town_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the page made where there is no curator's folder at all."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copytree(town_folder / "out", folder / "out")
    return report(folder / "out", folder / "page.html", public=True).path.read_bytes()


def test_it_is_the_same_beside_the_curators_folder(alone: bytes, town_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(town_folder / "out", tmp_path / "out")
    shutil.copytree(town_folder / "out.curator", tmp_path / "out.curator")
    assert report(tmp_path / "out", tmp_path / "page.html", public=True).path.read_bytes() == alone


@pytest.mark.slow
@pytest.mark.parametrize("content", ["garbage", "folder", "file"])
def test_it_is_the_same_beside_garbage(alone: bytes, town_folder: Path, tmp_path: Path, content: str) -> None:
    shutil.copytree(town_folder / "out", tmp_path / "out")
    if content == "file":
        (tmp_path / "out.curator").write_text("{")
    else:
        (tmp_path / "out.curator" / "exact").mkdir(parents=True)
    if content == "garbage":
        (tmp_path / "out.curator" / "record.json").write_text("{")
    assert report(tmp_path / "out", tmp_path / "page.html", public=True).path.read_bytes() == alone


def test_a_release_that_was_opened_with_its_record_gives_the_same(
    alone: bytes, town_folder: Path, tmp_path: Path
) -> None:
    opened = open_release(town_folder / "out")
    assert opened.record
    assert report(opened, tmp_path / "page.html", public=True).path.read_bytes() == alone


def test_it_has_no_part_of_the_curators(alone: bytes, curators_page: str) -> None:
    public, curators = words(alone.decode()), words(curators_page)
    for part in CURATORS:
        assert part not in public
    assert sum(part in curators for part in CURATORS) >= len(CURATORS) - 2


def test_it_has_no_empty_rows_and_no_advice(alone: bytes) -> None:
    text = words(alone.decode())
    assert "not assessed ○" not in text
    for advice in ("Use variance", "--target", "It needs a variance", "needs a variance of"):
        assert advice not in text
    # The noise that the risk assumes is stated with it.
    assert "±1.7 is rounded: the noise is between ±1.65 and ±1.75. Risk is stated for the smallest, ±1.65" in text


def test_it_tells_no_secret(alone: bytes, town_folder: Path) -> None:
    record, text = open_release(town_folder / "out").record, words(alone.decode())
    assert record.secret_check
    assert record.data_fingerprint
    for secret in (record.secret_check, record.data_fingerprint, "mixed, version", str(town_folder), "PERSON_ID"):
        assert secret not in alone.decode()
    # The exact bound and the exact variance stay untold; vague ones are.
    assert not re.search(r"\bbound 5\b", text)
    assert "bound not more than about 10" in text
    assert f"variance {record.variance:.4g}" not in text
