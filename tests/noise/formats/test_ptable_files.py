"""Every format: exact round trips on its own grid, and bad files refused with the place named."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.cli.ptable import table as table_text
from discreet.errors import (
    FileExistsAlreadyError,
    FileWriteError,
    InfeasibleError,
    ParameterError,
    PTableFileError,
    UnknownNameError,
)
from discreet.noise import sentences
from discreet.noise.formats.ptable_files import format_for, read_ptable, write_ptable
from discreet.noise.formats.ptable_format import FORMATS
from discreet.noise.ptable import PTable
from tests.each import each
from tests.quick import up_to

DATA = Path(__file__).parents[2] / "data"
SAMPLES = {
    "cellkey": DATA / "formats/cnts_D5_V3_js2_cellkey.yaml",
    "sas": DATA / "formats/cnts_D5_V3_js2_sas.txt",
    "tauargus": DATA / "formats/cnts_D5_V3_js2_tauargus.txt",
    "ons": DATA / "ons/ptable_stochastic_D5_V2_js1_256.csv.gz",
}
ALL = ("cellkey", "csv", "ons", "sas", "tauargus", "toml")


def plain_text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def test_all_formats_are_registered() -> None:
    assert tuple(FORMATS.all()) == ALL


@each("name", SAMPLES)
def test_a_sample_is_recognised_and_written_back_to_the_byte(name: str, tmp_path: Path) -> None:
    table = read_ptable(SAMPLES[name])
    write_ptable(table, tmp_path / "again", name)
    assert (tmp_path / "again").read_text() == plain_text(SAMPLES[name])


def test_the_three_exports_of_one_table_are_one_table() -> None:
    first, *others = (read_ptable(SAMPLES[name]) for name in ("cellkey", "sas", "tauargus"))
    assert all(other.rounded == first.rounded for other in others)
    assert first.key_space == 10**8


@each("name", ALL, every=3)
@given(
    variance=st.floats(0.3, 20),
    bound=st.integers(1, 9),
    threshold=st.integers(0, 2),
    equality=st.booleans(),
)
@settings(max_examples=up_to(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_file_to_object_to_file_is_exact(
    name: str, variance: float, bound: int, threshold: int, equality: bool, tmp_path: Path
) -> None:
    try:
        made = PTable.max_entropy(variance=variance, bound=bound, threshold=threshold, equality=equality)
    except InfeasibleError:
        return
    first, second = tmp_path / "first", tmp_path / "second"
    written = write_ptable(made, first, name, replace=True)
    read = read_ptable(first)
    write_ptable(read, second, name, replace=True)
    assert first.read_bytes() == second.read_bytes()
    kept = len(read.rounded)
    assert [row.law() for row in read.rounded] == [row.law() for row in written.rounded[:kept]]
    # ONS files contain every count up to 750: equal rows are read back as one.
    assert {tuple(row.law().items()) for row in written.rounded[kept:]} <= {tuple(read.rounded[-1].law().items())}


@pytest.mark.parametrize("name", ["csv", "toml"])
def test_our_formats_keep_probabilities_to_the_last_bit(name: str, tmp_path: Path) -> None:
    made = PTable.max_entropy(variance=2, bound=5, threshold=1, key_space=2**40)
    write_ptable(made, tmp_path / "t", name)
    read = read_ptable(tmp_path / "t")
    assert [row.probabilities for row in read.rows] == [row.probabilities for row in made.rows]
    assert read.key_space == 2**40
    assert (read.settings == made.settings) == (name == "toml")


def test_a_shuffled_table_keeps_its_pieces(tmp_path: Path) -> None:
    text = (
        "i,j,v,p,lower,upper\n0,0,0,1.0,0,100\n1,0,-1,0.25,0,25\n1,1,0,0.5,25,75\n1,0,-1,0.0,75,75\n1,2,1,0.25,75,100\n"
    )
    (tmp_path / "t.csv").write_text(text)
    table = read_ptable(tmp_path / "t.csv")
    assert table.rows[1].values == (-1, 0, -1, 1)
    assert table.draw([1, 1, 1], [0, 30, 99], mode="plain").tolist() == [-1, 0, 1]
    write_ptable(table, tmp_path / "u.csv")
    assert (tmp_path / "u.csv").read_text() == text


def test_gzip_is_read_and_written(tmp_path: Path) -> None:
    made = PTable.max_entropy(variance=2, bound=5)
    write_ptable(made, tmp_path / "t.csv.gz")
    assert (tmp_path / "t.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert read_ptable(tmp_path / "t.csv.gz").rounded == made.rounded


def test_the_key_space_of_a_format_is_the_grid_that_is_written(tmp_path: Path) -> None:
    made = PTable.max_entropy(variance=2, bound=5)
    assert write_ptable(made, tmp_path / "a", "tauargus").key_space == 10**8
    assert write_ptable(made, tmp_path / "b", "ons").key_space == 256


@pytest.mark.slow
def test_the_other_key_space_of_a_format_is_kept(tmp_path: Path) -> None:
    made = PTable.max_entropy(variance=2, bound=5, key_space=4096)
    assert write_ptable(made, tmp_path / "c", "ons").key_space == 4096


@each("name", ["cellkey", "ons", "sas", "tauargus"])
def test_a_table_that_perturbs_zeros_is_not_given_to_tools_that_ignore_them(name: str, tmp_path: Path) -> None:
    made = PTable.max_entropy(variance=2, bound=5, perturb_zeros=True)
    with pytest.raises(PTableFileError, match="does not support perturbed zeros"):
        write_ptable(made, tmp_path / "t", name)
    assert list(tmp_path.iterdir()) == []


@each("name", ["cellkey", "csv", "sas", "tauargus"], every=2)
def test_rows_that_take_turns_are_not_written_where_they_cannot_be_said(name: str, tmp_path: Path) -> None:
    turning = read_ptable(DATA / "ons/ptable_10_5_rule.csv.gz")
    with pytest.raises(PTableFileError, match=r"uses 250 rows in turn.*Write toml or ons"):
        write_ptable(turning, tmp_path / "t", name)
    assert list(tmp_path.iterdir()) == []


def test_rows_that_take_turns_survive_toml(tmp_path: Path) -> None:
    turning = read_ptable(DATA / "ons/ptable_10_5_rule.csv.gz")
    write_ptable(turning, tmp_path / "t.toml")
    again = read_ptable(tmp_path / "t.toml")
    assert (again.repeat, again.key_space) == (250, 256)
    assert again.rounded == turning.rounded
    many = PTable((*turning.rows, replace(turning.rows[-1], count=751)), 256)
    with pytest.raises(PTableFileError, match="rows up to 750"):
        write_ptable(many, tmp_path / "u", "ons")


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("mine")
    with pytest.raises(FileExistsAlreadyError, match=r"exists already.*--replace"):
        write_ptable(PTable.max_entropy(variance=2, bound=5), path)
    assert path.read_text() == "mine"
    write_ptable(PTable.max_entropy(variance=2, bound=5), path, replace=True)
    assert path.read_text().startswith("i,j,v,p,lower,upper")
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileWriteError, match="cannot be written: its folder does not exist"):
        write_ptable(PTable.max_entropy(variance=2, bound=5), tmp_path / "no" / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_written_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    write_ptable(PTable.max_entropy(variance=2, bound=5), tmp_path / "t.csv")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "t.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_the_ending_says_the_format_or_the_error_says_how() -> None:
    assert [format_for(Path(name)) for name in ("a.csv", "a.toml", "a.yaml", "a.yml", "a.csv.gz")] == [
        "csv",
        "toml",
        "cellkey",
        "cellkey",
        "csv",
    ]
    with pytest.raises(ParameterError, match=r"does not determine the format. Give the format .*\.csv \(csv\)"):
        format_for(Path("a.txt"))


def test_an_unknown_format_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean tauargus"):
        write_ptable(PTable.max_entropy(variance=2, bound=5), tmp_path / "t", "tau-argus")


GOOD = ["i,j,v,p,lower,upper", "0,0,0,1.0,0,100", "1,0,-1,0.25,0,25", "1,1,0,0.5,25,75", "1,2,1,0.25,75,100"]


def broken(line: int, text: str) -> str:
    return "\n".join(text if number == line else good for number, good in enumerate(GOOD, start=1)) + "\n"


BAD_FILES = {
    "empty file": ("", "the file is empty"),
    "blank file": (" \n\n", "the file is empty"),
    "header alone": (GOOD[0] + "\n", "a header but no rows"),
    "no p-table": ("Hello\n", "does not match a known p-table format"),
    "wrong delimiter": (
        "\n".join(GOOD).replace(",", ";"),
        "line 1: columns are separated by a semicolon instead of a comma",
    ),
    "tabs": ("\n".join(GOOD).replace(",", "\t"), "separated by a tab instead of a comma"),
    "missing column": ("\n".join(GOOD).replace("v,p", "p"), "line 1: column v is missing"),
    "extra column": (broken(1, GOOD[0] + ",q"), "line 1: unexpected columns"),
    "missing row": ("\n".join([*GOOD[:2], "2,2,0,1.0,0,100"]), "line 3: row i = 1 is missing; the next row is 2"),
    "no row 0": ("\n".join([GOOD[0], *GOOD[2:]]), "line 2: row i = 0 is missing"),
    "row again": ("\n".join([*GOOD, GOOD[1]]), "line 6: row i = 0 comes after row 1"),
    "overlap": (broken(4, "1,1,0,0.5,20,75"), r"line 4: row i = 1, v = 0: the interval from 20 overlaps.*start at 25"),
    "gap": (broken(4, "1,1,0,0.5,30,75"), "line 4: .* leaves keys without noise"),
    "backwards": (broken(4, "1,1,0,0.5,25,20"), "ends at 20, below its start 25"),
    "too short": (broken(5, "1,2,1,0.25,75,90"), "row i = 1 ends at key 90, but the key space ends at 100"),
    "sum": (broken(4, "1,1,0,0.4,25,75"), r"row i = 1: the probabilities sum to 0.90000000, not to 1"),
    "p against keys": (
        broken(3, "1,0,-1,0.5,0,25").replace("0,0.5,", "0,0.25,"),
        "p is 0.50000000, but its keys are a share of 0.25",
    ),
    "wrong target": (broken(3, "1,1,-1,0.25,0,25"), "line 3: j = 1 is not i . v = 1 . -1"),
    "no number": (broken(3, "1,0,-1,a lot,0,25"), "line 3: p is 'a lot', not a number from 0 to 1"),
    "not whole": (broken(3, "1,0,-1,0.25,0,2.5"), "line 3: upper is '2.5', not a whole number"),
    "negative": (broken(3, "1,0,-1,-0.25,0,25"), "line 3: p is '-0.25', not a number from 0 to 1"),
    "nan": (broken(3, "1,0,-1,nan,0,25"), "line 3: p is 'nan'"),
    "short line": (broken(3, "1,0,-1"), "line 3: 3 fields where 6 are expected"),
}


@each("name", BAD_FILES)
def test_a_bad_file_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    text, message = BAD_FILES[name]
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(PTableFileError, match=message) as caught:
        read_ptable(tmp_path / "bad.csv")
    assert "bad.csv" in str(caught.value)


def test_the_good_file_behind_the_bad_ones_is_good(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text("\n".join(GOOD))
    assert read_ptable(tmp_path / "good.csv").key_space == 100


def test_a_missing_binary_or_damaged_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PTableFileError, match="cannot be read: No such file"):
        read_ptable(tmp_path / "none.csv")
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PTableFileError, match="not text in UTF-8"):
        read_ptable(tmp_path / "b")
    (tmp_path / "z").write_bytes(gzip.compress(b"i,j")[:-4])
    with pytest.raises(PTableFileError, match="damaged gzip"):
        read_ptable(tmp_path / "z")


@given(st.binary(max_size=300))
@settings(max_examples=up_to(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_raise_anything_but_our_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(PTableFileError):
        read_ptable(tmp_path / "f")


@given(st.sampled_from(sorted(SAMPLES)), st.integers(0, 5000), st.characters(codec="ascii"))
@settings(max_examples=up_to(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sample_with_one_character_changed_reads_or_is_refused(
    tmp_path: Path, name: str, place: int, character: str
) -> None:
    if name == "ons":
        return
    text = plain_text(SAMPLES[name])
    place %= len(text)
    (tmp_path / "f").write_text(text[:place] + character + text[place + 1 :])
    try:
        table = read_ptable(tmp_path / "f")
    except PTableFileError:
        return
    assert all(sum(row.weights) == table.key_space for row in table.rounded)


EXTREME = [
    "",
    "-1",
    "0",
    "1e400",
    "nan",
    ".inf",
    "99999999999999999999999",
    "2000000000",
    "'",
    "[",
    "2001-99-99",
    "-0.5",
    "true",
]


@given(st.sampled_from([*sorted(SAMPLES), "csv", "toml"]), st.integers(0, 10**6), st.sampled_from(EXTREME))
@settings(max_examples=up_to(250), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_whole_field_swapped_for_an_extreme_value_reads_or_is_refused(
    tmp_path: Path, name: str, place: int, value: str
) -> None:
    if name in SAMPLES:
        text = plain_text(SAMPLES[name])
    else:
        write_ptable(PTable.max_entropy(variance=2, bound=3), tmp_path / "s", name, replace=True)
        text = (tmp_path / "s").read_text()
    fields = re.split(r"([,;\s=\[\]]+)", text if name != "ons" else text[:20_000])
    fields[2 * (place % (len(fields) // 2 + 1))] = value
    (tmp_path / "f").write_text("".join(fields))
    try:
        table = read_ptable(tmp_path / "f")
    except PTableFileError:
        return
    assert all(sum(row.weights) == table.key_space for row in table.rounded)
    assert sentences.results(table)
    assert table_text(table)
