"""A user's programme: what is read, and how mistakes are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.errors import ProgrammeFileError
from discreet.programme.lattice import lattice
from discreet.programme.programme_files import read_programme
from tests.each import each

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
name = "Small town"

[topics.SEX]
categories = ["F", "M"]

[topics.AGE]
label = {en = "Age", fr = "Âge"}
hierarchy = [["Y", "", "young"], ["O", "", "old"], ["01", "Y"], ["02", "Y"], ["03", "O"]]
breakdowns = {L = 1}

[topics.GEO]
hierarchy = "areas.csv"

[topics.EDU]
sizes = [3, 11]

[columns]
AGE = "age_group"

[[tables]]
id = "1"
columns = ["GEO", "SEX", "AGE"]

[[tables]]
id = "2"
columns = ["SEX", "AGE.L", "EDU"]

[[tables]]
id = "3"
columns = ["GEO", "EDU"]
unit = "households"
universe = "SEX = F"
"""
AREAS = "code,parent,label.en,label.fr\nN,,North,Nord\nS,,South,Sud\nN1,N,Hill,Colline\nN2,N,,\nS1,S,,\n"


def written(folder: Path, text: str = GOOD, areas: str = AREAS) -> Path:
    (folder / "areas.csv").write_text(areas, encoding="utf-8")
    (folder / "town.toml").write_text(text, encoding="utf-8")
    return folder / "town.toml"


def test_a_programme_is_read_whole(tmp_path: Path) -> None:
    made = read_programme(written(tmp_path))
    assert made.name == "Small town"
    assert {name: [(v.name, v.size) for v in topic.levels] for name, topic in made.topics.items()} == {
        "SEX": [("SEX", 2)],
        "AGE": [("AGE.L", 2), ("AGE", 3)],
        "GEO": [("GEO:1", 2), ("GEO", 3)],
        "EDU": [("EDU:1", 3), ("EDU", 11)],
    }
    age = made.topics["AGE"]
    assert age.column == "age_group"
    assert age.labels == {"en": "Age", "fr": "Âge"}
    assert age.levels[1].codes == ("01", "02", "03")
    geo = made.topics["GEO"].tree
    assert geo
    assert geo.categories[0].labels == {"en": "North", "fr": "Nord"}
    assert [table.population for table in made.tables] == ["persons", "persons", "households where SEX = F"]
    assert set(lattice(made).names()) >= {"total", "AGE.L EDU:1 SEX", "AGE GEO:1"}


MISTAKES = {
    "unknown breakdown": (
        '"SEX", "AGE.L"',
        '"SEX", "AGE.M"',
        "line 27: table 2 uses the unknown breakdown 'AGE.M'. Did you mean AGE.L",
    ),
    "unknown topic": ('["GEO", "EDU"]', '["GEOS", "EDU"]', "unknown breakdown 'GEOS'. Did you mean GEO"),
    "topic twice": ('"AGE.L", "EDU"', '"AGE.L", "AGE"', "Table 2 uses topic AGE twice"),
    "no columns": ('columns = ["GEO", "EDU"]\n', "", "table 3 has no columns"),
    "unknown key": ("label = {en", "lable = {en", "line 8: topic AGE has the unknown key 'lable'. Did you mean label"),
    "unknown head": ('name = "Small town"', 'nome = "Small town"', "line 2: the unknown key 'nome'. Did you mean name"),
    "unknown column": ('AGE = "age_group"', 'AGES = "age_group"', "unknown topic 'AGES'. Did you mean AGE"),
    "cycle": (
        '["Y", "", "young"]',
        '["Y", "01", "young"]',
        "line 7: Topic AGE: the parents of categories form a cycle",
    ),
    "orphan": (
        '["01", "Y"]',
        '["01", "YY"]',
        "category '01' has the parent 'YY', which does not exist. Did you mean Y",
    ),
    "two parents": ('["03", "O"]', '["03", "O"], ["03", "Y"]', "category '03' has two parents"),
    "no categories": ('categories = ["F", "M"]', "categories = []", "line 4: Topic SEX has no categories"),
    "zero categories": ("sizes = [3, 11]", "sizes = [0, 11]", "Topic EDU has a level with no categories"),
    "falling sizes": ("sizes = [3, 11]", "sizes = [11, 3]", "sizes of levels must increase from coarse to fine"),
    "odd sizes": ("sizes = [3, 11]", 'sizes = ["a"]', "size must be a whole number"),
    "nothing said": ("sizes = [3, 11]", "", "topic EDU does not define its categories. Add categories"),
    "odd hierarchy": ('["01", "Y"]', '"01"', "is not .code, parent, label."),
    "odd breakdowns": ("{L = 1}", "{L = 0}", "Give each a depth from 1 on"),
    "no csv": ('"areas.csv"', '"area.csv"', "area.csv cannot be read: No such file or directory. The path is relative"),
    "same id": ('id = "2"', 'id = "1"', "Table 1 is defined twice"),
    "categories as text": ('categories = ["F", "M"]', 'categories = "FM"', "categories must be a list of texts"),
    "categories as number": (
        'categories = ["F", "M"]',
        "categories = 5",
        "line 4: topic SEX: categories must be a list",
    ),
    "no sizes": ("sizes = [3, 11]", "sizes = []", "Topic EDU has 0 levels; it must have 1 to 100"),
    "two kinds": ("sizes = [3, 11]", 'sizes = [3, 11]\ncategories = ["a"]', "topic EDU has categories and sizes"),
    "too deep a cut": ("{L = 1}", "{L = 9}", "breakdown AGE.L is also a topic, or has depth 9 of 2"),
    "nested columns": ('["GEO", "EDU"]', '[["GEO"]]', "table 3: columns must be a list of texts"),
    "columns as text": ('["GEO", "EDU"]', '"GEO"', "line 30: table 3: columns must be a list of texts"),
    "unit as number": ('unit = "households"', "unit = 5", "table 3: unit must be text"),
    "bound to a number": ('AGE = "age_group"', "AGE = 5", "must bind topics to columns by name"),
    "blank name": ("[topics.EDU]", '["topics"."E DU"]', "'E DU' is not a valid name of a topic|unknown"),
    "universe of an unknown topic": (
        "SEX = F",
        "SEXX = F",
        "line 33: Universe of table 3: There is no topic 'SEXX'. Did",
    ),
    "universe of an unknown code": ("SEX = F", "SEX != W", "line 33: .* no category of topic SEX with the code 'W'"),
    "universe of an unknown sign": (
        "SEX = F",
        "SEX ~ F",
        "line 33: .* 'SEX ~ F' cannot be read: at position 5, before",
    ),
    "universe without records": ("SEX = F", "SEX = F and SEX = M", "line 33: .* no record satisfies"),
    "universe without codes": ("SEX = F", "EDU = 1", "line 33: .* topic EDU has no list of categories"),
    "universe that counts": (
        '"SEX = F"',
        '"SEX ~ F"\ncount = "JOB"',
        "line 33: .*'SEX ~ F and \"JOB\" = 1' cannot be read",
    ),
    "areas of an unknown topic": (
        'name = "Small town"',
        'name = "Small town"\nareas = "GOE"',
        "line 3: The areas are declared as 'GOE'. There is no topic 'GOE'. Did you mean GEO",
    ),
    "areas as a list": ('name = "Small town"', 'areas = ["GEO"]', "line 2: areas must be the name of a topic"),
    "notes": ('name = "Small town"', 'notes = "abc"', "notes must be a list of texts"),
    "no toml": ("[topics.SEX]", "[topics.SEX", "is not TOML: .*line 4"),
    "tables as one": ("[[tables]]", "[tables]", "is not TOML|tables must be written"),
}


@each("name", MISTAKES)
def test_a_mistake_is_named_with_file_line_and_spelling(tmp_path: Path, name: str) -> None:
    old, new, message = MISTAKES[name]
    assert old in GOOD
    with pytest.raises(ProgrammeFileError, match=message) as caught:
        read_programme(written(tmp_path, GOOD.replace(old, new, 1)))
    assert str(caught.value).startswith(("town.toml", "areas.csv"))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_hierarchy_may_have_another_delimiter(tmp_path: Path, mark: str) -> None:
    usual = read_programme(written(tmp_path)).topics["GEO"]
    # A comma in a label needs no quotes then, and the delimiter does.
    text = AREAS.replace(",", mark).replace("Nord", f'"Nord{mark} Norden, nördlich"')
    (tmp_path / "areas.csv").write_text(text, encoding="utf-8-sig")
    found = read_programme(tmp_path / "town.toml").topics["GEO"]
    assert found.tree == usual.tree
    assert found.tree
    assert found.tree.categories[0].labels["fr"] == f"Nord{mark} Norden, nördlich"


def test_a_hierarchy_in_another_encoding_is_refused_with_the_first_byte(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "areas.csv").write_bytes("code,parent,label\nN,,Nord\nS,,Süd\n".encode("latin-1"))
    with pytest.raises(ProgrammeFileError, match=r"areas.csv, line 3: byte 31 of the file is not text in UTF-8"):
        read_programme(path)


def test_an_empty_programme_and_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProgrammeFileError, match="has no tables"):
        read_programme(written(tmp_path, 'name = "x"'))
    with pytest.raises(ProgrammeFileError, match="cannot be read: No such file"):
        read_programme(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ProgrammeFileError, match="not text in UTF-8"):
        read_programme(tmp_path / "b.toml")
    with pytest.raises(ProgrammeFileError, match=r"areas\.csv, line 3: has a different number of fields"):
        read_programme(written(tmp_path, areas="code,parent\nN,\nS,,x,y\n"))
    (tmp_path / "areas.csv").write_bytes("code,parent\nÄ,\n".encode("latin-1"))
    with pytest.raises(ProgrammeFileError, match=r"areas\.csv, line 2: byte 13 of the file is not text in UTF-8"):
        read_programme(tmp_path / "town.toml")
    with pytest.raises(ProgrammeFileError, match=r"areas\.csv, line 1: needs the columns code, parent"):
        read_programme(written(tmp_path, areas="kode,parent\nN,\n"))


def test_a_size_beyond_any_classification_is_refused(tmp_path: Path) -> None:
    text = '[topics.A]\nsize = %d\n[[tables]]\nid = "1"\ncolumns = ["A"]\n'
    (tmp_path / "x.toml").write_text(text % 10**12, encoding="utf-8")
    assert read_programme(tmp_path / "x.toml").topics["A"].levels[0].size == 10**12
    (tmp_path / "x.toml").write_text(text % (10**12 + 1), encoding="utf-8")
    with pytest.raises(ProgrammeFileError, match="more than 1,000,000,000,000 categories"):
        read_programme(tmp_path / "x.toml")
