"""Programmes from PX files and as TOML: what an office has already is not typed again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import discreet as dc
from discreet.errors import ProgrammeFileError
from discreet.programme.model import Breakdown, Table
from discreet.programme.programme_files import load_programme, read_programme
from discreet.programme.programme_toml import programme_to_toml
from discreet.programme.px_definition import programme_from_px
from discreet.programme.sdmx_definition import programme_from_dsd
from tests.each import each
from tests.release.formats.test_contract import PLAIN, persons

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB
    from discreet.programme.model import Programme

FILE = """CHARSET="ANSI";
AXIS-VERSION="2013";
CODEPAGE="iso-8859-1";
LANGUAGE="sv";
LANGUAGES="sv","en";
MATRIX="BE01";
TITLE="Folkmängd efter region, kön, tabellinnehåll "
"och år";
TITLE[en]="Population";
STUB="region","civil stånd";
STUB[en]="region","marital status";
HEADING="tabellinnehåll","år";
HEADING[en]="observations","year";
CONTVARIABLE="tabellinnehåll";
VALUES("region")="Riket","Öst","Väst; söder";
VALUES[en]("region")="Sweden","East","West; south";
VALUES("civil stånd")="ogift","gift";
VALUES[en]("marital status")="single","married";
VALUES("tabellinnehåll")="Folkmängd";
VALUES("år")="2021","2022";
TIMEVAL("år")=TLIST(A1),"2021","2022";
CODES("region")="00","01","02";
CODES("civil stånd")="OG","G";
ELIMINATION("region")="Riket";
ELIMINATION("civil stånd")=YES;
DECIMALS=0;
DATA=
1 2 3 4 5 6;
"""


def labels(programme: Programme, topic: str) -> dict[str, dict[str, str]]:
    tree = programme.topics[topic].tree
    assert tree
    return {category.code: dict(category.labels) for category in tree.categories}


def test_variables_codes_and_labels_of_all_languages_are_taken(tmp_path: Path) -> None:
    (tmp_path / "b.px").write_text(FILE, encoding="latin-1")
    found = programme_from_px(tmp_path / "b.px")
    assert found.name == "Folkmängd efter region, kön, tabellinnehåll och år"
    assert list(found.topics) == ["region", "civil_stånd"]
    assert found.topics["civil_stånd"].labels == {"sv": "civil stånd", "en": "marital status"}
    assert labels(found, "region") == {
        "01": {"sv": "Öst", "en": "East"},
        "02": {"sv": "Väst; söder", "en": "West; south"},
    }
    assert labels(found, "civil_stånd")["OG"] == {"sv": "ogift", "en": "single"}
    assert [table.id for table in found.tables] == ["BE01"]
    assert "Excluded: tabellinnehåll, år." in found.notes


def test_what_we_write_as_px_and_sdmx_gives_the_programme_again(tmp_path: Path, engine: DuckDB) -> None:
    release = dc.protect(persons(), PLAIN, dc.Exact(), engine=engine)
    dc.convert(release, "px", tmp_path / "px", tables=["1"])
    found = programme_from_px(tmp_path / "px" / "1.px")
    # PX knows variables by their labels alone.
    assert list(found.topics) == ["Area", "Sex"]
    assert labels(found, "Area") == {code: {"en": text["en"]} for code, text in labels(PLAIN, "GEO").items()}
    assert [(level.size, level.codes) for level in found.topics["Area"].levels] == [
        (level.size, level.codes) for level in PLAIN.topics["GEO"].levels
    ]
    dc.convert(release, "sdmx-ml", tmp_path / "sdmx", tables=["1"], language="de")
    again = programme_from_dsd(tmp_path / "sdmx" / "structures.xml")
    assert [category.code for category in again.topics["GEO"].tree.categories] == ["001", "002", "001_1", "001_2"]  # type: ignore[union-attr]  # it has one
    assert labels(again, "SEX") == {"F": {"de": "Frauen"}, "M": {"de": "Männer"}}


@each("spec", ["eu2021:LU", "plain"])
def test_toml_gives_the_topics_again(spec: str, tmp_path: Path) -> None:
    programme = PLAIN if spec == "plain" else load_programme(spec)
    whole = {name: topic for name, topic in programme.topics.items() if topic.tree}
    tables = tuple(Table(f"t {name}", (Breakdown(name, name, topic.levels),)) for name, topic in whole.items())
    (tmp_path / "p.toml").write_text(
        programme_to_toml(replace(programme, topics=whole, tables=tables)), encoding="utf-8"
    )
    found = read_programme(tmp_path / "p.toml")
    assert list(found.topics) == list(whole)
    for name, topic in whole.items():
        tree = found.topics[name].tree
        assert tree == topic.tree
        assert tree
        assert topic.tree
        assert [category.labels for category in tree.categories] == [c.labels for c in topic.tree.categories]
        assert found.topics[name].labels == topic.labels


@each(
    ("text", "message"),
    [
        ("", "has no keyword DATA"),
        ("DATA=\n1;", "has neither STUB nor HEADING"),
        ('STUB="a";\nDATA=\n1;', "has 0 codes and 0 values of 'a'"),
        ('STUB="a";\nVALUES("a")="x","y";\nCODES("a")="1";\nDATA=\n1;', "has 1 codes and 2 values of 'a'"),
        ('STUB="a";\nVALUES("a")="x","x";\nDATA=\n1;', "'x' is given twice"),
        ('STUB="t";\nVALUES("t")="2021";\nTIMEVAL("t")=TLIST(A1);\nDATA=\n1;', "no variables except time and contents"),
        ('STUB="a";\nnonsense\nDATA=\n1;', r"line 2: is not KEYWORD=values;"),
        ('STUB="a";\nVALUES("a")="x"\nDATA=\n1;', "is not KEYWORD=values;|values of 'a'"),
        ('STUB="a";\nVALUES("a")="x","y";\nHIERARCHIES("a")="x","y":"x","x":"y";\nDATA=\n1;', "x|y"),
    ],
)
def test_a_bad_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "b.px"
    path.write_text(text)
    with pytest.raises(ProgrammeFileError, match=message):
        programme_from_px(path)


def test_no_category_is_taken_for_the_total_that_is_not_named_so(tmp_path: Path) -> None:
    values = 'VALUES("R")="x","","z";CODES("R")="1","2","3";VALUES("A")="YES","NO";ELIMINATION("A")=YES;'
    (tmp_path / "b.px").write_text(f'STUB="R","A";{values}DATA=1;')
    found = programme_from_px(tmp_path / "b.px")
    assert list(labels(found, "R")) == ["1", "2", "3"]
    assert list(labels(found, "A")) == ["YES", "NO"]
