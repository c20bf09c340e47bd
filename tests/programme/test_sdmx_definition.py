"""Programmes from SDMX data structure definitions: what becomes a topic, and what is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from discreet.errors import ProgrammeFileError, UnknownNameError
from discreet.programme.programme_files import load_programme
from discreet.programme.sdmx_definition import programme_from_dsd
from tests.each import each

DATA = Path(__file__).parents[1] / "data" / "sdmx"
TOWN_21 = (DATA / "town-2.1.xml").read_text(encoding="utf-8")
TOWN_30 = (DATA / "town-3.0.xml").read_text(encoding="utf-8")


def saved(folder: Path, text: str) -> Path:
    path = folder / "town.xml"
    path.write_text(text, encoding="utf-8")
    return path


def without(kind: str, text: str = TOWN_21) -> str:
    """Return a message without its elements of one kind."""
    made = re.sub(rf"<str:{kind}[ >].*?</str:{kind}>", "", text, flags=re.DOTALL)
    assert made != text
    return made


def changed(old: str, new: str, text: str = TOWN_21) -> str:
    assert old in text
    return text.replace(old, new)


def test_a_definition_in_2_1_becomes_one_table() -> None:
    made = programme_from_dsd(DATA / "town-2.1.xml")
    assert made.name == "Persons of the town"
    (table,) = made.tables
    assert table.id == "TOWN"
    assert [b.code for b in table.breakdowns] == ["AREA", "SEX", "AGE"]
    assert {name: [level.codes for level in topic.levels] for name, topic in made.topics.items()} == {
        "AREA": [("01", "02", "T")],
        "SEX": [("F", "M")],
        "AGE": [("Y_LT30", "Y_GE30"), ("Y0-14", "Y15-29", "Y_GE30")],
    }
    assert [level.name for level in made.topics["AGE"].levels] == ["AGE:1", "AGE"]


def test_a_definition_in_3_0_becomes_one_table() -> None:
    made = programme_from_dsd(DATA / "town-3.0.xml")
    assert {name: [level.codes for level in topic.levels] for name, topic in made.topics.items()} == {
        "SEX": [("F", "M")],
        "EDU": [("LOW", "HIGH"), ("ED1", "ED2", "HIGH")],
    }


def test_names_are_kept_in_every_language() -> None:
    sex = programme_from_dsd(DATA / "town-2.1.xml").topics["SEX"]
    assert sex.labels == {"en": "Sex", "fr": "Sexe"}
    assert sex.tree is not None
    assert sex.tree.categories[0].labels == {"en": "Female", "fr": "Femme"}
    assert programme_from_dsd(DATA / "town-3.0.xml").topics["EDU"].labels == {"en": "Education"}


def test_the_notes_say_what_was_left_out() -> None:
    notes = programme_from_dsd(DATA / "town-2.1.xml").notes
    assert "From the data structure definition TST:TOWN(1.0)." in notes
    assert "Dimensions excluded because they have no code list with categories: TIME_PERIOD." in notes
    assert "Codes interpreted as the total, not as a category: T (SEX), TOTAL (AGE)." in notes
    assert not any("seldom" in note for note in notes)
    assert any(
        note.endswith("categories: STATUS, TIME_PERIOD.") for note in load_programme(f"sdmx:{DATA}/town-3.0.xml").notes
    )


def test_dimensions_that_seldom_break_down_units_are_noted(tmp_path: Path) -> None:
    made = programme_from_dsd(saved(tmp_path, changed('Dimension id="SEX"', 'Dimension id="FREQ"')))
    assert "Dimensions used as breakdowns, although they rarely describe units: FREQ." in made.notes


def test_a_dimension_with_nothing_but_a_total_is_left_out(tmp_path: Path) -> None:
    made = programme_from_dsd(saved(tmp_path, re.sub(r'<str:Code id="[FM]">.*?</str:Code>', "", TOWN_21)))
    assert list(made.topics) == ["AREA", "AGE"]
    assert "Dimensions excluded because they have no code list with categories: SEX, TIME_PERIOD." in made.notes


def test_a_total_below_another_code_is_a_category(tmp_path: Path) -> None:
    parent = '<str:Parent><Ref id="F"/></str:Parent></str:Code>'
    text = re.sub(r'(<str:Code id="T"><com:Name xml:lang="en">Total.*?)</str:Code>', rf"\1{parent}", TOWN_21)
    assert programme_from_dsd(saved(tmp_path, text)).topics["SEX"].levels[-1].codes == ("T", "M")


def test_a_measure_dimension_is_left_out_with_a_note(tmp_path: Path) -> None:
    concept = re.search(r"<str:ConceptIdentity>.*?</str:ConceptIdentity>", TOWN_21)
    assert concept
    measure = (
        f'<str:MeasureDimension id="WHAT" position="4">{concept[0]}<str:LocalRepresentation><str:Enumeration>'
        '<Ref id="CS_TOWN" agencyID="TST" version="1.0" package="conceptscheme" class="ConceptScheme"/>'
        "</str:Enumeration></str:LocalRepresentation></str:MeasureDimension>"
    )
    made = programme_from_dsd(saved(tmp_path, changed("<str:TimeDimension", f"{measure}<str:TimeDimension")))
    assert "WHAT" not in made.topics
    assert any(note.endswith("categories: WHAT, TIME_PERIOD.") for note in made.notes)


def in_latin_1(text: str) -> bytes:
    return text.replace("UTF-8", "ISO-8859-1").replace("Female", "Féminin").encode("latin-1")


@each(
    "content",
    [
        TOWN_21.partition("\n")[2].encode(),
        TOWN_21.replace("A made-up town", "A made-up town " * 100).encode(),
        re.sub(r"(</?)mes:", r"\1", TOWN_21).replace("xmlns:mes", "xmlns").replace("<Ref", '<Ref xmlns=""').encode(),
        TOWN_21.encode("utf-8-sig"),
        TOWN_21.replace("UTF-8", "UTF-16").encode("utf-16"),
        in_latin_1(TOWN_21),
        re.sub(
            r'<Ref id="CL_SEX"[^>]*>',
            "<URN>urn:sdmx:org.sdmx.infomodel.codelist.Codelist=TST:CL_SEX(1.0)</URN>",
            TOWN_21,
        ).encode(),
    ],
    ids=["no declaration", "long comment", "no prefix", "mark", "utf-16", "latin-1", "reference as urn"],
)
def test_other_spellings_give_the_same(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "town.xml"
    path.write_bytes(content)
    assert programme_from_dsd(path) == programme_from_dsd(DATA / "town-2.1.xml")


def test_without_concepts_there_are_no_labels(tmp_path: Path) -> None:
    made = programme_from_dsd(saved(tmp_path, without("ConceptSchemes", TOWN_30)))
    assert list(made.topics) == ["SEX", "EDU"]
    assert made.topics["SEX"].labels == {}


WHOLE = r"Download the definition with all referenced structures"
SECOND = TOWN_21[TOWN_21.index("<str:DataStructure ") : TOWN_21.index("</str:DataStructures>")]


@each(
    ("text", "message"),
    [
        ("", r"town.xml, line 1: is not XML: no element found"),
        (TOWN_21[:1500], r"town.xml, line 2\d: is not XML: .*Download the file again"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "has a document type, which SDMX does not use. Remove it"),
        ("<html/>", "is not an SDMX structure message but 'html'. Give a data structure definition"),
        (
            changed("mes:Structure ", "mes:StructureSpecificData ").replace(
                "/mes:Structure>", "/mes:StructureSpecificData>"
            ),
            "not an SDMX structure message but 'StructureSpecificData'",
        ),
        ("<Structure/>", "cannot be read as an SDMX structure message: .*Check it against the SDMX schema"),
        (changed(' agencyID="TST" version="1.0">', ">"), "message: KeyError 'agencyID'. Check it against"),
        (without("DataStructures"), "town.xml: contains no data structure definition. Give a file with one definition"),
        (without("DataStructures", TOWN_30), "contains no data structure definition"),
        (
            changed("</str:DataStructures>", SECOND.replace('id="TOWN"', 'id="CITY"') + "</str:DataStructures>"),
            r"contains 2 data structure definitions \(TOWN, CITY\). Give a file with one",
        ),
        (without("Codelists"), "contains no code lists. " + WHOLE),
        (without("Codelists", TOWN_30), "contains no code lists. " + WHOLE),
        (changed('Ref id="CL_SEX"', 'Ref id="CL_GENDER"'), r"refers to TST:CL_GENDER\(1.0\), which is not in the file"),
        (
            changed("CL_EDU(1.0.0)", "CL_EDU(1.0+.0)", TOWN_30),
            r"refers to TST:CL_EDU\(1.0\+.0\), which is not in the file",
        ),
        (
            without("Concepts"),
            r"AREA takes its codes from the concept TST:CS_TOWN\(1.0\).AREA, which is not in the file",
        ),
        (
            re.sub(r"<str:Enumeration>.*?</str:Enumeration>", '<str:TextFormat textType="String"/>', TOWN_30),
            "has no dimension with a code list",
        ),
        (
            re.sub(r'(<str:Codelist id="CL_SEX".*?>).*?(</str:Codelist>)', r"\1\2", TOWN_21, flags=re.DOTALL),
            r"dimension SEX has the code list TST:CL_SEX\(1.0\), but the file contains no codes of it. " + WHOLE,
        ),
        (
            re.sub(r'(<str:Codelist id="CL_AREA".*?>).*?(</str:Codelist>)', r"\1\2", TOWN_21, flags=re.DOTALL),
            r"dimension AREA has the code list TST:CL_AREA\(2.0\), but the file contains no codes of it",
        ),
        (
            changed(
                "</str:Codelist>",
                "<str:CodelistExtension><str:Codelist>urn</str:Codelist></str:CodelistExtension></str:Codelist>",
                TOWN_30,
            ),
            "code list CL_SEX extends another one, which is not supported. Download the code list with all its codes",
        ),
        (
            changed('<Ref id="TOTAL"/>', '<Ref id="Y0-14"/>'),
            "town.xml: Topic AGE: the parents of categories form a cycle, Y_LT30 -> Y0-14 -> Y_LT30",
        ),
        (changed(">_T<", ">ED1<", TOWN_30), "Topic EDU: the parents of categories form a cycle, LOW -> ED1 -> LOW"),
        (
            changed('<Ref id="Y_LT30"/>', '<Ref id="Y_LT3O"/>'),
            "has the parent 'Y_LT3O', which does not exist. Did you mean Y_LT30",
        ),
        (changed('Code id="M"', 'Code id="F"'), "Topic SEX: category 'F' is given twice"),
    ],
)
def test_what_is_no_definition_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, text)
    with pytest.raises(ProgrammeFileError, match=message) as caught:
        programme_from_dsd(path)
    assert caught.value.path == path


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ProgrammeFileError, match=r"none.xml: cannot be read: No such file or directory\. Check the path"
    ):
        load_programme(f"sdmx:{tmp_path}/none.xml")


def test_without_the_library_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysdmx.io", None)
    with pytest.raises(ProgrammeFileError, match=r"needs the package pysdmx .* pip install 'discreet\[sdmx\]'"):
        programme_from_dsd(DATA / "town-2.1.xml")


def test_load_programme_knows_the_prefix() -> None:
    assert load_programme(f"sdmx:{DATA / 'town-2.1.xml'}") == programme_from_dsd(DATA / "town-2.1.xml")
    with pytest.raises(UnknownNameError, match=r"'sdmy'. Did you mean sdmx\?"):
        load_programme("sdmy:town.xml")
