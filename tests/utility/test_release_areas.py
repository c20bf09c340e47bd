"""The areas of a release: which topic they are, and their counts by sex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from discreet.cells.true_tables import TrueTables
from discreet.errors import UnknownNameError
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.protect import protect
from discreet.programme.load import load_programme
from discreet.utility.release_areas import AreaFinder, area_topic
from discreet.utility.side_by_side import SideBySide
from tests.tabulation.small_data import by, programme, topic
from tests.utility.small_release import PEOPLE, small_release

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.base import Engine
    from discreet.release.release import Release
    from discreet.utility.release_areas import ReleaseAreas


def areas(release: Release, asked: str | None = None) -> ReleaseAreas:
    finder = AreaFinder(release.programme, asked)
    for table in SideBySide(release, TrueTables(release)):
        finder.look_at(table.statistics)
    return finder.found()


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


def test_without_a_name_that_tells_it_is_the_topic_with_most_categories() -> None:
    first, second = topic("A", "a b"), topic("B", "x y z")
    assert area_topic(programme([first, second], [by(first), by(second)])) == "B"


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
