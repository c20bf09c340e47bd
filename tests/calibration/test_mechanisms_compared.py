"""Mechanisms by name, each with the requested noise, and reproducible with a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pytest

from discreet.calibration.mechanisms_compared import contenders
from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.noise.by_name import distribution_names
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.laplace import Laplace
from discreet.tabulation.static_output import output_of
from tests.attacks.scenes import town_release
from tests.protection.town import SEX, all_cells, people
from tests.quick import one_in
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from discreet.calibration.mechanisms_compared import ComparedMechanism
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

GEO = topic("GEO", {"d1": "", "d2": "", "v10": "d1", "v20": "d2", "v21": "d2"})
SMALL = programme([GEO, SEX], [by(GEO), by(SEX)], [by(SEX)])
PERSONS = people(400)
PERSONS = PERSONS.filter([code in {"v10", "v20", "v21"} for code in PERSONS["GEO"].to_pylist()])
EVERY = [each.name for each in contenders(None, keyed=True)]
PAIRS = ["cell-key:geometric", "fresh:laplace", "coordinates:truncated-gaussian", "eps-dp:geometric", "max-entropy"]
VARIANCE = 10 / 3
"""That of uniform noise has steps, E (E + 1) / 3; here it has one nearby."""


def made(each: ComparedMechanism, *, variance: float = VARIANCE, seed: int = 1, keyed: bool = True) -> Mechanism:
    return each.at(variance, 7, output_of(SMALL), keyed=keyed, seed=seed)


def publish(mechanism: Mechanism, engine: Engine) -> Release:
    return town_release(mechanism, engine=engine, programme=SMALL, data=PERSONS)


def named(name: str) -> ComparedMechanism:
    (found,) = contenders([name], keyed=True)
    return found


# --- Names ---


@pytest.mark.parametrize(
    ("name", "keyed", "mechanism", "law"),
    [
        ("cell-key", True, "cell-key", "max-entropy"),
        ("fresh", True, "fresh", "max-entropy"),
        ("eps-dp", False, "eps-dp", "geometric"),
        ("eps-dp:geometric", True, "eps-dp", "geometric"),
        ("geometric", True, "cell-key", "geometric"),
        ("geometric", False, "coordinates", "geometric"),
        ("max-entropy", False, "coordinates", "max-entropy"),
        ("fresh:laplace", True, "fresh", "laplace"),
        ("coordinates:uniform", True, "coordinates", "uniform"),
    ],
)
def test_a_name_is_a_mechanism_a_law_or_both(name: str, *, keyed: bool, mechanism: str, law: str) -> None:
    (found,) = contenders([name], keyed=keyed)
    assert (found.name, found.mechanism, found.law) == (name, mechanism, law)


def test_by_default_there_is_every_mechanism_and_every_law_once() -> None:
    found = contenders(None, keyed=True)
    assert {each.mechanism for each in found} == set(MECHANISMS.names()) - {"exact"}
    assert {each.law for each in found} == set(distribution_names())
    assert len({(each.mechanism, each.law) for each in found}) == len(found)
    without = contenders(None, keyed=False)
    assert {each.mechanism for each in without} == set(MECHANISMS.names()) - {"exact", "cell-key"}
    assert {each.law for each in without} == set(distribution_names())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["cel-key"], r"no mechanism or noise distribution 'cel-key'\. Did you mean cell-key"),
        (["geometrik"], r"no mechanism or noise distribution 'geometrik'\. Did you mean geometric"),
        (["exact"], r"no mechanism or noise distribution 'exact'\. .*Available: cell-key, coordinates, fresh, eps-dp"),
        (["fresh:laplac"], r"no noise distribution of fresh 'laplac'\. Did you mean laplace"),
        (["fresh:"], r"no noise distribution of fresh ''\. Available: max-entropy"),
        ([":laplace"], r"no mechanism or noise distribution ''"),
        (["cell-key", "frehs:laplace"], r"no mechanism or noise distribution 'frehs'\. Did you mean fresh"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(names: list[str], message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        contenders(names, keyed=True)


@pytest.mark.parametrize(
    ("names", "keyed", "message"),
    [
        ([], True, "No mechanism to compare is given"),
        (["fresh", "geometric", "fresh"], True, "fresh is given twice"),
        (["cell-key"], False, "Give --id or --key, or compare coordinates"),
        (["cell-key:laplace"], False, "Give --id or --key, or compare coordinates"),
        (["eps-dp:laplace"], True, "eps-dp has the noise distribution geometric, not laplace"),
        (
            ["geometric:fresh"],
            True,
            "geometric is a noise distribution. Put the mechanism before it, as in fresh:geometric",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(names: list[str], *, keyed: bool, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        contenders(names, keyed=keyed)


# --- Noise ---


@pytest.mark.parametrize("name", one_in(4, [*EVERY, *PAIRS]))
def test_each_has_the_variance_and_with_its_seed_the_same_noise_again(name: str, engine: Engine) -> None:
    each = named(name)
    one, same, other = (publish(made(each, seed=seed), engine) for seed in (1, 1, 2))
    record = one.record
    assert (record.mechanism, record.law) == (each.mechanism, each.law)
    nearby = 4.0 if each.law == "uniform" else VARIANCE
    assert record.variance == pytest.approx(nearby, rel=1e-6)
    assert record.bound in {7, math.inf} or each.law == "uniform"
    assert record.spsn == (each.mechanism != "fresh")
    assert all_cells(one) == all_cells(same)
    assert all_cells(one) != all_cells(other)


@pytest.mark.parametrize("name", EVERY)
def test_more_variance_is_more_noise(name: str) -> None:
    each = named(name)
    narrow, wide = (
        made(each, variance=v).ready_for(output_of(SMALL)).described()["parameters"] for v in (1.0, 1.3**2 * 4)
    )
    assert narrow != wide


def test_a_budget_is_that_of_one_count_times_the_counts_of_a_person(engine: Engine) -> None:
    release = publish(made(named("eps-dp")), engine)
    privacy = release.record.privacy
    assert privacy
    # The total, districts, villages, and each of them by sex.
    assert privacy["sensitivity"] == 6
    each = privacy["epsilon"] / 6
    q = math.exp(-each)
    assert 2 * q / (1 - q) ** 2 == pytest.approx(VARIANCE, rel=1e-6)


def test_without_keys_a_law_goes_by_coordinates(engine: Engine) -> None:
    (each,) = contenders(["laplace"], keyed=False)
    one, same = (publish(made(each, keyed=False), engine) for _ in range(2))
    assert (one.record.mechanism, one.record.law) == ("coordinates", "laplace")
    assert all_cells(one) == all_cells(same)


@pytest.mark.parametrize("name", ["truncated-laplace", "fresh:truncated-gaussian", "cell-key", "coordinates"])
def test_a_variance_that_does_not_fit_in_the_bound_is_refused_by_name(name: str) -> None:
    # Uniform noise with bound 7 has variance 7 * 8 / 3.
    with pytest.raises(
        ParameterError, match=rf"^{name}: The noise distribution .* with bound 7 has a variance below 18\.7, .* 19"
    ):
        made(named(name), variance=19.0)


def test_all_noises_equally_likely_are_the_most_that_a_bound_holds(engine: Engine) -> None:
    release = publish(made(named("cell-key"), variance=7 * 8 / 3), engine)
    assert release.record.variance == pytest.approx(7 * 8 / 3)


@pytest.mark.parametrize("variance", [0, -1, math.nan, math.inf, 1e12, 1e-12])
@pytest.mark.parametrize("name", EVERY)
def test_a_variance_that_no_noise_has_is_refused_at_once(name: str, variance: float) -> None:
    with pytest.raises(ParameterError, match=rf"^{name}: noise: variance must be a positive number"):
        made(named(name), variance=variance)


@pytest.mark.parametrize("bound", [0, -3, 501])
def test_a_bound_that_no_table_has_is_refused(bound: int) -> None:
    with pytest.raises(ParameterError, match=r"^cell-key: noise: bound must be a positive whole number"):
        named("cell-key").at(2.0, bound, output_of(SMALL), keyed=True, seed=1)


# --- What is added later joins by itself ---


@dataclass(frozen=True, kw_only=True)
class Rounded(Laplace):
    """A noise distribution that is not part of the package."""

    name: ClassVar[str] = "unheard-of"


def test_a_new_law_is_compared_without_a_word_about_it(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    monkeypatch.setitem(DISTRIBUTIONS.known, Rounded.name, Rounded)
    assert contenders(None, keyed=True)[-1].name == Rounded.name
    both = [publish(made(named(name)), engine) for name in (Rounded.name, f"fresh:{Rounded.name}")]
    for release in both:
        assert release.record.law == Rounded.name
        assert release.record.variance == pytest.approx(VARIANCE, rel=1e-6)
