"""True counts from the curator's files: right cell by cell, or refused with the file that is wrong."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from discreet.attacks.scoring import TrueCounts
from discreet.errors import InputError, ReleaseError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.release.release import open_release
from discreet.release.table_files import read_table, write_table
from discreet.tabulation.cell_vector import layouts
from tests.attacks.scenes import PTABLE, cells_by_hand, town_release
from tests.protection.town import SECRET, people
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release


@pytest.fixture(scope="module")
def made(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a release with its true counts next to it."""
    out = tmp_path_factory.mktemp("office") / "out"
    town_release(engine=engine, out=out)
    return out


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """Return a copy of it that may be spoilt."""
    shutil.copytree(made.parent, tmp_path / "office")
    return tmp_path / "office" / "out"


def exact(out: Path) -> Path:
    return out.with_name("out.curator") / "exact"


def counted(release: Release, population: str) -> list[int]:
    """Return how many persons every cell of a population holds, person by person."""
    layout = layouts(release.programme, spsn=True)[population]
    records = people(300).to_pylist()
    those = [person for person in records if in_universe_of(release, population, person)]
    return [sum(all(p[name] in codes for name, codes in cell.items()) for p in those) for cell in cells_by_hand(layout)]


def in_universe_of(release: Release, population: str, person: dict[str, str]) -> bool:
    table = release.programme.of(population)[0]
    # The universe of the town: AGE = Y2 and EMP != 3.
    return table.universe is None or (person["AGE"] == "Y2" and person["EMP"] != "3")


# --- Right ---


def test_they_are_the_counts_of_the_persons_in_every_population(out: Path) -> None:
    release = open_release(out)
    truth = TrueCounts(release)
    for population in release.programme.populations:
        found = truth.counts(population)
        assert found.dtype == np.int64
        assert found.tolist() == counted(release, population)
        assert truth.counts(population) is found
    assert truth.place == str(exact(out))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_folder_that_is_named_may_hold_either_format(out: Path, tmp_path: Path, form: str) -> None:
    named = tmp_path / "named"
    named.mkdir()
    for path in exact(out).iterdir():
        write_table(path.stem, read_table(path), named, form)
    shutil.rmtree(exact(out))
    truth = TrueCounts(open_release(out), named)
    assert truth.counts("persons").tolist() == counted(open_release(out), "persons")
    assert truth.place == str(named)


@pytest.mark.parametrize(
    "mechanism",
    [
        CellKey(PTABLE, secret=SECRET),
        CellKey(PTable.max_entropy(variance=2, bound=4, perturb_zeros=True), secret=SECRET),
        Coordinates(TwoSidedGeometric(epsilon=0.5), secret=SECRET),
        Fresh(PTABLE, bits=SeededBits(1)),
        Exact(),
    ],
    ids=["cell keys", "noisy zeros", "unbounded", "fresh", "exact"],
)
@pytest.mark.parametrize("non_negative", one_in(2, [False, True]))
def test_they_fit_what_every_mechanism_publishes(mechanism: Mechanism, non_negative: bool, engine: Engine) -> None:
    release = town_release(mechanism, engine=engine, non_negative=non_negative)
    truth = TrueCounts(release)
    assert truth.place == "memory"
    assert truth.counts("persons").tolist() == counted(release, "persons")
    assert truth.bound == truth.noise.bound


def test_codes_may_come_in_any_order_of_rows_and_columns(out: Path) -> None:
    path = exact(out) / "1.parquet"
    table = read_table(path).select(["SEX", "GEO", "AGE", "value"])
    write_table("1", table.take(np.random.default_rng(1).permutation(len(table))), exact(out), "parquet")
    assert TrueCounts(open_release(out)).counts("persons").tolist() == counted(open_release(out), "persons")


# --- Refused ---


def rewrite(folder: Path, change: Callable[[np.ndarray], np.ndarray], table: str = "2") -> None:
    rows = read_table(folder / f"{table}.parquet")
    place = rows.column_names.index("value")
    changed = rows.set_column(place, "value", pa.array(change(rows["value"].to_numpy().copy())))
    write_table(table, changed, folder, "parquet")


def negative(values: np.ndarray) -> np.ndarray:
    values[0] = -1
    return values


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: (folder / "2.parquet").unlink(), r"has no file 2\.parquet with the true counts of 2"),
    "damaged": (lambda folder: (folder / "2.parquet").write_bytes(b"PAR1"), r"has a file 2\.parquet that is damaged"),
    "negative": (lambda folder: rewrite(folder, negative), r"has a file 2\.parquet that .* it has negative counts"),
    "too far": (
        lambda folder: rewrite(folder, lambda values: values + 9),
        r"2\.parquet that is inconsistent with the release: it differs from the published table by more than",
    ),
    "another table": (lambda folder: shutil.copy(folder / "5.parquet", folder / "2.parquet"), "2"),
}


@pytest.mark.parametrize("damage", SPOILT)
def test_a_named_folder_with_a_wrong_file_is_refused_with_its_name(out: Path, tmp_path: Path, damage: str) -> None:
    named = tmp_path / "named"
    shutil.copytree(exact(out), named)
    spoil, message = SPOILT[damage]
    spoil(named)
    with pytest.raises(InputError, match=message) as refused:
        TrueCounts(open_release(out), named).counts("persons")
    if damage != "another table":
        assert isinstance(refused.value, ReleaseError)
        assert str(named) in str(refused.value)
    # The other population is not touched by it.
    other = list(open_release(out).programme.populations)[1]
    assert TrueCounts(open_release(out), named).counts(other).any()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("missing", r"exact has no file 2\.parquet with the true counts of 2"),
        ("damaged", r"out\.curator/exact has a file 2\.parquet that is damaged"),
        ("negative", r"2\.parquet that is inconsistent with the release: it has negative counts"),
    ],
)
def test_so_is_the_curators_own(out: Path, damage: str, message: str) -> None:
    SPOILT[damage][0](exact(out))
    with pytest.raises(ReleaseError, match=message):
        TrueCounts(open_release(out)).counts("persons")


def test_a_folder_that_is_not_there_is_refused_by_name(out: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ReleaseError,
        match=r"nowhere has no file 1\.parquet .* Restore it from a backup, make the release with --keep-exact",
    ):
        TrueCounts(open_release(out), tmp_path / "nowhere").counts("persons")


def test_an_empty_csv_is_no_table(out: Path, tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.mkdir()
    (named / "1.csv").write_text("")
    with pytest.raises(ReleaseError, match=r"has a file 1\.csv that is damaged or not a table"):
        TrueCounts(open_release(out), named).counts("persons")


def test_the_truth_of_another_release_is_refused(out: Path, tmp_path: Path, engine: Engine) -> None:
    other = town_release(engine=engine, out=tmp_path / "other", data=people(400, seed=2))
    assert other.path
    with pytest.raises(ReleaseError, match=r"has a file 1\.parquet that is inconsistent with the release"):
        TrueCounts(open_release(out), tmp_path / "other.curator" / "exact").counts("persons")


def test_where_zeros_stay_zeros_nobody_can_be_published_who_is_not_there(out: Path) -> None:
    release = open_release(out)
    published = release.table("2")
    small = np.abs(published["value"].to_numpy()) <= PTABLE.bound
    assert small.any()
    # Every cell within the bound of 0 is emptied: the size of the noise alone would not reveal it.
    kept = read_table(exact(out) / "2.parquet").to_pylist()
    codes = {tuple(row.values())[:-1] for row in published.filter(pa.array(small)).to_pylist()}
    left = [row for row in kept if tuple(row.values())[:-1] not in codes]
    assert len(left) < len(kept)
    write_table(
        "2", pa.Table.from_pylist(left, schema=read_table(exact(out) / "2.parquet").schema), exact(out), "parquet"
    )
    with pytest.raises(ReleaseError, match="it has empty cells that are not 0 in the published table"):
        TrueCounts(release).counts("persons")


def test_no_message_shows_a_true_count(out: Path, tmp_path: Path) -> None:
    named = tmp_path / "named"
    shutil.copytree(exact(out), named)
    rewrite(named, lambda values: values + 98765)
    with pytest.raises(ReleaseError) as refused:
        TrueCounts(open_release(out), named).counts("persons")
    assert "987" not in str(refused.value).replace(str(named), "")


def test_there_is_no_second_release_and_nothing_to_ask_unless_given(out: Path) -> None:
    truth = TrueCounts(open_release(out))
    with pytest.raises(ReleaseError, match="has no second release with true counts"):
        _ = truth.other
    with pytest.raises(ReleaseError, match="has no true total of the query interface"):
        _ = truth.answer
    assert TrueCounts(open_release(out), other=truth).other is truth


def test_a_release_in_memory_without_its_true_counts_has_none(engine: Engine) -> None:
    release = replace(town_release(engine=engine), held_exact=None)
    with pytest.raises(ReleaseError, match="in memory has no stored true counts of table 1"):
        TrueCounts(release).counts("persons")


@pytest.mark.parametrize("what", ["no value column", "missing values", "fractions"])
def test_a_file_without_counts_is_refused(tmp_path: Path, engine: Engine, what: str) -> None:
    town_release(engine=engine, out=tmp_path / "out")
    folder = tmp_path / "out.curator" / "exact"
    rows = read_table(folder / "2.parquet")
    place, counts = rows.column_names.index("value"), rows["value"].to_pylist()
    changed = {
        "no value column": rows.rename_columns([*rows.column_names[:-1], "count"]),
        "missing values": rows.set_column(place, "value", pa.array([None, *counts[1:]], pa.int64())),
        "fractions": rows.set_column(place, "value", pa.array([count + 0.4 for count in counts])),
    }[what]
    write_table("2", changed, folder, "parquet")
    with pytest.raises(ReleaseError, match=r"2\.parquet that is inconsistent .* has no column value of whole numbers"):
        TrueCounts(open_release(tmp_path / "out")).counts("persons")


def test_a_file_of_another_table_is_named(tmp_path: Path, engine: Engine) -> None:
    town_release(engine=engine, out=tmp_path / "out")
    folder = tmp_path / "out.curator" / "exact"
    shutil.copy(folder / "5.parquet", folder / "2.parquet")
    with pytest.raises(
        ReleaseError, match=r"out\.curator/exact has a file 2\.parquet that is inconsistent with the release"
    ):
        TrueCounts(open_release(tmp_path / "out")).counts("persons")


def test_memory_has_no_folder(engine: Engine) -> None:
    release = town_release(engine=engine)
    assert release.held_exact
    rows = release.held_exact["2"]
    more = pa.array(rows["value"].to_numpy() + 50)
    bad = {**release.held_exact, "2": rows.set_column(rows.column_names.index("value"), "value", more)}
    with pytest.raises(ReleaseError, match=r"^memory has a file table 2 that is inconsistent"):
        TrueCounts(replace(release, held_exact=bad)).counts("persons")


def test_the_published_tables_are_no_truth(tmp_path: Path, engine: Engine) -> None:
    release = town_release(engine=engine, out=tmp_path / "out", data=people(3000))
    truth = TrueCounts(release, tmp_path / "out" / "tables")
    with pytest.raises(ReleaseError, match=r"it is the published table, with its noise"):
        truth.counts("persons")
