"""A run goes on from the tables that a killed one left finished: the same bytes, and nothing that does not fit."""

from __future__ import annotations

import errno
import hashlib
import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import FileExistsAlreadyError, FileWriteError, ParameterError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.protection.repetition import verify
from discreet.release import release_folder as folders
from discreet.release import release_writer as shelves
from discreet.release import run_journal
from discreet.release.release import open_release
from discreet.release.release_folder import recover
from discreet.release.run_journal import JOURNAL
from discreet.release.table_files import FORMATS
from tests.protection.office import cell_key, curator, files, make, put, put_people
from tests.protection.town import SECRET, TOWN, people
from tests.quick import examples, one_in
from tests.tabulation.small_data import programmes

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.engines.duckdb import DuckDB
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.programme.model import Programme
    from discreet.release.release import Release
    from discreet.release.table_files import TableFile


SOLVED = PTable.max_entropy(variance=2, bound=5)
ZEROS = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
TABLES = len(TOWN.tables)
KEYED: list[Mechanism] = [
    CellKey(SOLVED, secret=SECRET),
    CellKey(SOLVED, secret=SECRET, mode="plain"),
    CellKey(ZEROS, secret=SECRET),
    Coordinates(SOLVED, SECRET),
    Exact(),
]
SOME = 2
"""Tables that a run finishes before it is cut short."""


class CutError(Exception):
    """Stands for whatever ends a run."""


def fail(*_given: object) -> None:
    raise CutError


def cut_before_the_end(run: Callable[[], object]) -> None:
    """Let a run make all its tables and end before it describes them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelves, "describe", fail)
        with pytest.raises(CutError):
            run()


def cut_after(tables: int, run: Callable[[], object], error: Callable[[], BaseException] = CutError) -> None:
    """Let a run finish so many tables and end."""
    written: list[str] = []
    really = run_journal.note

    def note(folder: Path, table: TableFile, exact: str | None) -> None:
        if len(written) == tables:
            # Made when it is needed: an error that is kept keeps the engine alive by its traceback.
            raise error()
        written.append(table.id)
        really(folder, table, exact)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelves, "note", note)
        with pytest.raises((CutError, FileWriteError, KeyboardInterrupt)):
            run()


def hidden(parent: Path) -> list[Path]:
    return sorted(parent.glob(".rel.making-*"))


def resumed(release: Release) -> int:
    assert release.summary
    return release.summary.resumed


# --- The same bytes ---


@examples(given(programme=programmes(), data=st.data()), quick=5, slow=12)
def test_a_run_resumed_after_any_tables_gives_the_bytes_of_one_that_was_not_cut_short(
    programme: Programme, data: st.DataObject, engine: DuckDB
) -> None:
    mechanism = data.draw(st.sampled_from(KEYED))
    how: dict[str, Any] = {
        "form": data.draw(st.sampled_from(FORMATS)),
        "keep_exact": data.draw(st.booleans()),
        "engine": engine,
        **({"id": "ID"} if mechanism.needs_keys else {}),
    }
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    leaves = {name: topic.levels[-1].codes or () for name, topic in programme.topics.items()}
    records = pa.table({"ID": np.arange(80), **{name: random.choice(codes, 80) for name, codes in leaves.items()}})
    ids = [table.id for table in programme.tables]
    lost = data.draw(st.sets(st.sampled_from(ids)))
    with tempfile.TemporaryDirectory() as place:
        whole, out = Path(place) / "whole", Path(place) / "rel"
        made = protect(records, programme, mechanism, out=whole, **how)
        cut_before_the_end(lambda: protect(records, programme, mechanism, out=out, resume=True, **how))
        (left,) = hidden(out.parent)
        for name in lost:
            (left / "public" / made.files[name]).unlink()
        again = protect(records, programme, mechanism, out=out, resume=True, **how)
        assert resumed(again) == len(ids) - len(lost)
        assert files(out) == files(whole)
        assert files(curator(out)) == files(curator(whole))
        assert hidden(out.parent) == []


@pytest.mark.parametrize("tables", one_in(TABLES - 1, range(TABLES)))
def test_a_run_that_ends_early_is_taken_up_where_it_ended(tables: int, tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "whole", engine=engine)
    cut_after(tables, lambda: make(data, tmp_path / "rel", resume=True, engine=engine))
    told: list[tuple[str, int, int | None]] = []
    again = make(data, tmp_path / "rel", resume=True, engine=engine, progress=lambda *step: told.append(step))
    assert resumed(again) == tables
    steps = [done for stage, done, _ in told if stage == "writing"]
    assert steps == list(range(tables + 1, TABLES + 1))
    assert files(tmp_path / "rel") == files(tmp_path / "whole")


def test_a_run_can_be_cut_short_again_and_again(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "whole", engine=engine)
    for number in range(1, TABLES):
        cut_after(1, lambda: make(data, tmp_path / "rel", resume=True, engine=engine))
        (left,) = hidden(tmp_path)
        assert len((left / JOURNAL).read_text().splitlines()) == 1 + number
    assert resumed(make(data, tmp_path / "rel", resume=True, engine=engine)) == TABLES - 1
    assert files(tmp_path / "rel") == files(tmp_path / "whole")


@pytest.mark.parametrize("lost", one_in(3, [("1",), ("2", "3"), ("4",), ("1", "2", "3", "4", "5")]))
def test_tables_that_are_counted_already_can_be_resumed_too(
    lost: tuple[str, ...], tmp_path: Path, engine: DuckDB
) -> None:
    make(put_people(tmp_path), tmp_path / "counted", Exact(), engine=engine)
    how: dict[str, Any] = {"count": "value", "tabulated": True, "engine": engine}
    data, mechanism = tmp_path / "counted" / "tables", Coordinates(SOLVED, SECRET)
    whole = make(data, tmp_path / "whole", mechanism, **how)
    cut_before_the_end(lambda: make(data, tmp_path / "rel", mechanism, resume=True, **how))
    for name in lost:
        (hidden(tmp_path)[0] / "public" / whole.files[name]).unlink()
    told: list[tuple[str, int, int | None]] = []
    again = make(data, tmp_path / "rel", mechanism, resume=True, progress=lambda *step: told.append(step), **how)
    assert resumed(again) == TABLES - len(lost)
    assert files(tmp_path / "rel") == files(tmp_path / "whole")
    assert max(done for stage, done, _ in told if stage != "reading") <= TABLES


def test_weights_and_regions_can_be_resumed(tmp_path: Path, engine: DuckDB) -> None:
    regions = tmp_path / "regions.csv"
    regions.write_text("area,region\nv10,N\nv20,N\nv21,S\nv30,S\nv31,N\nv32,S\n")
    data = put_people(tmp_path, WEIGHT=[1.5] * 300)
    how: dict[str, Any] = {"weight": "WEIGHT", "regions": regions, "engine": engine, "keep_exact": True}
    make(data, tmp_path / "whole", **how)
    cut_after(SOME, lambda: make(data, tmp_path / "rel", resume=True, **how))
    assert resumed(make(data, tmp_path / "rel", resume=True, **how)) == SOME
    assert files(tmp_path / "rel") == files(tmp_path / "whole")
    assert files(curator(tmp_path / "rel")) == files(curator(tmp_path / "whole"))


@pytest.mark.parametrize("mechanism", [Fresh(SOLVED), EpsDP(Budget(60.0), spsn=False)], ids=["fresh", "eps-dp"])
def test_noise_of_every_table_for_itself_is_kept_where_it_was_drawn(
    mechanism: Mechanism, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    cut_after(SOME, lambda: make(data, tmp_path / "rel", mechanism, resume=True, engine=engine))
    kept = {path.name: path.read_bytes() for path in hidden(tmp_path)[0].glob("public/tables/*")}
    noted = [json.loads(line)["file"] for line in (hidden(tmp_path)[0] / JOURNAL).read_text().splitlines()[1:]]
    assert resumed(make(data, tmp_path / "rel", mechanism, resume=True, engine=engine)) == SOME
    for name in map(Path, noted):
        assert (tmp_path / "rel" / name).read_bytes() == kept[name.name]
    assert verify(tmp_path / "rel").files == TABLES


def test_noise_that_tables_share_and_that_is_written_nowhere_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"cannot be resumed: .* Remove --resume, or .* \(--no-spsn\)"):
        make(put_people(tmp_path), tmp_path / "rel", EpsDP(Budget(60.0)), resume=True)


@pytest.mark.parametrize("mechanism", [None, Fresh(SOLVED)], ids=["secret", "no secret"])
def test_true_counts_cannot_be_found_from_a_journal(
    mechanism: Mechanism | None, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    run = partial(make, data, tmp_path / "rel", mechanism, keep_exact=True, resume=True, engine=engine)
    cut_before_the_end(run)
    (left,) = hidden(tmp_path)
    journal = (left / JOURNAL).read_text()
    exact = sorted(left.glob("curator/exact/*"))
    assert len(exact) == TABLES
    # Who knows all but a few counts can write the file with any of their values, and its digest tells which are true.
    assert not any(hashlib.sha256(path.read_bytes()).hexdigest() in journal for path in exact)
    assert resumed(run()) == (TABLES if mechanism is None else 0)
    assert len(list(curator(tmp_path / "rel").glob("exact/*"))) == TABLES


# --- What does not fit is made again ---


@pytest.fixture
def left(tmp_path: Path, engine: DuckDB) -> Path:
    """Return the hidden folder of a run that made all its tables, with their true counts, and ended before its end."""
    data = put_people(tmp_path)
    make(data, tmp_path / "whole", keep_exact=True, engine=engine)
    cut_before_the_end(lambda: make(data, tmp_path / "rel", keep_exact=True, resume=True, engine=engine))
    return hidden(tmp_path)[0]


def resume(left: Path, engine: DuckDB, **how: Any) -> Release:  # noqa: ANN401 - as in protect
    """Run again as the run that was cut short, or otherwise."""
    given = {"keep_exact": True, **how}
    data = given.pop("data", left.parent / "people.parquet")
    return make(data, left.parent / "rel", given.pop("mechanism", None), resume=True, engine=engine, **given)


@pytest.mark.parametrize("part", ["public/tables", "curator/exact"])
@pytest.mark.parametrize("damage", one_in(3, [None, b"", b"something else"]))
def test_a_table_damaged_after_it_was_noted_is_made_again(
    part: str, damage: bytes | None, left: Path, engine: DuckDB
) -> None:
    path = left / part / "1.parquet"
    if damage is None:
        content = path.read_bytes()
        path.write_bytes(content[:-1])
    else:
        path.write_bytes(damage)
    assert resumed(resume(left, engine)) == TABLES - 1
    assert files(left.parent / "rel") == files(left.parent / "whole")
    assert files(curator(left.parent / "rel")) == files(curator(left.parent / "whole"))


@pytest.mark.parametrize("cut", one_in(5, [0, 5, 60, 200, 400, -1, -2, -40]))
def test_of_a_journal_cut_short_the_whole_lines_count(cut: int, left: Path, engine: DuckDB) -> None:
    kept = (left / JOURNAL).read_bytes()[:cut]
    (left / JOURNAL).write_bytes(kept)
    lines = kept.split(b"\n")
    whole = len(lines) - 1 + lines[-1].endswith(b"}")
    assert resumed(resume(left, engine)) == max(whole - 1, 0)
    assert files(left.parent / "rel") == files(left.parent / "whole")
    assert hidden(left.parent) == []


OTHERWISE: list[dict[str, Any]] = [
    {"mechanism": cell_key(3)},
    {"mechanism": cell_key(version="2")},
    {"mechanism": cell_key(secret=b"another secret of this office")},
    {"mechanism": cell_key(mode="plain")},
    {"mechanism": Exact()},
    {"tables": ["1", "2"]},
    {"non_negative": True},
    {"missing": "drop"},
    {"form": "csv"},
    {"keep_exact": False},
]


def said(how: dict[str, Any]) -> str:
    return " ".join(f"{name} {getattr(value, 'name', value)}" for name, value in how.items())


@pytest.mark.parametrize("how", one_in(3, OTHERWISE, ids=said))
def test_a_run_with_other_settings_takes_nothing_over(how: dict[str, Any], left: Path, engine: DuckDB) -> None:
    again = resume(left, engine, **how)
    assert resumed(again) == 0
    assert hidden(left.parent) == []
    other = left.parent / "other"
    settings = {"keep_exact": True, **how}
    make(left.parent / "people.parquet", other, settings.pop("mechanism", None), engine=engine, **settings)
    assert files(left.parent / "rel") == files(other)


def test_other_data_take_nothing_over_and_the_same_data_elsewhere_do(left: Path, engine: DuckDB) -> None:
    later = put(left.parent / "later.parquet", people(300).slice(1))
    assert resumed(resume(left, engine, data=later)) == 0
    assert hidden(left.parent) == []


def test_without_a_secret_other_data_take_nothing_over_either(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    cut_after(SOME, lambda: make(data, tmp_path / "rel", Fresh(SOLVED), resume=True, engine=engine))
    put(data, people(300).take(list(range(300))[::-1]))
    assert resumed(make(data, tmp_path / "rel", Fresh(SOLVED), resume=True, engine=engine)) == 0


def test_data_that_moved_are_the_same_data(left: Path, engine: DuckDB) -> None:
    moved = (left.parent / "people.parquet").rename(left.parent / "moved.parquet")
    assert resumed(resume(left, engine, data=moved)) == TABLES


def test_tables_of_another_version_of_the_program_are_not_taken_over(
    left: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.protection.pipeline.version", lambda _name: "0.0.1")
    assert resumed(resume(left, engine)) == 0


def test_two_killed_runs_that_finished_the_same_tables_give_each_once(
    left: Path, tmp_path_factory: pytest.TempPathFactory, engine: DuckDB
) -> None:
    elsewhere = left.rename(tmp_path_factory.mktemp("aside") / left.name)
    cut_before_the_end(lambda: resume(left, engine))
    elsewhere.rename(left)
    assert len(hidden(left.parent)) == 2
    assert resumed(resume(left, engine)) == TABLES
    assert files(left.parent / "rel") == files(left.parent / "whole")
    assert hidden(left.parent) == []


# --- Who else is at work, and who clears up ---


def test_a_run_at_work_keeps_its_tables(tmp_path: Path, engine: DuckDB) -> None:
    """A second run with --resume comes when the first has all its tables but is not at its end."""
    data = put_people(tmp_path)
    make(data, tmp_path / "whole", engine=engine)
    second: list[int] = []

    def meanwhile(stage: str, done: int, total: int | None) -> None:
        if stage == "writing" and done == total and not second:
            second.append(resumed(make(data, tmp_path / "rel", resume=True)))

    with pytest.raises(FileExistsAlreadyError):
        make(data, tmp_path / "rel", resume=True, progress=meanwhile, engine=engine)
    assert second == [0]
    assert files(tmp_path / "rel") == files(tmp_path / "whole")
    # The run that was refused at its end left its tables, as any that fails with --resume.
    assert resumed(make(data, tmp_path / "rel", resume=True, replace=True, engine=engine)) == TABLES
    assert hidden(tmp_path) == []


def test_two_runs_at_once_share_what_a_killed_one_left_and_both_come_out_whole(left: Path) -> None:
    """They may come in any order: each table is taken by one of them, and made again by the other."""
    data, out = left.parent / "people.parquet", left.parent / "rel"

    def one(_number: int) -> int:
        return resumed(make(data, out, keep_exact=True, resume=True, replace=True))

    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(one, range(2)))
    assert sorted(taken) == [0, TABLES]
    assert files(out) == files(left.parent / "whole")
    assert files(curator(out)) == files(curator(left.parent / "whole"))
    assert hidden(left.parent) == []


def test_a_run_without_resume_makes_everything_anew(left: Path, engine: DuckDB) -> None:
    made = make(left.parent / "people.parquet", left.parent / "rel", keep_exact=True, engine=engine)
    assert resumed(made) == 0
    assert hidden(left.parent) == []
    assert files(left.parent / "rel") == files(left.parent / "whole")


def test_a_run_without_resume_that_fails_leaves_nothing(tmp_path: Path, engine: DuckDB) -> None:
    cut_after(SOME, lambda: make(put_people(tmp_path), tmp_path / "rel", engine=engine))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet"]


@pytest.mark.parametrize(
    "error", [partial(OSError, errno.ENOSPC, "full"), KeyboardInterrupt], ids=["full", "interrupt"]
)
def test_a_run_with_resume_that_fails_leaves_its_tables(
    error: Callable[[], BaseException], tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    cut_after(SOME, lambda: make(data, tmp_path / "rel", resume=True, engine=engine), error)
    assert not (tmp_path / "rel").exists()
    assert hidden(tmp_path)[0].stat().st_mode & 0o777 == 0o700
    assert resumed(make(data, tmp_path / "rel", resume=True, engine=engine)) == SOME


def test_a_disk_that_is_full_at_the_descriptions_leaves_all_tables(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = put_people(tmp_path)

    def full(_folder: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(folders, "_make_private", full)
        with pytest.raises(FileWriteError, match="No space left on device"):
            make(data, tmp_path / "rel", resume=True, engine=engine)
    assert resumed(make(data, tmp_path / "rel", resume=True, engine=engine)) == TABLES


def test_data_that_are_not_in_order_leave_nothing_to_resume(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path, SEX=["?"] * 300)
    with pytest.raises(Exception, match=r"SEX"):
        make(data, tmp_path / "rel", resume=True, engine=engine)
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("look", [open_release, verify, recover], ids=["open", "verify", "recover"])
def test_who_looks_at_the_old_release_leaves_the_tables_of_the_new_one(
    look: Callable[[Path], object], tmp_path: Path, engine: DuckDB
) -> None:
    data, out = put_people(tmp_path), tmp_path / "rel"
    make(data, out, cell_key(3), engine=engine)
    cut_after(SOME, lambda: make(data, out, resume=True, replace=True, engine=engine))
    before = files(out)
    look(out)
    assert files(out) == before
    assert resumed(make(data, out, resume=True, replace=True, engine=engine)) == SOME
    assert open_release(out).record.parameters["variance"] == 2
