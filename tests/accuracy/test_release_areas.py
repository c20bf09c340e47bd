"""The areas of a release: which topic they are, and their counts by sex."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from discreet.accuracy.release_areas import NO_AREAS, AreaFinder
from discreet.accuracy.release_utility import utility
from discreet.accuracy.table_pairs import TablePairs
from discreet.errors import ProgrammeError, UnknownNameError
from discreet.mechanisms.exact import Exact
from discreet.programme.programme_files import load_programme
from discreet.programme.selection import area_topic, choose_tables
from discreet.protection.pipeline import protect
from discreet.release.true_tables import TrueTables
from tests.accuracy.small_release import PEOPLE, small_release
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.accuracy.release_areas import ReleaseAreas
    from discreet.engines.engine import Engine
    from discreet.release.release import Release


def areas(release: Release, asked: str | None = None) -> ReleaseAreas:
    finder = AreaFinder(release.programme, asked)
    for table in TablePairs(release, TrueTables(release)):
        finder.look_at(table.statistics)
    found = finder.found()
    assert found
    return found


def test_counts_are_by_sex_and_in_all(tmp_path: Path) -> None:
    found = areas(small_release(tmp_path))
    assert (found.topic, found.codes, found.women_first) == ("AREA", ("north", "south", "west"), True)
    true = found.counts("true")
    by_hand = [[sum(p[:2] == (a, s) for p in PEOPLE) for a in found.codes] for s in ("f", "m")]
    assert true[:2].tolist() == by_hand
    assert (true[0] + true[1] == true[2]).all()
    assert np.abs(found.counts("published") - true).max() <= 3


def test_another_topic_can_be_named_and_has_no_sexes_if_no_table_shows_them(tmp_path: Path) -> None:
    found = areas(small_release(tmp_path), "AGE")
    assert (found.topic, len(found.codes)) == ("AGE", 3)
    assert found.counts("true").shape == (3, 3)


def test_sexes_can_be_the_areas_themselves(tmp_path: Path) -> None:
    found = areas(small_release(tmp_path), "SEX")
    assert (found.codes, found.sexes) == (("f", "m"), None)
    assert found.counts("true").shape == (1, 2)


def test_the_finest_areas_are_taken_and_named() -> None:
    assert area_topic(load_programme("eu2021:LU")) == "GEO"
    assert area_topic(load_programme("eu2021:LU"), "SEX") == "SEX"


@pytest.mark.parametrize(
    ("names", "found"),
    [
        # 91 ages are no areas.
        ("SEX AGE", None),
        ("GEO.L AGE", "GEO.L"),
        ("AGE nuts_3", "nuts_3"),
        ("AGE LSOA21CD", "LSOA21CD"),
        ("AGE State COUNTY", "COUNTY"),
        ("AGE current_province", "current_province"),
        ("AGE Municipality", "Municipality"),
        ("AGE WARD.H", "WARD.H"),
        ("AGE GEO_DISTRICTS", "GEO_DISTRICTS"),
        # Words within other words, and places that are not where people live.
        ("AGE REWARD STATUS FORWARDS", None),
        ("AGE REGION_OF_BIRTH MARITAL_STATE PLACE_OF_WORK", None),
    ],
)
def test_the_topic_of_areas_is_recognised_by_its_name_alone(names: str, found: str | None) -> None:
    topics = [topic(name, " ".join(map(str, range(2 + n)))) for n, name in enumerate(names.split())]
    tables = programme([*topics, topic("YEARS", " ".join(map(str, range(91))))], [by(each) for each in topics])
    assert area_topic(tables) == found


def test_a_declared_topic_comes_before_a_name_and_one_asked_for_before_both() -> None:
    geo, home = topic("GEO", "a b c"), topic("HOME", "x y")
    tables = programme([geo, home], [by(geo)], [by(home)])
    assert area_topic(replace(tables, areas="HOME")) == "HOME"
    assert area_topic(replace(tables, areas="HOME"), "GEO") == "GEO"
    assert area_topic(replace(tables, areas="")) is None
    # The declared topic is not among the tables that are left: no other takes its place.
    assert area_topic(choose_tables(replace(tables, areas="HOME"), ["1"], None)) is None
    assert area_topic(choose_tables(replace(tables, areas="HOME"), ["2"], None)) == "HOME"
    with pytest.raises(ProgrammeError, match=r"areas are declared as 'GOE'. There is no topic 'GOE'. Did you mean GEO"):
        replace(tables, areas="GOE")


def test_without_a_topic_of_areas_there_are_no_figures_on_areas(engine: Engine) -> None:
    sex, age = topic("SEX", "f m"), topic("AGE", "1 2 3 4 5 6 7 8")
    people = pa.table({"SEX": ["f", "m"] * 40, "AGE": [str(n % 8 + 1) for n in range(80)]})
    release = protect(people, programme([sex, age], [by(sex), by(age)]), Exact(), keep_exact=True, engine=engine)
    found = utility(release)
    assert (found.areas, found.small_areas) == (None, None)
    assert found.cells
    assert found.cells.ranks is None
    assert not any("area" in each.name or "area" in each.sentence for each in found.results)
    assert found.to_json()["areas"] is None
    assert NO_AREAS in found.warnings
    named = utility(release, areas="AGE")
    assert named.areas
    assert len(named.areas.codes) == 8
    assert NO_AREAS not in named.warnings


def test_an_unknown_topic_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="GEO"):
        area_topic(load_programme("eu2021:LU"), "GEOO")


@pytest.mark.parametrize(
    ("categories", "women"),
    [('["f", "m"]', 0), ('["m", "f"]', 1), ('["1", "2"]', 1), ('[["1", "", "Women"], ["2", "", "Men"]]', 0)],
)
def test_women_are_told_by_word_or_code(tmp_path: Path, categories: str, women: int, engine: Engine) -> None:
    kind = "hierarchy" if '""' in categories else "categories"
    text = f"""
name = "Sexes"
[topics.SEX]
{kind} = {categories}
[topics.AREA]
categories = ["a", "b"]
[[tables]]
id = "1"
columns = ["AREA", "SEX"]
"""
    (tmp_path / "sexes.toml").write_text(text)
    spec = load_programme(tmp_path / "sexes.toml")
    codes = list(spec.topics["SEX"].levels[0].codes or ())
    # Eight women and three men.
    sex = [codes[women]] * 8 + [codes[1 - women]] * 3
    frame = pa.table({"AREA": ["a"] * 11, "SEX": sex})
    found = areas(protect(frame, spec, Exact(), keep_exact=True, engine=engine))
    assert found.counts("true")[:, 0].tolist() == [8, 3, 11]
