"""What every format of tables promises: all values and codes come back, read by libraries of others."""

from __future__ import annotations

import csv
import errno
import io
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import openpyxl
import pyarrow as pa
import pytest
import sdmx
from pyaxis import pyaxis
from pyjstat import pyjstat
from pysdmx.io import get_datasets, read_sdmx

import discreet as dc
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Programme, Table, Topic, code_columns, levels_by_depth
from discreet.release.formats import json_stat, published_table, xlsx_workbook
from discreet.release.formats.table_format import TABLE_FORMATS
from discreet.release.table_files import FORMATS
from tests.each import each
from tests.protection.town import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB
    from discreet.release.release import Release

pytestmark = pytest.mark.filterwarnings("ignore:Shouldn't use this function anymore")  # of pyjstat itself

Cells = dict[tuple[str, ...], tuple[int, ...]]
"""Values by codes; cells that are 0 in all values are left out."""


def topic(name: str, label: str, *categories: tuple[str, str, str, str]) -> Topic:
    """Return a topic of codes, parents, and labels in English and German."""
    tree = CategoryTree(name, tuple(Category(c, p, {"en": en, "de": de}) for c, p, en, de in categories))
    depth = 2 if any(parent for _, parent, *_ in categories) else 1
    levels = levels_by_depth(name, [tree.cut(each) for each in range(1, depth + 1)])
    return Topic(name, levels, tree, {"en": label, "de": f"{label} (de)"})


GEO = topic(
    "GEO",
    "Area",
    ("001", "", "North", "Nord"),
    ("002", "", "Île", "Insel"),
    ("001.1", "001", "Østby & Søn", "Østby"),
    ("001.2", "001", "<West>", "West"),
)
SEX = topic("SEX", "Sex", ("F", "", "women", "Frauen"), ("M", "", "men", "Männer"))
ODD = topic(
    "ODD",
    "=Odd",
    ("=1+1", "", "a sum", "Summe"),
    ("-9", "", "minus nine", "minus neun"),
    ("@x", "", "=label", "an"),
    ("\tt", "", "tab", "Tab"),
    ("'=1", "", "quote", "Zitat"),
)


def by(each: Topic) -> Breakdown:
    return Breakdown(each.name, each.name, each.levels)


PLAIN = Programme(
    "plain",
    {each.name: each for each in (GEO, SEX)},
    (
        Table("1", (by(GEO), by(SEX))),
        Table("9.2", (Breakdown("GEO.L", "GEO", GEO.levels[:1]),)),
    ),
)
STRANGE = Programme("strange", {"ODD": ODD, "SEX": SEX}, (Table("1", (by(SEX), by(ODD))),))


def persons() -> pa.Table:
    codes = {"GEO": ["001.1", "001.2", "001.2", "002", "002"], "SEX": ["F", "F", "F", "F", "M"]}
    codes["ODD"] = ["=1+1", "-9", "@x", "\tt", "'=1"]
    return pa.table({name: each * 40 for name, each in codes.items()} | {"ID": range(200), "W": [1.5] * 200})


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, engine: DuckDB) -> Release:
    return released(PLAIN, tmp_path_factory.mktemp("plain") / "rel", engine)


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory, engine: DuckDB) -> Release:
    return released(STRANGE, tmp_path_factory.mktemp("strange") / "rel", engine, form="csv")


def released(programme: Programme, out: Path, engine: DuckDB, **how: Any) -> Release:  # noqa: ANN401 - as in protect
    mechanism = dc.CellKey(dc.PTable.max_entropy(variance=2, bound=5), secret=SECRET)
    return dc.protect(persons(), programme, mechanism, id="ID", out=out, engine=engine, **how)


def published(release: Release, table: str, measures: tuple[str, ...] = ("value",)) -> Cells:
    """Return the cells of a table as they are in the release."""
    rows = release.table(table)
    names = code_columns(rows.column_names)
    return {tuple(row[name] for name in names): tuple(row[each] for each in measures) for row in rows.to_pylist()}


# --- Readers ---


def from_csv(folder: Path, table: str, measures: tuple[str, ...]) -> Cells:
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = code_columns([name for name in (rows[0] if rows else ()) if not name.endswith("_label")])
    return {tuple(bare(row[name]) for name in names): tuple(int(row[each]) for each in measures) for row in rows}


def bare(text: str) -> str:
    """Return a text without the apostrophe before a formula."""
    return text[1:] if text.startswith("'") and text.lstrip("'")[:1] in {"=", "@", "\t", "\r"} else text


def from_csvw(folder: Path, table: str, measures: tuple[str, ...]) -> Cells:
    described = json.loads((folder / "csv-metadata.json").read_text(encoding="utf-8"))
    entry = next(each for each in described["tables"] if each["url"] == f"{table}.csv")
    columns = {column["titles"]: column["datatype"] for column in entry["tableSchema"]["columns"]}
    with (folder / entry["url"]).open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == list(columns)
    assert [name for name, kind in columns.items() if kind == "integer"] == list(measures)
    return from_csv(folder, table, measures)


def original(folder: Path) -> dict[tuple[str, str], str]:
    """Return the codes behind identifiers of SDMX, by dimension."""
    found = {}
    for codelist in read_sdmx(folder / "structures.xml", validate=True).get_codelists():
        for code in codelist.items:
            noted = [str(each.title) for each in code.annotations if each.type == "CODE"]
            found[codelist.id.removeprefix("CL_"), code.id] = noted[0] if noted else code.id
    return found


def from_sdmx(folder: Path, file: str, measures: tuple[str, ...]) -> Cells:
    codes = original(folder)
    (data,) = get_datasets(folder / file, folder / "structures.xml")
    values = ["OBS_VALUE", *(each.upper() for each in measures[1:])]
    names = [name for name in data.data.columns if (name, "_T") in codes]
    found: Cells = {}
    for row in data.data.to_dict("records"):
        found[tuple(codes[name, row[name]] for name in names)] = tuple(int(row[name]) for name in values)
    return found


def from_sdmx_csv(folder: Path, table: str, measures: tuple[str, ...]) -> Cells:
    return from_sdmx(folder, f"{table}.csv", measures)


def from_sdmx_ml(folder: Path, table: str, measures: tuple[str, ...]) -> Cells:
    read_sdmx(folder / f"{table}.xml", validate=True)
    return from_sdmx(folder, f"{table}.xml", measures)


def from_json_stat(folder: Path, table: str, measures: tuple[str, ...]) -> Cells:
    data = pyjstat.Dataset.read((folder / f"{table}.json").read_text(encoding="utf-8"))
    return by_measure(data.write("dataframe", naming="id").to_dict("records"), measures)


def by_measure(rows: list[dict[str, Any]], measures: tuple[str, ...]) -> Cells:
    """Return the cells of rows with a value, and a measure where there are several."""
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for row in rows:
        *codes, value = row.values()
        measure = codes.pop() if len(measures) > 1 else measures[0]
        found.setdefault(tuple(codes), {})[measure] = int(value)
    return {codes: tuple(values[each] for each in measures) for codes, values in found.items()}


def from_px(folder: Path, table: str, measures: tuple[str, ...]) -> Cells:
    parsed = pyaxis.parse(str(folder / f"{table}.px"), encoding="utf-8")
    about = parsed["METADATA"]
    rows = parsed["DATA"].to_dict("records")
    codes = {
        name: dict(zip(about[f"VALUES({name})"], about[f"CODES({name})"], strict=True))
        for name in (rows[0] if rows else ())
        if name != "DATA"
    }
    translated = [{n: codes[n][text] if n in codes else text for n, text in row.items()} for row in rows]
    return by_measure(translated, measures)


def from_xlsx(file: Path, table: str, measures: tuple[str, ...]) -> Cells:
    book = openpyxl.load_workbook(file, read_only=True)
    assert book.sheetnames[:2] == ["Contents", "Notes"]
    rows = book[table].iter_rows(values_only=True)
    head = list(next(rows))
    places = [head.index(name) for name in code_columns([n for n in head if not n.endswith("_label")])]
    values = [head.index(name) for name in measures]
    return {tuple(row[place] for place in places): tuple(row[place] for place in values) for row in rows}


READERS: dict[str, Callable[[Path, str, tuple[str, ...]], Cells]] = {
    "csv": from_csv,
    "csvw": from_csvw,
    "sdmx-csv": from_sdmx_csv,
    "sdmx-ml": from_sdmx_ml,
    "json-stat": from_json_stat,
    "px": from_px,
    "xlsx": from_xlsx,
}
ALL_CELLS = {"json-stat", "px"}
formats = pytest.mark.parametrize("form", READERS)


def place(folder: Path, form: str) -> Path:
    return folder / ("out.xlsx" if form == "xlsx" else "out")


def test_every_format_is_read_back() -> None:
    assert set(READERS) == set(TABLE_FORMATS.names())


@formats
@pytest.mark.parametrize("zeros", [False, True])
def test_every_value_and_code_comes_back(form: str, zeros: bool, plain: Release, tmp_path: Path) -> None:
    out = place(tmp_path, form)
    found = dc.convert(plain, form, out, zeros=zeros)
    assert found.tables == ("1", "9.2")
    for table in found.tables:
        expected = published(plain, table)
        back = READERS[form](out, table, ("value",))
        assert {cell: value for cell, value in back.items() if value != (0,)} == expected
        if zeros or form in ALL_CELLS:
            assert len(back) == {"1": 5 * 3, "9.2": 3}[table]


@formats
def test_intervals_contain_the_published_count_and_labels_are_those_of_the_programme(
    form: str, plain: Release, tmp_path: Path
) -> None:
    out = place(tmp_path, form)
    labels = form != "sdmx-csv"
    dc.convert(plain, form, out, intervals=True, labels=labels, tables=["1"], language="de")
    back = READERS[form](out, "1", ("value", "lower", "upper"))
    assert {cell: value[:1] for cell, value in back.items() if value[0]} == published(plain, "1")
    for value, lower, upper in back.values():
        assert 0 <= lower <= max(value, 0) <= upper
        if value > 20:
            # 1.96 standard deviations of sqrt(2), which is published as 1.4 and may be 1.45.
            assert (value - lower, upper - value) == (3, 3)
    written = b"".join(path.read_bytes() for path in (out.iterdir() if out.is_dir() else ()))
    if form not in {"xlsx", "sdmx-csv"}:
        assert "Männer".encode() in written
        assert "Østby".encode() in written
        assert b"women" not in written


@formats
def test_what_a_spreadsheet_would_run_comes_back_or_is_refused(form: str, strange: Release, tmp_path: Path) -> None:
    out = place(tmp_path, form)
    if form.startswith("sdmx"):
        with pytest.raises(dc.InputError, match=r"SDMX cannot contain the code '=1\+1' of ODD"):
            dc.convert(strange, form, out)
        assert list(tmp_path.iterdir()) == []
        return
    dc.convert(strange, form, out, labels=True)
    back = READERS[form](out, "1", ("value",))
    assert {cell: value for cell, value in back.items() if value != (0,)} == published(strange, "1")
    if form in {"csv", "csvw"}:
        lines = (out / "1.csv").read_text(encoding="utf-8").splitlines()
        fields = [field for line in csv.reader(lines) for field in line]
        assert not [field for field in fields if field[:1] in {"=", "@", "\t"}]
        assert "-9" in fields
        assert "'=label" in fields


def test_weighted_counts_come_back(tmp_path: Path, engine: DuckDB) -> None:
    release = released(PLAIN, tmp_path / "rel", engine, weight="W")
    for form, read in READERS.items():
        out = place(tmp_path / form, form)
        (tmp_path / form).mkdir()
        dc.convert(release, form, out, tables=["1"])
        back = read(out, "1", ("value", "weighted"))
        expected = published(release, "1", ("value", "weighted"))
        assert {cell: value for cell, value in back.items() if value != (0, 0)} == expected


def test_a_release_in_memory_gives_the_same_files(plain: Release, tmp_path: Path, engine: DuckDB) -> None:
    mechanism = dc.CellKey(dc.PTable.max_entropy(variance=2, bound=5), secret=SECRET)
    held = dc.protect(persons(), PLAIN, mechanism, id="ID", engine=engine)
    dc.convert(held, "csv", tmp_path / "held")
    dc.convert(plain, "csv", tmp_path / "folder")
    for path in (tmp_path / "held").iterdir():
        assert path.read_bytes() == (tmp_path / "folder" / path.name).read_bytes()


def test_sdmx_structures_are_read_by_another_library_with_hierarchies_and_languages(
    plain: Release, tmp_path: Path
) -> None:
    dc.convert(plain, "sdmx-ml", tmp_path / "out", language="de")
    message: Any = sdmx.read_sdmx(io.BytesIO((tmp_path / "out" / "structures.xml").read_bytes()))
    assert set(message.dataflow) == {"T_1", "T_9_2"}
    areas = message.codelist["CL_GEO"]
    assert {code.id: code.parent.id for code in areas if code.id != "_T"} == {
        "001": "_T",
        "002": "_T",
        "001_1": "001",
        "001_2": "001",
    }
    assert str(areas["002"].name) == "Insel"
    data: Any = sdmx.read_sdmx(
        io.BytesIO((tmp_path / "out" / "1.xml").read_bytes()), structure=message.structure["DSD_T_1"]
    )
    values = {codes: (int(value),) for codes, value in sdmx.to_pandas(data.data[0]).items()}
    expected = {tuple(code.replace(".", "_") for code in cell): value for cell, value in published(plain, "1").items()}
    assert values == expected
    dc.convert(plain, "sdmx-csv", tmp_path / "csv")
    lines = io.BytesIO((tmp_path / "csv" / "1.csv").read_bytes())
    again: Any = sdmx.reader.csv.Reader().convert(lines, structure=message.structure["DSD_T_1"])
    assert {codes: (int(value),) for codes, value in sdmx.to_pandas(again.data[0]).items()} == expected
    flags = message.codelist["CL_FLAG"]
    assert [str(code.name) for code in flags] == ["confidential", "unreliable", "revised", "see information attached"]
    # Noise alone sets no flag.
    assert b"FLAG" not in (tmp_path / "out" / "1.xml").read_bytes()


def test_hierarchies_stand_in_px_and_json_stat(plain: Release, tmp_path: Path) -> None:
    dc.convert(plain, "px", tmp_path / "px", tables=["1"])
    dc.convert(plain, "json-stat", tmp_path / "json", tables=["1"])
    text = (tmp_path / "px" / "1.px").read_text(encoding="utf-8")
    assert 'HIERARCHIES("Area")="_T",\n"_T":"001",\n"_T":"002",\n"001":"001.1",\n"001":"001.2";' in text
    assert "typical change of a count (root mean square): 1.4" in text
    category = json.loads((tmp_path / "json" / "1.json").read_text(encoding="utf-8"))["dimension"]["GEO"]["category"]
    assert category["child"] == {"_T": ["001", "002"], "001": ["001.1", "001.2"]}


# --- What cannot be ---


def refused(release: Release, form: str, tmp_path: Path, match: str, **how: Any) -> None:  # noqa: ANN401 - as in convert
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(dc.InputError, match=match):
        dc.convert(release, form, place(tmp_path, form), **how)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("form", ["px", "sdmx-csv", "sdmx-ml"])
def test_a_table_without_variables_is_refused_where_a_format_needs_one(
    form: str, tmp_path: Path, engine: DuckDB
) -> None:
    alone = Programme("alone", {"SEX": SEX}, (Table("1", (by(SEX),)), Table("all", ())))
    (tmp_path / "in").mkdir()
    release = released(alone, tmp_path / "in" / "rel", engine)
    refused(release, form, tmp_path, r"cannot contain table all, which has no variable\. Exclude it \(--tables\)")
    dc.convert(release, "csv", tmp_path / "csv")
    assert (tmp_path / "csv" / "all.csv").read_text() == f'"value"\n{release.table("all")["value"][0]}\n'


@each(
    ("form", "topics", "match"),
    [
        (
            "px",
            [topic("A", "A", ("a", "", "same", "x"), ("b", "", "same", "y"))],
            r"two categories of A with the label 'same' \(a and b\)",
        ),
        ("px", [topic("A", "A", ("a", "", 'with "quotes"', "x"))], "cannot contain the text 'with \"quotes\"' of A"),
        (
            "px",
            [topic("A", "Same", ("a", "", "a", "x")), topic("B", "Same", ("b", "", "b", "x"))],
            "two variables named 'Same'",
        ),
        ("sdmx-ml", [topic("Ä", "A", ("a", "", "a", "x"))], "SDMX cannot contain a variable named 'Ä'"),
        ("sdmx-csv", [topic("A", "A", ("ä b", "", "a", "x"))], "SDMX cannot contain the code 'ä b' of A"),
        ("sdmx-csv", [topic("A", "A", ("a.b", "", "a", "x"), ("a_b", "", "b", "x"))], "two codes a_b of A"),
        (
            "csv",
            [topic("A", "A", ("a", "", "a", "x")), topic("A_label", "L", ("b", "", "b", "x"))],
            "two columns named A_label",
        ),
    ],
)
def test_what_a_format_cannot_contain_is_refused_with_the_first_example(
    form: str, topics: list[Topic], match: str, tmp_path: Path, engine: DuckDB
) -> None:
    bad = Programme("bad", {each.name: each for each in topics}, (Table("1", tuple(map(by, topics))),))
    data = pa.table({each.name: [(each.levels[-1].codes or ("",))[0]] * 5 for each in topics})
    release = dc.protect(data, bad, dc.Exact(), engine=engine)
    refused(release, form, tmp_path, match, labels=True)


def test_more_rows_than_a_sheet_has_are_refused_naming_csv(
    plain: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx_workbook, "MOST_ROWS", 3)
    refused(plain, "xlsx", tmp_path, r"table 1 with \d+ rows; a sheet can have 3\. Use csv")


def test_a_bad_request_is_refused_before_anything_is_written(plain: Release, tmp_path: Path) -> None:
    for how, match in (
        ({"language": "fr"}, r"language of the programme.*'fr'.*en.*de"),
        ({"tables": ["8.*"]}, "8"),
    ):
        refused(plain, "csv", tmp_path, match, **how)
    with pytest.raises(dc.InputError, match=r"json-statt.*json-stat"):
        dc.convert(plain, "json-statt", tmp_path / "out")
    with pytest.raises(dc.InputError, match=r"ends with \.xlsx"):
        dc.convert(plain, "xlsx", tmp_path / "out")
    with pytest.raises(dc.InputError, match="its folder does not exist"):
        dc.convert(plain, "csv", tmp_path / "no" / "out")
    with pytest.raises(dc.InputError, match="would become part of the release"):
        dc.convert(plain, "csv", (plain.path or tmp_path) / "more")
    dc.convert(plain, "csv", tmp_path / "out")
    with pytest.raises(dc.InputError, match=r"exists already\. Choose another name\.$"):
        dc.convert(plain, "px", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("table_form", FORMATS)
def test_a_damaged_release_is_refused(form: str, table_form: str, tmp_path: Path, engine: DuckDB) -> None:
    (tmp_path / "in").mkdir()
    release = released(PLAIN, tmp_path / "in" / "rel", engine, form=table_form)
    path = tmp_path / "in" / "rel" / release.files["9.2"]
    path.write_bytes(path.read_bytes()[:-1])
    refused(release, form, tmp_path, r"9\.2\.\w+ that is damaged or was changed")
    path.unlink()
    refused(release, form, tmp_path, r"no file tables/9\.2\.\w+ that can be read")


def test_a_full_disk_leaves_nothing(plain: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(json_stat, "_described", fail)
    refused(plain, "json-stat", tmp_path, "No space left on device")


def test_one_identifier_of_sdmx_for_two_topics_is_refused(tmp_path: Path, engine: DuckDB) -> None:
    first = topic("A.B", "First", ("1", "", "men", "x"), ("2", "", "women", "x"))
    second = topic("A_B", "Second", ("1", "", "young", "x"), ("2", "", "old", "x"))
    tables = (Table("a", (by(first),)), Table("b", (by(second),)))
    both = Programme("both", {"A.B": first, "A_B": second}, tables)
    release = dc.protect(pa.table({"A.B": ["1"] * 5, "A_B": ["2"] * 5}), both, dc.Exact(), engine=engine)
    for form in ("sdmx-csv", "sdmx-ml"):
        refused(release, form, tmp_path, r"A_B for two variables, of A\.B and of A_B")
    for name in ("ACTION", "FLAG", "OBS_VALUE"):
        odd = topic(name, name, ("1", "", "a", "x"))
        taken = Programme("taken", {name: odd}, (Table("1", (by(odd),)),))
        made = dc.protect(pa.table({name: ["1"] * 5}), taken, dc.Exact(), engine=engine)
        refused(made, "sdmx-csv", tmp_path, f"two components named {name}")


def test_characters_that_xml_cannot_contain_are_refused(tmp_path: Path, engine: DuckDB) -> None:
    odd = topic("A", "A", ("a", "", "lab\x01el", "x"))
    labelled = Programme("p", {"A": odd}, (Table("1", (by(odd),)),))
    release = dc.protect(pa.table({"A": ["a"]}), labelled, dc.Exact(), engine=engine)
    refused(release, "sdmx-ml", tmp_path, r"the character '\\x01'")
    dc.convert(release, "csv", tmp_path / "csv")


def test_labels_in_one_language_alone_are_declared_in_it(tmp_path: Path, engine: DuckDB) -> None:
    tree = CategoryTree("A", (Category("a", "", {"de": "Gebiet"}), Category("b")))
    german = Topic("A", levels_by_depth("A", [tree.cut(1)]), tree, {"de": "Merkmal"})
    labelled = Programme("p", {"A": german}, (Table("1", (by(german),)),))
    release = dc.protect(pa.table({"A": ["a"]}), labelled, dc.Exact(), engine=engine)
    dc.convert(release, "px", tmp_path / "px")
    assert 'LANGUAGE="de"' in (tmp_path / "px" / "1.px").read_text(encoding="utf-8")
    dc.convert(release, "sdmx-ml", tmp_path / "ml")
    assert '<com:Name xml:lang="de">Gebiet' in (tmp_path / "ml" / "structures.xml").read_text(encoding="utf-8")


def test_weighted_counts_alone_have_no_intervals(tmp_path: Path, engine: DuckDB) -> None:
    (tmp_path / "in").mkdir()
    release = released(PLAIN, tmp_path / "in" / "rel", engine, weight="W", weighted_only=True)
    refused(release, "csv", tmp_path, "Weighted counts have no intervals", intervals=True)
    dc.convert(release, "json-stat", tmp_path / "json", tables=["1"])
    assert "times the mean weight of its cell" in (tmp_path / "json" / "1.json").read_text(encoding="utf-8")


def test_sheets_and_files_of_odd_names_can_be_read(tmp_path: Path, engine: DuckDB) -> None:
    ids = ["abcdefghijabcdefghijabcdefghij'x", "abcdefghijabcdefghijabcdefghij'y", "'", "a/b #1", "HISTORY"]
    odd = Programme("odd", {"SEX": SEX}, tuple(Table(name, (by(SEX),)) for name in ids))
    release = dc.protect(persons(), odd, dc.Exact(), engine=engine)
    dc.convert(release, "xlsx", tmp_path / "odd.xlsx")
    book = openpyxl.load_workbook(tmp_path / "odd.xlsx", read_only=True)
    assert len(book.sheetnames) == 2 + len(ids)
    dc.convert(release, "csvw", tmp_path / "csvw")
    described = json.loads((tmp_path / "csvw" / "csv-metadata.json").read_text(encoding="utf-8"))
    assert all((tmp_path / "csvw" / unquote(each["url"])).is_file() for each in described["tables"])


def test_px_has_hierarchies_only_below_a_total(tmp_path: Path, engine: DuckDB) -> None:
    without = Breakdown("GEO", "GEO", GEO.levels, total=False)
    spec = Programme("p", {"GEO": GEO}, (Table("1", (without,)),))
    dc.convert(dc.protect(persons(), spec, dc.Exact(), engine=engine), "px", tmp_path / "px")
    assert "HIERARCHIES" not in (tmp_path / "px" / "1.px").read_text(encoding="utf-8")


def test_a_release_that_lists_no_file_of_a_table_is_refused(tmp_path: Path, engine: DuckDB) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "rel" / "release.json"
    released(PLAIN, path.parent, engine)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "files": content["files"][:1]}), encoding="utf-8")
    for form in READERS:
        refused(dc.open_release(path.parent), form, tmp_path, r"lists no file of table 9\.2")


def test_more_cells_than_can_be_laid_out_are_refused(
    plain: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published_table, "MOST_CELLS", 14)
    for form, how in (("px", {}), ("json-stat", {}), ("csv", {"zeros": True})):
        refused(plain, form, tmp_path, r"Table 1 has 15 cells including zeros; the maximum is 14", **how)
    dc.convert(plain, "csv", tmp_path / "out")
