"""A programme sketched from a data file: what becomes a topic, what is left out, and what is refused."""

from __future__ import annotations

import gzip
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DataFileError, ParameterError
from discreet.programme.programme_files import read_programme
from discreet.records import programme_sketch
from discreet.records.programme_sketch import sketch_programme
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.programme.model import Programme

PERSONS = """\
person_id,sex,age group,region
17,F,0-14,01
4,M,15-29,02
9,F,100+,01
23,M,15-29,
8,M,0-14,10
"""


def saved(folder: Path, text: str, name: str = "persons.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def as_parquet(folder: Path, **columns: object) -> Path:
    path = folder / "persons.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def as_programme(path: Path, text: str) -> Programme:
    file = path.with_name("programme.toml")
    file.write_text(text, encoding="utf-8")
    return read_programme(file)


def categories(path: Path, most_categories: int = 500) -> dict[str, tuple[str, ...] | None]:
    made = as_programme(path, sketch_programme(path, most_categories=most_categories))
    return {name: topic.levels[-1].codes for name, topic in made.topics.items()}


def test_a_sketch_is_a_programme(tmp_path: Path) -> None:
    path = saved(tmp_path, PERSONS)
    made = as_programme(path, sketch_programme(path))
    assert made.name == "persons"
    assert {name: topic.column for name, topic in made.topics.items()} == {
        "SEX": "sex",
        "AGE_GROUP": "age group",
        "REGION": "region",
    }
    assert [b.code for b in made.tables[0].breakdowns] == ["SEX", "AGE_GROUP", "REGION"]


def test_codes_keep_their_zeros_and_stand_in_natural_order(tmp_path: Path) -> None:
    found = categories(saved(tmp_path, PERSONS))
    assert found["REGION"] == ("01", "02", "10")
    assert found["AGE_GROUP"] == ("0-14", "15-29", "100+")


def test_numbers_come_before_text_and_by_value(tmp_path: Path) -> None:
    codes = ["b10", "b9", "-1", "2.5", "10", "1", "01", "9" * 200, "B1"]
    path = saved(tmp_path, "x\n" + "\n".join(codes * 2) + "\n")
    assert categories(path)["X"] == ("-1", "01", "1", "2.5", "10", "9" * 200, "B1", "b9", "b10")


def test_identifiers_and_keys_are_named_but_their_values_are_not_told(tmp_path: Path) -> None:
    rows = [f"{9_000 + i},{i / 100},{i % 2},{'FM'[i % 2]},{7_000 + i // 3}" for i in range(90)]
    text = sketch_programme(saved(tmp_path, "\n".join(["pnr,income,rkey,sex,hh_id", *rows])), most_categories=80)
    assert '#   "pnr": it has more than 80 distinct values.' in text
    assert '#   "income": it has more than 80 distinct values.' in text
    assert '#   "rkey": its name looks like that of a key.' in text
    assert '#   "hh_id": its name looks like that of an identifier, and few records share a value.' in text
    assert "7001" not in text
    wide = sketch_programme(tmp_path / "persons.csv")
    assert '#   "pnr": all values are distinct, as in an identifier.' in wide
    assert "90" not in wide


@each("name", ["key", "rkey", "RECORD_KEY", "recordKey", "cell key", "hh.ckey", "personKey"])
def test_keys_are_known_by_their_names(name: str, tmp_path: Path) -> None:
    assert list(categories(saved(tmp_path, f"{name},sex\n1,F\n1,F\n"))) == ["SEX"]


@each("name", ["turkey", "keyboard", "monkey_2", "region_id", "idle", "paid"])
def test_other_names_are_taken_for_topics(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path, f"{name},sex\n" + "1,F\n2,M\n" * 30)
    assert list(categories(path)) == [name.upper(), "SEX"]


def test_missing_values_are_counted_and_no_category(tmp_path: Path) -> None:
    path = saved(tmp_path, "sex,other,free,none\n" + 'F,,x1,\nM,"",x2,\n,A,,\nF,A,x3,\n')
    text = sketch_programme(path)
    assert "[topics.SEX]  # distinct values: 2\n# Missing values: 1. Assign a code" in text
    assert "[topics.OTHER]  # distinct values: 1\n# Missing values: 2. Assign a code" in text
    assert '#   "free": all values are distinct, as in an identifier; missing values: 1.' in text
    assert '#   "none": it has no values.' in text
    assert categories(path) == {"SEX": ("F", "M"), "OTHER": ("A",)}


def test_free_text_and_what_an_open_quote_swallows_is_not_told(tmp_path: Path) -> None:
    path = saved(tmp_path, "sex,area\n" + "F,N\nM,S\n" * 50 + 'F,"N\n' + "M,secret\n" * 50)
    text = sketch_programme(path)
    assert '#   "area": it contains texts of more than 200 characters.' in text
    assert "secret" not in text


def test_a_lone_value_among_missing_ones_is_a_category(tmp_path: Path) -> None:
    assert categories(saved(tmp_path, "sex,flag\nF,\nF,1\nM,\n"))["FLAG"] == ("1",)


def test_topics_are_named_by_bare_keys_of_which_none_comes_twice(tmp_path: Path) -> None:
    header = "Größe,größe,État civil,a.b,a b,性别,,2021"
    path = saved(tmp_path, f"{header}\n" + "1,1,1,1,1,1,1,1\n" * 2)
    made = as_programme(path, sketch_programme(path))
    assert list(made.topics) == ["GROSSE", "GROSSE_2", "ETAT_CIVIL", "A_B", "A_B_2", "COLUMN_6", "COLUMN_7", "2021"]
    assert [topic.column for topic in made.topics.values()] == header.split(",")


def test_quotes_backslashes_and_line_breaks_survive(tmp_path: Path) -> None:
    codes = ['say "no"', "C:\\new", "two\nlines", "#1", "[x]", "'", "tab\there", "\x7f\x01", "é", "日本", "😀"]
    path = tmp_path / "persons.csv"
    arrow_csv.write_csv(pa.table({'a "b"\\': codes * 2}), path)
    made = as_programme(path, sketch_programme(path))
    assert set(made.topics["A_B"].levels[0].codes or ()) == set(codes)
    assert made.topics["A_B"].column == 'a "b"\\'


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=50), min_size=1, max_size=20, unique=True))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, codes: list[str]) -> None:
    path = as_parquet(tmp_path_factory.mktemp("any"), **{f"x{codes[0]}x": codes * 2})
    made = as_programme(path, sketch_programme(path))
    (topic,) = made.topics.values()
    assert set(topic.levels[0].codes or ()) == set(codes)
    assert topic.column == f"x{codes[0]}x"


def test_a_gzipped_file_gives_the_same(tmp_path: Path) -> None:
    plain = saved(tmp_path, PERSONS)
    packed = tmp_path / "PERSONS.CSV.GZ"
    packed.write_bytes(gzip.compress(PERSONS.encode()))
    assert categories(packed) == categories(plain)
    assert 'name = "PERSONS"' in sketch_programme(packed)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_are_seen_from_the_header(delimiter: str, tmp_path: Path) -> None:
    plain = categories(saved(tmp_path, PERSONS))
    other = saved(tmp_path, "\ufeff" + PERSONS.replace(",", delimiter).replace("\n", "\r\n"), "other.csv")
    assert categories(other) == plain


def test_parquet_types_become_text(tmp_path: Path) -> None:
    path = as_parquet(
        tmp_path,
        region=pa.array(["02", "01", None, "02"]).dictionary_encode(),
        rooms=pa.array([3, 12, 3, None], pa.int16()),
        owner=[True, False, None, True],
        income=pa.array([1.0, float("nan"), 2.5, 1.0]),
        born=[date(2000, 1, 2), date(1999, 12, 31), date(2000, 1, 2), None],
        raw=pa.array([b"A", b"B", b"A", b""], pa.binary()),
        children=[[1], [2, 3], [], None],
        home=[{"x": 1}, {"x": 2}, {"x": 1}, None],
        picture=pa.array([b"\xff", b"\xfe", b"\xff", None], pa.binary()),
        nothing=pa.nulls(4),
    )
    text = sketch_programme(path)
    assert categories(path) == {
        "REGION": ("01", "02"),
        "ROOMS": ("3", "12"),
        "OWNER": ("false", "true"),
        "INCOME": ("1", "2.5"),
        "BORN": ("1999-12-31", "2000-01-02"),
        "RAW": ("A", "B"),
    }
    for name in ("children", "home", "picture"):
        assert f'#   "{name}": its values are neither text nor numbers.' in text
    assert '#   "nothing": it has no values.' in text
    assert text.count("# Missing values: 1.") == 6


@pytest.mark.slow
def test_many_columns(tmp_path: Path) -> None:
    names = [f"a_rather_long_name_of_column_{i}" for i in range(3_000)]
    rows = [",".join(str((i + r) % 3) for i in range(3_000)) for r in range(6)]
    found = categories(saved(tmp_path, "\n".join([",".join(names), *rows])))
    assert len(found) == 3_000
    assert set(found.values()) == {("0", "1", "2")}


def test_files_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programme_sketch, "BLOCK", 4096)
    columns = {"a": [f"{i % 400:03}" for i in range(9_000)], "b": [str(i) for i in range(9_000)]}
    parquet = as_parquet(tmp_path, **columns)
    plain = tmp_path / "persons.csv"
    arrow_csv.write_csv(pa.table(columns), plain)
    for path in (plain, parquet):
        assert categories(path) == {"A": tuple(f"{i:03}" for i in range(400))}


@each(
    ("sizes", "columns"),
    [
        ((3,), ["A"]),
        ((3, 4), ["A", "B"]),
        ((3, 4, 5, 6), ["A", "B", "C"]),
        ((100, 100, 100), ["A", "B"]),
        ((1, 3, 4), ["B", "C", "A"]),
    ],
)
def test_the_first_table_takes_the_first_topics_and_stays_small(
    sizes: tuple[int, ...], columns: list[str], tmp_path: Path
) -> None:
    path = as_parquet(tmp_path, **{name: [i % n for i in range(200)] for name, n in zip("ABCD", sizes, strict=False)})
    (table,) = as_programme(path, sketch_programme(path)).tables
    assert [b.code for b in table.breakdowns] == columns


@pytest.mark.parametrize("column", ["sex", "area"])
def test_what_the_comments_propose_works(column: str, tmp_path: Path) -> None:
    path = saved(tmp_path, f"{column}\nF\nM\n\nF\n")
    before, mark, after = sketch_programme(path).partition("Remove the # and adapt them:\n")
    assert mark
    made = as_programme(path, before + mark + "".join(line[2:] for line in after.splitlines(keepends=True)))
    first, second = made.tables
    area = second.breakdowns[1]
    assert first.breakdowns[0].topic == column.upper()
    assert area.topic == ("AREA_2" if column == "area" else "AREA")
    assert (len(area.levels), len(made.topics[area.topic].levels)) == (1, 2)
    assert second.population == f"households where {column.upper()} = F"


def test_the_smallest_number_of_categories_is_one(tmp_path: Path) -> None:
    path = saved(tmp_path, "sex,land\nF,AT\nM,AT\nM,AT\n")
    assert list(categories(path, 1)) == ["LAND"]
    with pytest.raises(ParameterError, match="most_categories must be a whole number of at least 1, not 0"):
        sketch_programme(path, most_categories=0)


NO_PARQUET = "is not a Parquet file, or it is damaged. Write it again"
GZIP = "is not a gzip file, or it is damaged. Compress it again"


@each(
    ("name", "content", "message"),
    [
        ("d.csv", b"", "d.csv is empty. Specify a file with named columns"),
        ("d.csv.gz", gzip.compress(b"", mtime=0), "is empty. Specify"),
        ("d.parquet", b"", "is empty. Specify"),
        ("d.csv", b"\n\n", "has no columns. Specify a file with a name for every column"),
        ("d.csv", b"a,b\n", "has columns but no records. Specify a file with at least one record"),
        ("d.csv", b"a,b,a\n1,2,3\n", "has two columns named 'a'. Use a unique name for every column"),
        ("d.csv", b"a,b\n1,2\n\n3\n", "has 1 fields instead of 2 in record 2 after the header. Correct the record"),
        ("d.csv", b'"a,b\n' + b"1,2\n" * 90_000, "cannot be read as CSV. Check its quotes"),
        (
            "d.csv",
            "sex\nmännlich\n".encode("latin-1"),
            "is not text in UTF-8: byte 6, in line 2, cannot be decoded. Save it as UTF-8",
        ),
        (
            "d.csv",
            b"a\n" + b"x\n" * 3_000_000 + b"\xe9\n",
            "UTF-8: byte 6,000,003, in line 3,000,002, cannot be decoded",
        ),
        ("d.csv", gzip.compress(b"a\n1\n1\n", mtime=0), "is not text in UTF-8"),
        ("d.csv.gz", b"a\n1\n1\n", GZIP),
        ("d.csv.gz", gzip.compress(b"a\n1\n1\n", mtime=0)[:-9], GZIP),
        ("d.parquet", b"a\n1\n1\n", NO_PARQUET),
        ("d.parquet", b"PAR1" + b"\0" * 40 + b"PAR1", NO_PARQUET),
        ("d.xlsx", b"PK", "has an unsupported extension. .* .csv, .csv.gz, .parquet"),
        ("d.csv", b"a,b\n1,x\n2,y\n", "has no topics: .* over 500 values. Allow more"),
        ("d.csv", b"a,b\n1,x\n", "has no topics"),
    ],
)
def test_what_is_no_data_is_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=message) as caught:
        sketch_programme(path)
    assert caught.value.path == path


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"d.csv cannot be read: No such file or directory\. Check the path"):
        sketch_programme(tmp_path / "d.csv")
    folder = tmp_path / "d.parquet"
    folder.mkdir()
    with pytest.raises(DataFileError, match=r"d.parquet is a folder\. Specify one file in it"):
        sketch_programme(folder)


def test_parquet_without_columns_or_damaged_inside_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="has no columns"):
        sketch_programme(as_parquet(tmp_path))
    path = as_parquet(tmp_path, a=[str(i % 9) for i in range(9_000)])
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=NO_PARQUET):
        sketch_programme(path)


def test_a_refusal_shows_no_values(tmp_path: Path) -> None:
    path = saved(tmp_path, "name,sex\nsecret,F\nsecret,F,F\n")
    with pytest.raises(DataFileError) as caught:
        sketch_programme(path)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
