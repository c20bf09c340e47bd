"""A synthetic census as a file: the same from the same seed, whole, and in constant memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from discreet.errors import FileExistsAlreadyError, ParameterError
from discreet.programme.eu2021.census import census
from discreet.synthetic import synth
from tests.each import each
from tests.quick import one_in

ASKED: dict[str, Any] = {"country": "LU", "persons": 70_000, "seed": 1}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{number}.{ending}" for number in range(2)]
    for file in files:
        synth(file, **ASKED)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("other", one_in(3, [{"seed": 2}, {"country": "AT"}, {"persons": 70_001}]))
def test_anything_else_gives_other_persons(tmp_path: Path, other: dict[str, Any]) -> None:
    for number, asked in enumerate((ASKED, ASKED | other)):
        synth(tmp_path / f"{number}.csv", **asked)
    assert (tmp_path / "0.csv").read_bytes() != (tmp_path / "1.csv").read_bytes()


@each("number", [1, 2, 1000, 65_536, 65_537])
def test_there_are_exactly_as_many_as_asked_for(tmp_path: Path, number: int) -> None:
    made = synth(tmp_path / "a.parquet", country="LU", persons=number, seed=9)
    table = pq.read_table(tmp_path / "a.parquet")
    assert (table.num_rows, made.persons) == (number, number)
    assert len(set(table.column("PERSON_ID").to_pylist())) == number
    assert sum(column.null_count for column in table.columns) == 0


def test_columns_are_identifiers_topics_and_cells_as_text(tmp_path: Path) -> None:
    synth(tmp_path / "a.parquet", country="LU", persons=500, seed=1)
    table = pq.read_table(tmp_path / "a.parquet")
    programme = census("LU")
    used = {breakdown.topic for each in programme.of("persons") for breakdown in each.breakdowns}
    topics = [name for name in programme.topics if name in used]
    assert table.column_names == ["PERSON_ID", "HOUSEHOLD_ID", *topics, "GRID"]
    for name in topics:
        assert set(table.column(name).to_pylist()) <= set(programme.topics[name].levels[-1].codes or ())


@pytest.mark.slow
def test_a_row_group_lists_its_own_cells_alone(tmp_path: Path) -> None:
    synth(tmp_path / "a.parquet", country="DE", persons=10 * 65_536, seed=1)
    file = pq.ParquetFile(tmp_path / "a.parquet", read_dictionary=["GRID"])
    assert file.num_row_groups == 2
    for number in range(2):
        cells = file.read_row_group(number, columns=["GRID"]).column("GRID").combine_chunks()
        assert len(cells.dictionary) == len(cells.unique())


def test_both_formats_hold_the_same_persons(tmp_path: Path) -> None:
    for ending in ("parquet", "csv"):
        synth(tmp_path / f"a.{ending}", **ASKED)
    table = pq.read_table(tmp_path / "a.parquet")
    text = dict.fromkeys(table.column_names, "string")
    read = arrow_csv.read_csv(tmp_path / "a.csv", convert_options=arrow_csv.ConvertOptions(column_types=text))
    for name in table.column_names:
        assert read.column(name).to_pylist() == table.column(name).cast("string").to_pylist()


def test_the_file_and_the_answer_say_that_it_is_synthetic(tmp_path: Path) -> None:
    made = synth(tmp_path / "a.parquet", country="CZ", persons=1234, seed=7)
    about = "Synthetic census of Czechia (CZ): 1,234 synthetic persons, seed 7."
    assert made.sentence == f"{about} It contains no real persons."
    assert pq.read_schema(tmp_path / "a.parquet").metadata[b"discreet.synthetic"] == made.sentence.encode()
    assert made.written == tmp_path / "a.parquet"
    assert 400 < made.households < 800


def test_progress_ends_with_all_persons(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    synth(tmp_path / "a.parquet", **ASKED, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(65_536, 70_000), (70_000, 70_000)]


def test_a_file_that_exists_is_kept_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("mine")
    with pytest.raises(FileExistsAlreadyError, match="exists already"):
        synth(path, country="LU", persons=10, seed=1)
    assert path.read_text() == "mine"
    synth(path, country="LU", persons=10, seed=1, replace=True)
    assert len(path.read_text().splitlines()) == 11


@each("number", [0, -1, 10**9 + 1, 2.5, "10", True, None])
def test_a_wrong_number_of_persons_is_refused(tmp_path: Path, number: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(ParameterError, match=r"persons must be a whole number from 1 to 10\^9, not") as caught:
        synth(tmp_path / "a.csv", country="LU", persons=number, seed=1)
    assert caught.value.parameter == "persons"


@each("seed", [-1, 2**63, 1.0, "7"])
def test_a_wrong_seed_is_refused(tmp_path: Path, seed: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(ParameterError, match="seed must be a whole number"):
        synth(tmp_path / "a.csv", country="LU", persons=1, seed=seed)


def test_nothing_is_left_of_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Greece"):
        synth(tmp_path / "a.csv", country="EL", persons=10, seed=1)
    with pytest.raises(ParameterError, match="must end in"):
        synth(tmp_path / "a.txt", country="LU", persons=10, seed=1)
    assert list(tmp_path.iterdir()) == []


PEAK = """
import sys
from pathlib import Path
from discreet.synthetic import synth
synth(sys.argv[1], country="LU", persons=int(sys.argv[2]), seed=1)
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
"""


def peak(path: Path, number: int) -> int:
    """Return the most memory of a run in KiB."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path), str(number)], capture_output=True, text=True, check=True, timeout=60
    )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the peak of a process")
def test_memory_does_not_grow_with_the_persons(tmp_path: Path) -> None:
    few, many = (peak(tmp_path / f"{number}.parquet", number) for number in (2**19, 2**21))
    # The persons that are more would fill 63 MB as codes of one byte, and many times that as text.
    assert many - few < 24_000
