"""Earlier releases beside a new one: every difference that tells more is told, with the right figure."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.formats.ptable_files import read_ptable, write_ptable
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.protection import earlier_releases, pipeline, table_publishing
from discreet.protection.earlier_releases import joint_variance
from discreet.protection.repetition import repeat
from discreet.records.secret import keyed_digest
from discreet.release import release_writer as shelves
from discreet.release.release import open_release
from discreet.release.run_journal import JOURNAL, note
from tests.each import each
from tests.protection.office import OTHER_SECRET, PERSONS, cell_key, curator, make, put, put_people
from tests.protection.town import SECRET, TOWN, all_cells, people, squares
from tests.tabulation.small_data import by, programme

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Programme
    from discreet.release.release import Release
    from discreet.release.table_files import TableFile

SOLVED = PTable.max_entropy(variance=2, bound=5)
WIDER = PTable.max_entropy(variance=3, bound=5)
INDEPENDENT = 1 / (1 / 2 + 1 / 2)
"""Variance of two noises of variance 2 together."""


def warnings(release: Release) -> tuple[str, ...]:
    assert release.summary
    return release.summary.warnings


# --- The same data ---


@each(
    ("mechanism", "what", "joint"),
    [
        (cell_key(version="2"), "another version label", INDEPENDENT),
        (cell_key(mode="plain"), "another key mode", INDEPENDENT),
        (cell_key(3, version="2"), "another version label, another set of noise parameters", 1 / (1 / 2 + 1 / 3)),
        (cell_key(3), "another set of noise parameters", joint_variance(SOLVED.large, WIDER.large, same_keys=True)),
        (Coordinates(SOLVED, SECRET), "another mechanism", INDEPENDENT),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
    every=2,
)
def test_other_noise_for_the_same_data_is_told_with_what_both_together_leave(
    mechanism: Mechanism, what: str, joint: float, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    (told,) = warnings(make(data, tmp_path / "new", mechanism, engine=engine))
    assert told.startswith(f"old was made from the same data with {what}. An attacker who has both")
    assert f"variance {joint:.2f} instead of 2.00. Publish only one of them, or repeat the earlier one" in told


@each(
    ("first", "second", "how"),
    [
        (cell_key(), cell_key(secret=OTHER_SECRET), "with another secret"),
        (Fresh(SOLVED), cell_key(), "without a secret"),
        (cell_key(), Fresh(SOLVED), "with a secret, unlike this release"),
        (Fresh(SOLVED), Fresh(SOLVED), "without a secret"),
    ],
    ids=["another", "none before", "none now", "none"],
)
def test_under_another_secret_it_is_told_that_the_same_persons_are_not_known(
    first: Mechanism, second: Mechanism, how: str, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", first, engine=engine)
    (told,) = warnings(make(data, tmp_path / "new", second, engine=engine))
    assert told.startswith(f"old was made {how}, so it is unknown whether it counts the same persons")
    assert f"variance {INDEPENDENT:.2f} instead of 2.00. In that case, publish only one of them." in told


OTHER_TABLES = programme([squares(3)[0]], [by(squares(3)[0])])
HOUSEHOLDS = replace(TOWN, tables=tuple(replace(table, unit="households") for table in TOWN.tables))


@pytest.mark.parametrize(
    ("first", "second", "spent"),
    [
        (cell_key(), cell_key(secret=OTHER_SECRET), ""),
        (EpsDP(Budget(1.0)), EpsDP(Budget(1.0)), "Together they spend epsilon 2."),
    ],
    ids=["secrets", "eps-dp"],
)
def test_other_tables_may_count_the_same_persons(
    first: Mechanism, second: Mechanism, spent: str, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path, X=["X1"] * PERSONS)
    make(data, tmp_path / "old", first, engine=engine)
    (told,) = warnings(make(data, tmp_path / "new", second, programme=OTHER_TABLES, engine=engine))
    assert "unknown whether it counts the same persons. It has the same number of records." in told
    assert spent in told


def test_an_unknown_number_of_records_is_told_as_such(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    place = curator(tmp_path / "old") / "record.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"records": None}))
    (told,) = warnings(make(data, tmp_path / "new", cell_key(secret=OTHER_SECRET), engine=engine))
    assert "Its number of records is unknown." in told
    assert "same number" not in told


@pytest.mark.parametrize(("spec", "left_out"), [(TOWN, 1), (HOUSEHOLDS, 0)], ids=["records", "units"])
def test_other_numbers_of_records_or_units_are_other_data_under_any_secret(
    spec: Programme, left_out: int, tmp_path: Path, engine: DuckDB
) -> None:
    make(put_people(tmp_path), tmp_path / "old", engine=engine)
    fewer = put(tmp_path / "x.parquet", people(PERSONS).slice(left_out))
    other = cell_key(secret=OTHER_SECRET)
    assert warnings(make(fewer, tmp_path / "new", other, programme=spec, engine=engine)) == ()


def test_the_same_persons_in_another_file_are_the_same_data(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    shuffled = people(PERSONS).take(np.random.default_rng(4).permutation(PERSONS))
    copy = put(tmp_path / "copy.csv", shuffled)
    assert warnings(make(copy, tmp_path / "same", engine=engine)) == ()
    told = warnings(make(copy, tmp_path / "new", cell_key(version="2"), engine=engine))
    assert len(told) == 2
    assert all("was made from the same data with another version label" in sentence for sentence in told)


def test_a_rule_for_empty_cells_alone_is_told_by_what_it_shows(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    law = TwoSidedGeometric(epsilon=0.7)
    make(data, tmp_path / "old", CellKey(law, secret=SECRET), engine=engine)
    (told,) = warnings(make(data, tmp_path / "new", CellKey(law, secret=SECRET, perturb_zeros=True), engine=engine))
    assert "Their difference reveals which cells are empty." in told
    assert "variance" not in told


def test_many_earlier_releases_are_told_together(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    for number in range(5):
        told = warnings(make(data, tmp_path / f"r{number}", cell_key(version=str(number)), engine=engine))
    assert len(told) == earlier_releases.MAX_DETAILED + 1
    assert re.fullmatch(r"The same applies to 2 more in this folder \(r\d, r\d\)\. All of them .*", told[-1])


def test_budgets_add_up(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", EpsDP(Budget(3.0)), engine=engine)
    (told,) = warnings(make(data, tmp_path / "new", EpsDP(Budget(4.5)), engine=engine))
    assert "Together they spend epsilon 7.5. In that case, publish only one of them." in told


def test_tables_that_have_nothing_in_common_are_not_compared(tmp_path: Path, engine: DuckDB) -> None:
    make(put_people(tmp_path), tmp_path / "old", engine=engine)
    other = programme([squares(3)[0]], [by(squares(3)[0])])
    data = put(tmp_path / "squares.parquet", pa.table({"ID": ["a", "b"], "X": ["X0", "X1"]}))
    assert warnings(make(data, tmp_path / "new", programme=other, engine=engine)) == ()


def test_weights_do_not_hide_what_two_releases_have_in_common(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, W=[1.5] * PERSONS)
    make(data, tmp_path / "old", engine=engine)
    put(data, people(PERSONS).slice(1).append_column("W", [[1.5] * (PERSONS - 1)]))
    told = warnings(make(data, tmp_path / "new", weight="W", engine=engine))
    assert "was made from other data with the same secret and version label" in told[-1]


def test_weighted_counts_alone_are_compared_too(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, W=[1.5] * PERSONS)
    make(data, tmp_path / "old", weight="W", weighted_only=True, engine=engine)
    put(data, people(PERSONS).slice(1).append_column("W", [[1.5] * (PERSONS - 1)]))
    (told,) = warnings(make(data, tmp_path / "new", weight="W", weighted_only=True, engine=engine))
    assert "was made from other data with the same secret and version label" in told


def test_a_variance_that_the_bound_does_not_allow_is_refused_before_the_work(tmp_path: Path, engine: DuckDB) -> None:
    # Uniform noise on -5..5 has the largest variance, 10; 8 is the first bound with 8 * 9 / 3 >= 20.
    mechanism = CellKey(PTable.max_entropy(variance=20, bound=5), secret=SECRET)
    words = "A bound of 5 allows a variance of at most 10, not 20. Give a smaller variance, or a bound of at least 8."
    with pytest.raises(ParameterError, match=words):
        make(tmp_path / "no such file.parquet", tmp_path / "new", mechanism, engine=engine)
    assert not list(tmp_path.iterdir())
    make(people(9), None, CellKey(PTable.max_entropy(variance=24, bound=8), secret=SECRET), engine=engine)


def test_less_noise_than_was_asked_for_is_reported(engine: DuckDB) -> None:
    ptable = PTable.max_entropy(variance=9.9, bound=5, stay=0.5)
    (told,) = warnings(make(people(9), None, CellKey(ptable, secret=SECRET), engine=engine))
    assert told.startswith("The requested variance is 9.9, but with bound 5 no count has a variance above")


def test_a_ptable_from_a_file_is_another_ptable(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    made: list[CellKey] = []
    for name, table in (("a", SOLVED), ("b", WIDER)):
        write_ptable(table, tmp_path / f"{name}.txt", "tauargus")
        made.append(CellKey(read_ptable(tmp_path / f"{name}.txt"), secret=SECRET))
    make(data, tmp_path / "old", made[0], engine=engine)
    assert warnings(make(data, tmp_path / "same", made[0], engine=engine)) == ()
    (told, _) = warnings(make(data, tmp_path / "new", made[1], engine=engine))
    assert "with another p-table." in told
    figure = re.search(r"variance (\d+\.\d+) instead of (\d+\.\d+)", told)
    assert figure
    assert float(figure[1]) == pytest.approx(joint_variance(SOLVED.large, WIDER.large, same_keys=True), abs=0.01)
    assert float(figure[2]) == 2


def test_the_variance_of_both_together_is_that_of_the_cells(tmp_path: Path, engine: DuckDB) -> None:
    """Measured on many cells: the mean of two releases has the variance that the warning tells."""
    topics = squares(60)
    spec = programme(topics, [by(topics[0]), by(topics[1])])
    draw = np.random.default_rng(5)
    size = 60_000
    columns = {name: [f"{name}{code}" for code in draw.integers(60, size=size)] for name in spec.topics}
    data = put(tmp_path / "many.parquet", pa.table({"ID": np.arange(size), **columns}))
    old = make(data, tmp_path / "old", programme=spec, engine=engine)
    new = make(data, tmp_path / "new", cell_key(version="2"), programme=spec, engine=engine)
    true = all_cells(make(data, None, Exact(), programme=spec, engine=engine))
    first, second = all_cells(old), all_cells(new)
    errors = [(first.get(cell, 0) + second.get(cell, 0)) / 2 - count for cell, count in true.items() if count >= 5]
    assert len(errors) > 3000
    assert np.mean(np.square(errors)) == pytest.approx(INDEPENDENT, rel=0.1)
    assert f"variance {INDEPENDENT:.2f} instead" in warnings(new)[0]


@pytest.mark.parametrize("mechanism", [Fresh(SOLVED), EpsDP(Budget(60.0))], ids=lambda mechanism: mechanism.name)
def test_noise_that_is_drawn_anew_is_other_noise_each_time(
    mechanism: Mechanism, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    old = make(data, tmp_path / "old", mechanism, engine=engine)
    (told,) = warnings(make(data, tmp_path / "new", mechanism, engine=engine))
    assert told.startswith("old was made without a secret, so it is unknown whether it counts the same persons")
    assert f"variance {old.record.variance / 2:.2f} instead of {old.record.variance:.2f}." in told


def test_the_release_that_is_replaced_is_left_out_and_others_are_not(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", engine=engine)
    make(data, tmp_path / "other", engine=engine)
    (told,) = warnings(make(data, tmp_path / "rel", cell_key(version="2"), replace=True, engine=engine))
    assert told.startswith("other was made from the same data with another version label.")


# --- Other data ---


def brute_force(old: Release, new: Release) -> tuple[int, int]:
    """Return how many cells either release shows, and how many of them differ, one by one."""
    first, second = all_cells(old), all_cells(new)
    either = first.keys() | second.keys()
    return len(either), sum(first.get(cell, 0) != second.get(cell, 0) for cell in either)


@each("form", ["parquet", "csv"], every=2)
@each("gone", [1, 30])
@each("mechanism", [cell_key(), Coordinates(SOLVED, SECRET)], ids=lambda mechanism: mechanism.name)
def test_the_same_keys_for_changed_data_are_told_with_the_share_of_cells_that_differ(
    mechanism: Mechanism, gone: int, form: str, tmp_path: Path, engine: DuckDB
) -> None:
    old = make(put_people(tmp_path), tmp_path / "old", mechanism, form=form, engine=engine)
    data = put(tmp_path / "later.parquet", people(PERSONS).slice(gone))
    new = make(data, tmp_path / "new", mechanism, form=form, engine=engine)
    cells, differ = brute_force(old, new)
    assert 0 < differ < cells
    (told,) = warnings(new)
    assert told.startswith("old was made from other data with the same secret and version label.")
    assert f"Of {cells:,} published cells, {differ:,} ({differ / cells:.2%}) differ." in told
    assert "knows with certainty" in told
    assert "another --version-label" in told


def test_under_another_law_a_cell_that_differs_need_not_have_changed(tmp_path: Path, engine: DuckDB) -> None:
    old = make(put_people(tmp_path), tmp_path / "old", engine=engine)
    data = put(tmp_path / "later.parquet", people(PERSONS).slice(1))
    for name, how in (("new", {"mechanism": cell_key(3)}), ("cut", {"non_negative": True})):
        new = make(data, tmp_path / name, engine=engine, **how)
        cells, differ = brute_force(old, new)
        told = next(text for text in warnings(new) if text.startswith("old "))
        assert "from the same keys, so it is dependent" in told
        assert "with certainty" not in told
        assert f"Of {cells:,} published cells, {differ:,} ({differ / cells:.2%}) differ" in told


def test_ready_made_keys_that_are_the_same_are_told_too(tmp_path: Path, engine: DuckDB) -> None:
    keys = [number * 2654435761 % 2**32 for number in range(PERSONS)]
    plain = cell_key(mode="plain", secret=None)
    data = put_people(tmp_path, KEY=keys)
    make(data, tmp_path / "old", plain, key="KEY", engine=engine)
    put(data, people(PERSONS).append_column("KEY", [keys]).slice(1))
    (told,) = warnings(make(data, tmp_path / "new", plain, key="KEY", engine=engine))
    assert told.startswith("old was made from other data with the same ready-made keys.")


def test_only_the_tables_that_both_have_are_compared(tmp_path: Path, engine: DuckDB) -> None:
    ids = [table.id for table in TOWN.tables]
    old = make(put_people(tmp_path), tmp_path / "old", tables=ids[:3], engine=engine)
    data = put(tmp_path / "later.parquet", people(PERSONS).slice(9))
    new = make(data, tmp_path / "new", tables=ids[2:], engine=engine)
    shown = [
        {cell: value for (name, cell), value in all_cells(release).items() if name == ids[2]} for release in (old, new)
    ]
    cells = len(shown[0].keys() | shown[1].keys())
    assert f"Of {cells:,} published cells," in warnings(new)[0]


def test_of_very_many_rows_the_first_tables_are_compared(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = make(put_people(tmp_path), tmp_path / "old", engine=engine)
    rows = old.table("1").num_rows
    monkeypatch.setattr(earlier_releases, "MOST_ROWS", 2 * rows + 1)
    data = put(tmp_path / "later.parquet", people(PERSONS).slice(9))
    (told,) = warnings(make(data, tmp_path / "new", engine=engine))
    assert "published cells in the first 1 tables" in told


def test_a_table_without_columns_is_compared_too(tmp_path: Path, engine: DuckDB) -> None:
    spec = programme([*TOWN.topics.values()], [by(TOWN.topics["SEX"], 0, 0)])
    make(put_people(tmp_path), tmp_path / "old", programme=spec, engine=engine)
    data = put(tmp_path / "later.parquet", people(PERSONS).slice(50))
    (told,) = warnings(make(data, tmp_path / "new", programme=spec, engine=engine))
    assert "Of 1 published cells, 1 (100.00%) differ" in told


# --- Nothing to tell ---


def test_the_same_run_again_and_a_new_label_for_new_data_are_no_matter(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    assert warnings(make(data, tmp_path / "same", engine=engine)) == ()
    assert warnings(make(data, tmp_path / "fewer", tables=["1"], engine=engine)) == ()
    later = put(tmp_path / "later.parquet", people(PERSONS).slice(1))
    assert warnings(make(later, tmp_path / "new", cell_key(version="2"), engine=engine)) == ()
    assert warnings(make(later, tmp_path / "newer", cell_key(secret=OTHER_SECRET, version="3"), engine=engine)) != ()


def test_true_counts_are_compared_with_nothing(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "true", Exact(), engine=engine)
    assert warnings(make(data, tmp_path / "old", engine=engine)) == ()
    assert warnings(make(data, tmp_path / "again", Exact(), engine=engine)) == ()


def test_a_release_in_memory_has_nothing_beside_it(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    assert warnings(make(data, None, cell_key(version="2"), engine=engine)) == ()


def damaged_record(out: Path) -> None:
    (curator(out) / "record.json").write_text("{}")


def damaged_description(out: Path) -> None:
    (out / "release.json").write_text("[")


def no_release(out: Path) -> None:
    out.rename(out.with_name("published elsewhere"))


def a_folder_for_a_record(out: Path) -> None:
    (curator(out) / "record.json").unlink()
    (curator(out) / "record.json").mkdir()


def test_a_release_that_was_moved_away_is_passed_over(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    no_release(tmp_path / "old")
    assert warnings(make(data, tmp_path / "new", cell_key(version="2"), engine=engine)) == ()


# --- Folders that are damaged, or made to do harm ---


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def huge(path: Path) -> None:
    """Make a file of a terabyte that takes no room."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


def in_record(**entries: object) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        place = curator(out) / "record.json"
        place.write_text(json.dumps({**json.loads(place.read_text()), **entries}))

    return spoil


def in_description(**entries: object) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        place = out / "release.json"
        place.write_text(json.dumps({**json.loads(place.read_text()), **entries}))

    return spoil


def number_of(digits: str) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        place = curator(out) / "record.json"
        place.write_text(re.sub(r'"records": \d+', f'"records": {digits}', place.read_text()))

    return spoil


LONG = 10**90
STRANGE: dict[str, Callable[[Path], None]] = {
    "record of another kind": damaged_record,
    "description cut short": damaged_description,
    "folder for a record": a_folder_for_a_record,
    "pipe for a record": lambda out: pipe(curator(out) / "record.json"),
    "pipe for a description": lambda out: pipe(out / "release.json"),
    "device for a record": lambda out: device(curator(out) / "record.json"),
    "huge record": lambda out: huge(curator(out) / "record.json"),
    "huge description": lambda out: huge(out / "release.json"),
    "5,000 digits": number_of("9" * 5_000),
    "10^400": number_of(str(10**400)),
    "1e400": number_of("1e400"),
    "deep record": lambda out: deep(curator(out) / "record.json"),
    "deep description": lambda out: deep(out / "release.json"),
    "list for a record": lambda out: put_text(curator(out) / "record.json", "[]"),
    "list for parameters": in_record(parameters=[]),
    "list for a definition": in_record(definition=[]),
    "lists in a definition": in_record(definition={"topics": [[]], "tables": [[]]}),
    "list for contents": in_record(contents=[]),
    "list for a run": in_record(run=[1]),
    "list for a law": in_record(law=[]),
    "list for a law inside": in_record(law="truncated", parameters={"bound": 3, "of": {"law": [], "parameters": {}}}),
    "long bound": in_record(parameters={"variance": 2, "bound": LONG}),
    "p-table that takes a minute": in_record(
        parameters={"variance": 3, "bound": 500, "stay": 0.3, "floor": 1e-9, "monotone": True}
    ),
    "number for a fingerprint": in_record(data_fingerprint=LONG),
    "list for noise": in_description(noise=[]),
    "lists for files": in_description(files=[[]]),
    "long size of noise": in_description(noise={"typical_noise": LONG}),
}


def put_text(path: Path, text: str) -> None:
    path.write_text(text)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def deep(path: Path) -> None:
    path.write_text('{"a":' * 50_000 + "1" + "}" * 50_000)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_strange_folders_are_skipped_with_a_warning_that_names_them(tmp_path: Path, engine: DuckDB) -> None:
    """Each spoils a release of the same data with another label, which would be warned about."""
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    for number, spoil in enumerate(STRANGE.values()):
        copy = tmp_path / f"{number}"
        shutil.copytree(tmp_path / "old", copy)
        shutil.copytree(curator(tmp_path / "old"), curator(copy))
        spoil(copy)
    assert sorted(earlier_releases.find_earlier_releases(tmp_path / "new").unreadable, key=int) == [
        str(number) for number in range(len(STRANGE))
    ]
    told, strange = warnings(make(data, tmp_path / "new", cell_key(version="2"), engine=engine))
    assert told.startswith("old was made from the same data with another version label")
    assert strange.startswith("Not compared, or not completely, with ")
    assert " and others in this folder" in strange


def harmful_table(out: Path, path: Path) -> None:
    """Replace a table by a few bytes that stand for a million rows, and describe it rightly."""
    rows = 2_000_000
    table = pa.table({"value": pa.array(np.zeros(rows, dtype=np.int64))})
    pq.write_table(table, path, compression="zstd", use_dictionary=True)
    content = json.loads((out / "release.json").read_text())
    (entry,) = [entry for entry in content["files"] if entry["file"].endswith(path.name)]
    entry.update(rows=3, bytes=path.stat().st_size, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    (out / "release.json").write_text(json.dumps(content))


def oversized(out: Path, path: Path) -> None:
    huge(path)
    content = json.loads((out / "release.json").read_text())
    (entry,) = [entry for entry in content["files"] if entry["file"].endswith(path.name)]
    entry.update(bytes=1 << 40)
    (out / "release.json").write_text(json.dumps(content))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
@each(
    "spoil",
    [lambda _, path: pipe(path), lambda _, path: huge(path), lambda _, path: device(path), harmful_table, oversized],
    ids=["pipe", "huge", "device", "rows", "oversized"],
)
def test_a_strange_table_is_left_out_and_told(
    spoil: Callable[[Path, Path], None], tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = make(put_people(tmp_path), tmp_path / "old", engine=engine)
    monkeypatch.setattr(earlier_releases, "MOST_ROWS", 1_000_000)
    spoil(tmp_path / "old", tmp_path / "old" / old.files["1"])
    data = put(tmp_path / "later.parquet", people(PERSONS).slice(9))
    told, strange = warnings(make(data, tmp_path / "new", engine=engine))
    assert told.startswith("old was made from other data with the same secret and version label.")
    assert strange.startswith("Not compared, or not completely, with old in this folder:")


def test_a_name_that_a_terminal_would_obey_is_written_out(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "o\x1b[2Jd\n", engine=engine)
    damaged_record(tmp_path / "o\x1b[2Jd\n")
    (told,) = warnings(make(data, tmp_path / "new", engine=engine))
    assert r"with 'o\x1b[2Jd\n' in this folder" in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_what_may_not_be_read_is_passed_over(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    (curator(tmp_path / "old") / "record.json").chmod(0)
    assert warnings(make(data, tmp_path / "new", cell_key(version="2"), engine=engine)) == ()


def test_a_damaged_table_is_left_out_of_the_comparison(tmp_path: Path, engine: DuckDB) -> None:
    old = make(put_people(tmp_path), tmp_path / "old", engine=engine)
    data = put(tmp_path / "later.parquet", people(PERSONS).slice(9))
    full = warnings(make(data, tmp_path / "new", engine=engine))[0]
    (tmp_path / "old" / old.files["1"]).write_bytes(b"damaged")
    part = warnings(make(data, tmp_path / "newer", engine=engine))[0]
    counted = [int(found[1].replace(",", "")) for text in (full, part) if (found := re.search(r"Of ([\d,]+) ", text))]
    assert 0 < counted[1] < counted[0]


def without(out: Path, *names: str) -> None:
    """Take entries out of a record, as if an older version had written it."""
    place = curator(out) / "record.json"
    content = {name: value for name, value in json.loads(place.read_text()).items() if name not in names}
    place.write_text(json.dumps(content))


def unkeyed(out: Path, data: Path) -> None:
    """Put the digests themselves into a record, as older versions did."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.protection.table_publishing.keyed_digest", lambda text, _secret: text)
        contents = make(data, None, cell_key()).record.contents
    fingerprint = f"sha256:{hashlib.sha256(data.read_bytes()).hexdigest()}"
    in_record(data_fingerprint=fingerprint, contents=contents)(out)


def test_an_older_release_with_digests_of_its_own_is_known_again_and_repeated(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    unkeyed(tmp_path / "old", data)
    (told,) = warnings(make(data, tmp_path / "new", cell_key(version="2"), engine=engine))
    assert told.startswith("old was made from the same data with another version label")
    copy = put(tmp_path / "copy.csv", people(PERSONS).take(list(range(PERSONS))[::-1]))
    told = next(text for text in warnings(make(copy, tmp_path / "other", cell_key(3), engine=engine)) if "old " in text)
    assert told.startswith("old was made from the same data with another set of noise parameters")
    again = repeat(curator(tmp_path / "old"), secret=SECRET, out=tmp_path / "again", engine=engine)
    assert again.digests == open_release(tmp_path / "old").digests
    put(data, people(PERSONS).slice(1))
    with pytest.raises(
        ParameterError, match="The fingerprint of the data differs from that of the release to be repeated"
    ):
        repeat(curator(tmp_path / "old"), secret=SECRET, engine=engine)


# --- Digests tell nothing without the secret ---


def tried(digest: str, cells: int, most: int) -> tuple[int, ...] | None:
    """Return the counts of a small table that have this digest, found by trying all of them."""
    for counts in product(range(most + 1), repeat=cells):
        index = np.flatnonzero(counts)
        found = hashlib.blake2b(index.tobytes(), digest_size=16)
        found.update(np.array(counts, dtype=np.int64)[index].tobytes())
        if found.hexdigest() == digest.removeprefix("keyed:")[:32]:
            return counts
    return None


def test_counts_are_found_by_trying_from_a_digest_that_is_not_keyed_and_not_from_one_that_is(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    (six,) = squares(6, names="X")
    counts = (1, 0, 3, 2, 0, 1)
    codes = [f"X{code}" for code, times in enumerate(counts) for _ in range(times)]
    data = put(tmp_path / "few.parquet", pa.table({"ID": [f"{number}" for number in range(len(codes))], "X": codes}))
    spec = programme([six], [by(six)])
    digests = {}
    for name in ("keyed", "plain"):
        release = make(data, tmp_path / name, programme=spec, engine=engine)
        digests[name] = json.loads((curator(tmp_path / name) / "record.json").read_text())["contents"]["1"]
        assert digests[name] == (release.record.contents or {})["1"]
        monkeypatch.setattr("discreet.protection.table_publishing.keyed_digest", lambda text, _secret: text)
    assert tried(digests["plain"], len(counts), 3) == counts
    assert tried(digests["keyed"], len(counts), 3) is None


@pytest.mark.parametrize("mechanism", [cell_key(), Fresh(SOLVED), Exact()], ids=lambda mechanism: mechanism.name)
def test_no_record_and_no_journal_has_a_digest_that_data_alone_give(
    mechanism: Mechanism, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = put_people(tmp_path)
    plain: list[str] = [hashlib.sha256(data.read_bytes()).hexdigest()]
    kept: list[str] = []

    def digest(text: str, secret: bytes) -> str:
        plain.append(text)
        return keyed_digest(text, secret)

    def noted(folder: Path, table: TableFile, exact: str | None) -> None:
        note(folder, table, exact)
        kept.append((folder / JOURNAL).read_text())

    monkeypatch.setattr(table_publishing, "keyed_digest", digest)
    monkeypatch.setattr(shelves, "note", noted)
    release = make(data, tmp_path / "rel", mechanism, engine=engine)
    make(data, None, engine=engine)
    assert len(plain) >= len(TOWN.tables) + 1
    kept.append((curator(tmp_path / "rel") / "record.json").read_text())
    assert len(kept) == len(TOWN.tables) + 1
    assert not [digest for digest in plain if any(digest in text for text in kept)]
    assert (release.record.data_fingerprint is None) == (mechanism.secret is None)
    assert (release.record.contents is None) == (mechanism.secret is None)


def test_without_a_secret_data_are_tried_slowly(
    many_rounds: int, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert many_rounds >= 200_000
    taken: list[int] = []
    derive = hashlib.pbkdf2_hmac

    def counted(name: str, text: bytes, salt: bytes, rounds: int) -> bytes:
        taken.append(rounds)
        return derive(name, text, salt, 1)

    monkeypatch.setattr(pipeline, "HASH_ITERATIONS", many_rounds)
    monkeypatch.setattr(hashlib, "pbkdf2_hmac", counted)
    make(put_people(tmp_path), tmp_path / "rel", Exact(), engine=engine)
    assert set(taken) == {many_rounds}


def test_of_an_older_release_it_is_not_known_which_secret_it_had(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "old", engine=engine)
    unkeyed(tmp_path / "old", data)
    without(tmp_path / "old", "secret_check", "run")
    assert open_release(tmp_path / "old").record.secret_check is None
    assert warnings(make(data, tmp_path / "same", engine=engine)) == ()
    told = warnings(make(data, tmp_path / "relabelled", cell_key(version="2"), engine=engine))
    assert [text for text in told if text.startswith("old was made from the same data with another version label.")]
    later = put(tmp_path / "later.parquet", people(PERSONS).slice(1))
    told = warnings(make(later, tmp_path / "later", engine=engine))
    assert {text.split()[0] for text in told} == {"same"}


def test_the_newest_releases_are_looked_at(tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    data = put_people(tmp_path)
    for age, name in enumerate(("newest", "older", "oldest")):
        make(data, tmp_path / name, engine=engine)
        os.utime(curator(tmp_path / name) / "record.json", (1_000_000 - age, 1_000_000 - age))
    monkeypatch.setattr(earlier_releases, "MAX_COMPARED", 2)
    assert [release.path for release in earlier_releases.find_earlier_releases(tmp_path / "new").releases] == [
        tmp_path / "newest",
        tmp_path / "older",
    ]
