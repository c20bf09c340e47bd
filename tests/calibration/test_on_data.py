from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.calibration.comparison import try_on_data
from discreet.calibration.noise_design import design
from discreet.calibration.recommendation import Setting
from tests.tabulation.small_data import by, programme, topic

SEX = topic("SEX", "f m")
AGE = topic("AGE", "0 1 2 3 4")
PLACE = topic("PLACE", "a b c d e g")
TOWN = programme([SEX, AGE, PLACE], [by(SEX), by(AGE), by(PLACE)], [by(PLACE), by(SEX)])


@pytest.fixture(scope="module")
def people() -> pa.Table:
    random = np.random.default_rng(5)
    columns = {t.name: random.choice(t.levels[0].codes or (), 400) for t in (SEX, AGE, PLACE)}
    return pa.table({**columns, "id": np.arange(400)})


def test_a_release_is_attacked_and_measured(people: pa.Table) -> None:
    found = try_on_data(people, TOWN, Setting(2.0, 5), id="id")
    assert found.mechanism == "cell-key"
    told = [each.name for each in found.headlines()]
    # The better of the two attacks on all counts comes first.
    best = {each.name: each.value for each in found.results if each.name.endswith("projection")}
    assert told[0] == max(best, key=best.__getitem__)
    assert any(name.endswith("single persons") for name in told) or "1" not in told
    assert {"expected_absolute_distance", "totals_apart"} <= set(told)


def test_more_noise_is_seen_on_the_data(people: pa.Table) -> None:
    little, much = (
        {each.name: each.value for each in try_on_data(people, TOWN, Setting(*it), id="id").results}
        for it in ((0.5, 3), (9.0, 9))
    )
    assert little["projection"] > much["projection"]
    assert little["expected_absolute_distance"] < much["expected_absolute_distance"]


def test_counts_without_keys_get_noise_by_coordinates(people: pa.Table) -> None:
    assert try_on_data(people, TOWN, Setting(2.0, 5)).mechanism == "coordinates"


def test_the_same_data_give_the_same_figures(people: pa.Table) -> None:
    one, other = (try_on_data(people, TOWN, Setting(2.0, 5), id="id") for _ in range(2))
    assert one.results == other.results


def test_a_design_tries_what_it_recommends(people: pa.Table) -> None:
    found = design(TOWN, data=people, id="id", cuts=0)
    made = found.recommendation
    assert made
    assert made.on_data
    assert made.on_data.results == try_on_data(people, TOWN, made.setting, id="id").results
    assert found.results[-1] in made.on_data.results


def test_nothing_is_tried_where_nothing_is_left(people: pa.Table) -> None:
    found = design(TOWN, data=people, id="id", cuts=0, max_bound=1, targets={"averaging": 0.5, "bound": 0.5})
    assert found.recommendation is None
    assert found.warnings[-1] == "The data were not used, because no setting satisfies all constraints."
