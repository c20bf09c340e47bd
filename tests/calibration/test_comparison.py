"""Mechanisms side by side: what is held equal is equal, and every figure is that of the release itself."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.accuracy import release_utility
from discreet.accuracy.release_utility import utility
from discreet.attacks.attack_run import attack
from discreet.calibration.comparison import COMPARED_ATTACKS, MEASURES, compare
from discreet.calibration.mechanisms_compared import contenders
from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from discreet.risk.assessment import assess
from discreet.tabulation.static_output import output_of
from tests.protection.town import AGE, EMP, GEO, SEX, people, squares
from tests.tabulation.small_data import by, programme

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discreet.calibration.comparison import Comparison
    from discreet.release.release import Release

SHARING = programme([GEO, AGE, SEX, EMP], [by(GEO, 4), by(SEX)], [by(GEO, 4), by(AGE, 1, 1)], [by(SEX), by(AGE, 1, 1)])
"""Three tables of which any two share a margin, so that independent noise in each discloses more."""
PERSONS = people(200)
NAMES = ["cell-key", "geometric", "fresh", "eps-dp", "coordinates:truncated-laplace", "fresh:laplace"]


@pytest.fixture(scope="module", autouse=True)
def _few_tables() -> Iterator[None]:
    """Simulate tests with few tables: here it matters that they are, not how well they do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 30)
        yield


def run(names: list[str] | None = None, **how: Any) -> Comparison:  # noqa: ANN401 - as in compare
    return compare(PERSONS, SHARING, names, **{"id": "ID", "budget": None, **how})


@pytest.fixture(scope="module")
def equal_variance() -> Comparison:
    return run(NAMES, variance=2.5, bound=6, seed=4)


@pytest.fixture(scope="module")
def equal_risk() -> Comparison:
    return run(NAMES, variance=2.5, bound=6, at="equal-risk", attacks=())


def success(found: Comparison) -> list[float]:
    figures = found.figures("averaging_success")
    assert figures
    return figures


# --- What is held equal ---


def test_at_equal_variance_all_have_it(equal_variance: Comparison) -> None:
    assert [each.record.variance for each in equal_variance.compared] == [pytest.approx(2.5, rel=1e-6)] * len(NAMES)
    assert [each.record.bound for each in equal_variance.compared] == [6, math.inf, 6, math.inf, 6, math.inf]
    assert equal_variance.warnings == ()


def test_a_ptable_from_a_file_comes_first_and_the_others_have_its_variance(tmp_path: Path) -> None:
    write_ptable(PTable.max_entropy(variance=1.7, bound=4), tmp_path / "t.txt", "sas")
    found = run(["fresh", "geometric"], ptable=tmp_path / "t.txt", attacks=())
    assert [each.name for each in found.compared] == ["p-table", "fresh", "geometric"]
    assert [each.record.variance for each in found.compared] == [pytest.approx(1.7, rel=1e-4)] * 3
    assert [each.record.bound for each in found.compared] == [4, 4, math.inf]
    assert found.compared[0].record.ptable_text
    (tmp_path / "none.csv").write_text("i,j,v,p,lower,upper\n0,0,0,1,0,10\n1,1,0,1,0,10\n")
    with pytest.raises(ParameterError, match="has no random noise"):
        run(["fresh"], ptable=tmp_path / "none.csv", attacks=())


def test_at_equal_risk_the_closed_formula_says_so(equal_risk: Comparison, equal_variance: Comparison) -> None:
    assert success(equal_risk) == [pytest.approx(success(equal_risk)[0], rel=1e-6)] * len(NAMES)
    # At equal variance noise of its own in every table is the greater risk.
    one, *_, other = success(equal_variance)
    assert other > one + 0.02
    assert success(equal_risk)[0] == pytest.approx(one)


def test_at_equal_risk_fresh_noise_must_be_wider(equal_risk: Comparison) -> None:
    by_name = {each.name: each.record for each in equal_risk.compared}
    shared = [record.variance for record in by_name.values() if record.spsn]
    own = [record.variance for record in by_name.values() if not record.spsn]
    assert len(shared) == 4
    assert shared == [pytest.approx(2.5, rel=1e-6)] * 4
    assert own == [pytest.approx(own[0], rel=1e-6)] * 2
    assert own[0] > 1.05 * 2.5
    # The bound grows with the standard deviation, and not beyond the next whole number.
    assert by_name["cell-key"].bound == 6
    assert by_name["fresh"].bound == math.ceil(6 * math.sqrt(own[0] / 2.5))


def test_the_first_is_what_the_others_are_made_equal_to() -> None:
    found = run(["fresh", "cell-key"], variance=2.5, bound=6, at="equal-risk", attacks=())
    fresh, shared = (each.record.variance for each in found.compared)
    assert fresh == pytest.approx(2.5)
    assert shared < fresh / 1.05
    assert success(found)[0] == pytest.approx(success(found)[1], rel=1e-6)


def test_a_law_whose_variance_goes_in_steps_is_noted() -> None:
    # Uniform noise with bounds 2 and 3 has variances 2 and 4.
    found = run(["cell-key", "uniform"], variance=2.5, attacks=())
    assert found.compared[1].record.variance == pytest.approx(2)
    (warning,) = found.warnings
    assert warning == (
        "uniform has variance 2 instead of 2.5, because its noise distribution has discrete variances. "
        "This is the nearest."
    )
    assert run(["cell-key", "uniform"], variance=2.0, attacks=()).warnings == ()


# --- Figures ---


def release_of(name: str, *, seed: int) -> Release:
    """Return the release that a contender made, by protect itself."""
    (each,) = contenders([name], keyed=True)
    mechanism = each.at(2.5, 6, output_of(SHARING), keyed=True, seed=seed)
    return protect(PERSONS, SHARING, mechanism, id="ID" if mechanism.needs_keys else None, keep_exact=True)


@pytest.mark.parametrize("name", ["cell-key", "fresh", "eps-dp"])
def test_figures_are_those_of_the_release_itself(equal_variance: Comparison, name: str) -> None:
    (found,) = (each for each in equal_variance.compared if each.name == name)
    release = release_of(name, seed=4)
    expected = [
        *assess(release, measures=MEASURES).results,
        *attack(release, attacks=COMPARED_ATTACKS, budget=None, seed=4, predict=False).results,
    ]
    singles = [each for each in found.risk if each.name.endswith("single persons")]
    assert list(found.risk) == [*expected, *singles]
    assert found.utility == utility(release, seed=4).results
    assert found.record == release.record


@pytest.mark.parametrize("name", ["cell-key", "eps-dp"])
def test_success_on_single_persons_is_counted_by_hand(equal_variance: Comparison, name: str) -> None:
    (found,) = (each for each in equal_variance.compared if each.name == name)
    report = attack(release_of(name, seed=4), attacks=COMPARED_ATTACKS, budget=None, seed=4, predict=False)
    assert found.find("projection: single persons")
    for outcome in report.outcomes:
        assert outcome.score
        alone = (outcome.score.actual == 1) & outcome.score.once
        result = found.find(f"{outcome.finding.name}: single persons")
        assert (result is not None) == alone.any()
        if result is None:
            continue
        assert result.value == pytest.approx((outcome.finding.estimate[alone] == 1).mean())
        assert f"of {alone.sum():,} singleton cells are recovered exactly" in result.sentence
        assert result.assumptions == outcome.finding.assumptions


def test_a_comparison_can_be_run_again_and_another_seed_differs(equal_variance: Comparison) -> None:
    again, other = (run(["cell-key", "fresh"], variance=2.5, bound=6, seed=seed) for seed in (4, 5))
    before = [each for each in equal_variance.compared if each.name in {"cell-key", "fresh"}]
    for one, same, different in zip(before, again.compared, other.compared, strict=True):
        assert one.to_json() == same.to_json()
        assert one.value("mean_absolute_distance") != different.value("mean_absolute_distance")
        # What the law alone decides stays.
        assert one.value("averaging_success") == different.value("averaging_success")


@pytest.mark.slow
def test_30_percent_more_noise_is_far_beyond_the_error_of_the_mean() -> None:
    """The mean distance has the standard error sqrt(Var |x| / cells), at most sqrt(V / cells)."""
    topics, cells, variance = squares(25), 26 * 26, 4.0
    random = np.random.default_rng(5)
    codes = {each.name: random.choice(each.levels[-1].codes or (), 15_000) for each in topics}
    frame = pa.table({"ID": np.arange(15_000), **codes})
    given, names = programme(topics, [by(each) for each in topics]), ["cell-key", "geometric", "fresh"]
    usual, wider = (
        compare(frame, given, names, variance=v, bound=9, id="ID", attacks=()).figures("mean_absolute_distance")
        for v in (variance, 1.3**2 * variance)
    )
    assert usual
    assert wider
    for one, other in zip(usual, wider, strict=True):
        assert other - one > 4 * math.sqrt(2 * variance / cells)


def test_a_figure_is_found_by_name_and_of_several_the_largest(equal_variance: Comparison) -> None:
    first, *_ = equal_variance.compared
    singles = ("projection: single persons", "margins: posterior: single persons")
    values = [first.value(each) for each in singles]
    assert first.value(*singles) == max(value for value in values if value is not None)
    assert first.value("no such figure") is None
    assert equal_variance.figures("mean_absolute_distance") == [
        each.value("mean_absolute_distance") for each in equal_variance.compared
    ]
    # The membership advantage of a budget is called otherwise, so that not all have it.
    assert equal_variance.figures("no such figure") is None


def test_results_bear_the_names_of_their_mechanisms(equal_variance: Comparison) -> None:
    names = [result.name for result in equal_variance.results]
    assert len(names) == len(set(names)) == sum(len(each.risk + each.utility) for each in equal_variance.compared)
    for each in NAMES:
        assert f"{each}: mean_absolute_distance" in names
        assert f"{each}: averaging_success" in names
        assert f"{each}: projection" in names


def test_sentences_have_the_figures(equal_variance: Comparison, equal_risk: Comparison) -> None:
    assert equal_variance.opening().startswith(
        "6 mechanisms on small, at equal variance 2.5 of the noise of large counts"
    )
    assert "optimal linear attack, that on cell-key with variance 2.5" in equal_risk.opening()
    told = " ".join(equal_variance.sentences())
    # Over all draws of the noise: one draw would rank laws that are the same.
    shares = {each.name: each.value("expected_relative_distance") or 0.0 for each in equal_variance.compared}
    for word, pick in (("smallest", min), ("largest", max)):
        name = pick(shares, key=lambda each: shares[each])
        assert f"{word} under {name} ({shares[name]:.1%})" in told
    right = equal_variance.figures("projection")
    assert right
    assert f"recovers {min(right):.1%} of" in told
    assert f"{max(right):.1%} under" in told
    (private,) = (each for each in equal_variance.compared if each.name == "eps-dp")
    assert private.record.privacy
    assert (
        f"eps-dp uses a privacy budget of epsilon {private.record.privacy['epsilon']:.3g} for the whole output" in told
    )
    assert "Unbounded noise: geometric, eps-dp, fresh:laplace." in told
    # Without attacks the sentences do not mention them.
    assert not [each for each in equal_risk.sentences() if "linear attack" in each]


def test_laws_that_are_the_same_are_not_ranked() -> None:
    found = run(["cell-key", "coordinates", "max-entropy"], attacks=())
    distances = found.figures("mean_relative_distance")
    assert distances
    assert len(set(distances)) > 1
    share = found.compared[0].value("expected_relative_distance")
    assert f"The mean relative error of published counts is {share:.1%} under all mechanisms." in found.sentences()


def test_json_has_the_record_and_both_lists(equal_variance: Comparison) -> None:
    for each, name in zip(equal_variance.compared, NAMES, strict=True):
        told = each.to_json()
        assert list(told) == [
            "name", "mechanism", "law", "parameters", "spsn", "variance", "bound", "risk", "utility",
        ]  # fmt: skip
        assert told["name"] == name
        assert told["bound"] == (None if math.isinf(each.record.bound) else 6)
        assert len(told["risk"]) == len(each.risk)


# --- Options ---


def test_attacks_can_be_left_out_or_chosen(equal_risk: Comparison) -> None:
    assert all(each.value("projection") is None for each in equal_risk.compared)
    (one,) = run(["cell-key"], attacks=["averaging"]).compared
    assert one.value("averaging: plain") is not None
    assert one.value("projection") is None


def test_without_keys_laws_go_by_coordinates() -> None:
    found = run(["geometric", "coordinates"], id=None, attacks=())
    assert [each.record.mechanism for each in found.compared] == ["coordinates", "coordinates"]


def test_a_file_of_data_and_of_a_programme_will_do(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        'name = "Files"\n[topics.SEX]\ncategories = ["F", "M"]\n[topics.AREA]\ncategories = ["a", "b"]\n'
        '[[tables]]\nid = "1"\ncolumns = ["AREA", "SEX"]\n'
    )
    rows = itertools.product("ab", "FM", range(6))
    (tmp_path / "p.csv").write_text("ID,AREA,SEX\n" + "".join(f"{a}{s}{n},{a},{s}\n" for a, s, n in rows))
    found = compare(tmp_path / "p.csv", tmp_path / "p.toml", ["cell-key", "fresh"], id="ID", attacks=())
    assert found.programme == "Files"
    assert len(found.compared) == 2


def test_tables_and_areas_can_be_chosen() -> None:
    whole, some = (run(["fresh"], attacks=(), tables=tables) for tables in (None, ["3"]))
    assert some.compared[0].record.definition != whole.compared[0].record.definition
    by_sex = run(["fresh"], attacks=(), areas="SEX")
    assert by_sex.compared[0].value("areas_moved") is not None
    with pytest.raises(UnknownNameError, match="GOE"):
        run(["fresh"], attacks=(), areas="GOE")


def test_progress_is_told_mechanism_by_mechanism() -> None:
    told: list[tuple[str, int, int | None]] = []
    run(["cell-key", "fresh"], attacks=(), progress=lambda *step: told.append(step))
    assert told == [("comparing", 1, 2), ("comparing", 2, 2)]


# --- What is refused ---


@pytest.mark.parametrize(
    ("names", "how", "message"),
    [
        (["cell-key", "truncated-laplace"], {"variance": 14.0, "bound": 6}, r"^truncated-laplace: .*with bound 6"),
        (
            ["geometric", "fresh"],
            {"variance": 15.0, "bound": 6},
            r"^fresh: The noise distribution max-entropy with bound 6 has",
        ),
        (["cell-key"], {"seed": -1}, "seed must be a whole number from 0 on"),
        (["cell-key"], {"id": None}, "Give --id or --key"),
        ([], {}, "No mechanism to compare is given"),
    ],
)
def test_what_cannot_be_is_refused(names: list[str], how: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        run(names, **how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"at": "equal-variances"}, "no condition of a comparison 'equal-variances'. Did you mean equal-variance"),
        ({"attacks": ["projektion"]}, "no attack 'projektion'. Did you mean projection"),
        ({"tables": ["7"]}, "7"),
        ({"names": ["cel-key"]}, "Did you mean cell-key"),
    ],
)
def test_unknown_names_are_refused(how: dict[str, Any], message: str) -> None:
    names = how.pop("names", ["cell-key"])
    with pytest.raises(UnknownNameError, match=message):
        run(names, **how)
