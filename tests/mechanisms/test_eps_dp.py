"""Differentially private outputs: exact noise on every cell, within a budget that the record tells."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.errors import InternalError, ParameterError
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.exact_samplers import ExactGeometric
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.random_bits import SYSTEM_BITS, SeededBits
from discreet.protection.pipeline import protect
from discreet.release.record import Record, record_from_json
from discreet.tabulation.static_output import output_of
from tests.each import each
from tests.mechanisms.lots import batch
from tests.noise.goodness import ACCEPT, REJECT, p_value
from tests.protection.town import AGE, SEX, TOWN, cells, listed, people
from tests.tabulation.small_data import by, programme

if TYPE_CHECKING:
    from discreet.engines.duckdb import DuckDB

SPEC = programme([SEX, AGE], [by(SEX)], [by(AGE), by(SEX)])
OUTPUT = output_of(SPEC)
WEIGHTED = Budget(4.0, weights={"1": 1, "2": 3})
SIZE = 20_000


def noise(
    mechanism: EpsDP, table: str, number: int, count: int = 0
) -> tuple[float, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the epsilon of a statistic of a table, and noise drawn for it."""
    shown = OUTPUT.statistics[table][number]
    ready = mechanism.ready_for(OUTPUT)
    published = ready.publish(batch(np.full(SIZE, count), table=table, statistics=[shown[1]]))
    return ready.spent[table, shown], published - count


@each("count", [0, 1, 12])
@each("budget", [Budget(3.0), WEIGHTED, Budget(per_table={"1": 0.5, "2": 2.0})])
@each("spsn", [True, False])
def test_every_count_has_geometric_noise_of_its_epsilon(spsn: bool, budget: Budget, count: int) -> None:
    for table, number in (("1", 0), ("2", 0), ("2", -1)):
        epsilon, drawn = noise(EpsDP(budget, spsn=spsn, bits=SeededBits(7)), table, number, count)
        assert p_value(drawn, TwoSidedGeometric(epsilon=epsilon)) > ACCEPT
        for factor in (1.3, 1 / 1.3):
            assert p_value(drawn, TwoSidedGeometric(epsilon=factor * epsilon)) < REJECT


def test_noise_is_drawn_exactly() -> None:
    epsilon, drawn = noise(EpsDP(Budget(3.0), bits=SeededBits(8)), "1", 0)
    assert np.array_equal(drawn, ExactGeometric(epsilon).sample(SIZE, SeededBits(8)))
    assert EpsDP(Budget(3.0)).bits is SYSTEM_BITS


def test_a_person_more_changes_what_a_count_shows_by_no_more_than_its_epsilon() -> None:
    # Exactly: the thresholds of the sampler are those of F, so that published counts have the probabilities of the law.
    epsilon, _ = noise(EpsDP(Budget(3.0), bits=SeededBits(1)), "1", 0)
    sampler, bits = ExactGeometric(epsilon), 400

    def chance(count: int, shown: int) -> int:
        return sampler.floor(shown - count, bits) - sampler.floor(shown - count - 1, bits)

    for count in (0, 1, 5):
        for shown in range(-40, 41):
            one, more = chance(count, shown), chance(count + 1, shown)
            # Whole parts of multiples of 2^-400: two units of it do not matter.
            assert max(one, more) <= math.exp(epsilon) * min(one, more) * (1 + 1e-12)
    # The ratio is reached: less would not do.
    assert chance(0, 0) / chance(1, 0) == pytest.approx(math.exp(epsilon))


def test_a_person_more_is_seen_no_more_than_the_budget_allows() -> None:
    # All counts of a person together, the total and her sex: the likelihood ratio of what is published stays within
    # e^eps, whatever it is, and comes close to it.
    mechanism = EpsDP(Budget(1.0)).ready_for(output_of(programme([SEX], [by(SEX)])))
    laws = [TwoSidedGeometric(epsilon=epsilon) for epsilon in mechanism.spent.values()]
    assert len(laws) == 2
    shown = np.arange(-30, 31)
    with_her = laws[0].log_pmf(shown - 1)[:, None] + laws[1].log_pmf(shown - 1)[None, :]
    without = laws[0].log_pmf(shown)[:, None] + laws[1].log_pmf(shown)[None, :]
    assert abs(with_her - without).max() == pytest.approx(mechanism.epsilon)


@each("spsn", [True, False])
@each("budget", [Budget(3.0), WEIGHTED, Budget(per_table={"*": 1.5})])
def test_the_record_tells_the_promise_and_what_it_rests_on(spsn: bool, budget: Budget) -> None:
    mechanism = EpsDP(budget, spsn=spsn).ready_for(OUTPUT)
    record = Record(programme="x", **mechanism.described())
    assert record_from_json(record.to_json(), Path("record.json")) == record
    assert (record.mechanism, record.law, record.spsn, record.zeros_are_noisy) == ("eps-dp", "geometric", spsn, True)
    promise = record.privacy
    assert promise
    assert promise["epsilon"] == pytest.approx(3.0 if budget.epsilon != 4.0 else 4.0)
    assert promise["delta"] == 0
    assert promise["sensitivity"] == OUTPUT.sensitivity(spsn=spsn)
    assert promise["smallest_epsilon_of_a_count"] == min(mechanism.spent.values())
    # Risk is that of the count with least noise.
    assert record.parameters == {"epsilon": max(mechanism.spent.values())}
    assert promise.get("tables") == (None if budget == Budget(3.0) else budget.of_tables(OUTPUT))
    told = record.public()
    assert told["privacy"] == {name: promise[name] for name in ("epsilon", "delta", "condition")}
    assert "for one person added or removed" in told["privacy"]["condition"]
    assert told["method"] == "random noise within a privacy budget"


def test_every_cell_has_noise_empty_ones_too(engine: DuckDB) -> None:
    mechanism = EpsDP(Budget(0.1 * output_of(TOWN).sensitivity(spsn=True)), bits=SeededBits(3))
    release = protect(people(5), TOWN, mechanism, engine=engine)
    for table in TOWN.tables:
        found = cells(release.table(table.id))
        # In table 5 the universe leaves nobody to the code 3.
        every = [cell for cell in listed(table) if table.id != "5" or "3" not in cell]
        # With epsilon 0.1 one of twenty is published as 0; nearly all cells are empty.
        assert 0.75 * len(every) < len(found) <= len(every)
    assert release.record.privacy
    assert release.record.privacy["epsilon"] == pytest.approx(mechanism.budget.epsilon)
    assert release.description["noise"]["privacy"]["delta"] == 0


def test_what_cannot_be_drawn_is_refused_before_anything_is_counted(engine: DuckDB) -> None:
    with pytest.raises(ParameterError, match=r"epsilon of one count, 1\.7e-06, is too small"):
        EpsDP(Budget(1e-5)).ready_for(OUTPUT)
    told: list[str] = []
    with pytest.raises(ParameterError, match="is too small: values beyond"):
        protect(people(5), TOWN, EpsDP(Budget(1e-5)), engine=engine, progress=lambda stage, *_: told.append(stage))
    assert set(told) <= {"reading"}


def test_a_budget_that_is_not_split_is_our_mistake() -> None:
    with pytest.raises(InternalError, match="The budget has not been split over an output"):
        EpsDP(Budget(1.0)).spent  # noqa: B018 - asking is what fails


def test_it_needs_neither_key_nor_secret_and_may_be_made_ready_again() -> None:
    mechanism = EpsDP(Budget(3.0))
    assert (mechanism.needs_keys, mechanism.secret, mechanism.perturbs_zeros) == (False, None, True)
    ready = mechanism.ready_for(OUTPUT)
    assert mechanism.output is None
    other = ready.ready_for(output_of(programme([SEX], [by(SEX)])))
    assert set(other.spent.values()) == {1.5}
    assert replace(ready, spsn=False).epsilon == pytest.approx(3.0)
