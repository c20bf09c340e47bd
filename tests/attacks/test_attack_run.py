"""From a release to scored outcomes: their order, what the attacker knows, and when the truth is read."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.attacks import expected_success
from discreet.attacks.attack_estimates import ATTACKS
from discreet.attacks.attack_report import NOT_SCORED, AttackReport
from discreet.attacks.attack_run import attack
from discreet.attacks.attacker_view import QueryInterface, noise_from_disclosure
from discreet.attacks.scoring import TrueCounts
from discreet.errors import ParameterError, ReleaseError, UnknownNameError
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.random_bits import SeededBits
from discreet.release.release import open_release
from discreet.release.true_tables import TrueTables
from tests.attacks.scenes import town_release
from tests.protection.town import TOWN, people

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attacker_view import AttackerView
    from discreet.engines.engine import Engine
    from discreet.release.release import Release

BOTH = ["averaging", "projection"]
QUICK = ["averaging"]


@pytest.fixture(scope="module", autouse=True)
def _few_draws() -> Iterator[None]:
    """Predict from few draws: here it matters which predictions there are, not how good they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expected_success, "MOST", 3)
        yield


@pytest.fixture(scope="module")
def release(engine: Engine) -> Release:
    return town_release(engine=engine)


@pytest.fixture(scope="module")
def report(release: Release) -> AttackReport:
    return attack(release, attacks=BOTH, budget=None)


@pytest.fixture(scope="module")
def unscored(release: Release) -> AttackReport:
    return attack(replace(release, held_exact=None), attacks=BOTH, budget=None)


def figures(found: AttackReport) -> str:
    """Return the full text of a report."""
    return json.dumps([found.mounted, found.truth, [outcome.to_json() for outcome in found.outcomes]])


# --- Outcomes ---


def test_outcomes_come_with_what_was_learnt_most_first(report: AttackReport) -> None:
    assert [outcome.finding.attack for outcome in report.outcomes].count("averaging") == 3
    assert {outcome.finding.attack for outcome in report.outcomes} == set(BOTH)
    learnt = [outcome.learnt for outcome in report.outcomes]
    assert learnt == sorted(learnt, reverse=True)
    for outcome in report.outcomes:
        assert outcome.score is not None
        naive = outcome.finding.naive
        assert naive is not None
        actual = outcome.score.actual
        once = outcome.score.once & (actual != 0)
        assert outcome.learnt == (outcome.finding.estimate == actual)[once].sum() - (naive == actual)[once].sum()


def test_the_headline_is_about_occupied_cells_with_the_prediction_of_their_classes(report: AttackReport) -> None:
    for outcome in report.outcomes:
        assert outcome.score is not None
        head = outcome.headline()
        occupied = (outcome.score.actual != 0) & outcome.score.once
        assert head.cells == occupied.sum()
        assert head.right == (outcome.finding.estimate == outcome.score.actual)[occupied].sum()
        classes = [share for share in outcome.by_count() if share.name != "0"]
        shares = [share.predicted for share in classes if share.predicted is not None]
        assert len(shares) == len(classes)
        weights = np.array([share.cells for share in classes])
        assert head.predicted == pytest.approx(np.average(shares, weights=weights))
        errors = np.array([share.error for share in classes], dtype=float)
        assert head.error == pytest.approx(np.sqrt(((weights / head.cells * errors) ** 2).sum()))


def test_sentences_and_results_say_the_same(report: AttackReport) -> None:
    for outcome, result in zip(report.outcomes, report.results, strict=True):
        head = outcome.headline()
        assert result.name == outcome.finding.name
        assert result.value == head.achieved
        assert result.sentence == outcome.sentence
        nothing = "No gain over the published counts: " if head.right <= (head.naive or 0) else ""
        many = f"{nothing}{head.right:,} of {head.cells:,} counts above 0 are recovered exactly ("
        assert result.sentence.startswith(many)
        assert f"{head.achieved:.1%}; predicted {head.predicted:.1%}, without the attack" in result.sentence
        assert result.assumptions == outcome.finding.assumptions
    assert str(report) == "\n".join(f"{each.name}: {each.sentence}" for each in report.results)


def test_what_is_printed_as_json(report: AttackReport) -> None:
    found = report.outcomes[0].to_json()
    assert set(found) == {
        *("attack", "variant", "subject", "method", "estimates", "confidence", "certain", "cut_off"),
        *("cells", "cases", "right", "achieved", "interval", "predicted", "predicted_error", "without_attack"),
        *("precision", "precision_interval", "all_cells", "accuracy", "accuracy_interval"),
        *("by_count", "by_statistic"),
    }
    assert sum(share["cells"] for share in found["by_count"]) == found["all_cells"] <= found["estimates"]
    assert all(share["interval"][0] <= share["achieved"] <= share["interval"][1] for share in found["by_count"])
    assert sum(share["cells"] for share in found["by_statistic"]) == found["estimates"]
    assert found["cut_off"] is None
    assert json.loads(json.dumps(found)) == found


def test_without_noise_everything_is_known_and_nothing_is_learnt(engine: Engine) -> None:
    found = attack(town_release(Exact(), engine=engine), attacks=BOTH, budget=None)
    for outcome in found.outcomes:
        assert outcome.headline().achieved == 1
        assert outcome.learnt == 0


# --- Without the truth ---


def test_without_true_counts_nothing_is_scored_and_it_is_said(unscored: AttackReport) -> None:
    assert unscored.truth is None
    assert unscored.warnings == [f"N{NOT_SCORED[1:]}."]
    learnt = [outcome.learnt for outcome in unscored.outcomes]
    assert learnt == sorted(learnt, reverse=True)
    for outcome, result in zip(unscored.outcomes, unscored.results, strict=True):
        assert outcome.score is None
        assert outcome.by_count() == []
        assert NOT_SCORED in result.assumptions
        assert result.value == pytest.approx(outcome.finding.confidence.mean())
        assert result.sentence.endswith(f"the attacker expects {result.value:.1%} to be correct.")
        assert set(outcome.to_json()).isdisjoint({"right", "achieved", "predicted", "by_count"})


def test_the_estimates_do_not_depend_on_whether_the_truth_is_there(
    report: AttackReport, unscored: AttackReport
) -> None:
    with_it = {each.finding.name: each.finding.estimate.tolist() for each in report.outcomes}
    assert with_it == {each.finding.name: each.finding.estimate.tolist() for each in unscored.outcomes}


def test_the_truth_is_not_read_before_scoring(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    read = TrueTables._read  # noqa: SLF001 - the one place where true counts come in

    def noting(self: TrueTables, table: str) -> pa.Table:
        happened.append(f"truth of {table}")
        return read(self, table)

    monkeypatch.setattr(TrueTables, "_read", noting)
    attack(release, attacks=QUICK, budget=None, progress=lambda stage, *_: happened.append(stage))
    assert happened.index("attacking") < happened.index("truth of 1") < happened.index("scoring")
    assert "truth of 1" not in happened[: happened.index("attacking")]
    # Each table is read once, however many findings are scored.
    assert happened.count("truth of 1") == 1


def test_an_attack_cannot_reach_the_truth(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ATTACKS, "known", ATTACKS.all())
    seen: list[AttackerView] = []

    @ATTACKS.register("looking")
    def looking(attacker: AttackerView) -> list[AttackEstimates]:
        seen.append(attacker)
        return []

    found = attack(release, attacks=["looking"], budget=None)
    (attacker,) = seen
    held = [*vars(attacker).values(), *vars(attacker.knowledge).values()]
    assert not any(isinstance(value, TrueCounts) for value in held)
    assert attacker.knowledge.known == {}
    assert (found.outcomes, found.idle) == ((), ["looking"])


# --- Attacker models ---


def knowledge_of(release: Release, monkeypatch: pytest.MonkeyPatch, **how: Any) -> AttackerView:  # noqa: ANN401 - as in attack
    """Return what an attack gets to see."""
    seen: list[AttackerView] = []

    def looking(attacker: AttackerView) -> list[AttackEstimates]:
        seen.append(attacker)
        return []

    monkeypatch.setattr(ATTACKS, "known", {**ATTACKS.all(), "looking": looking})
    attack(release, attacks=["looking"], **how)
    return seen[0]


def test_she_knows_the_law_unless_she_knows_what_is_public_alone(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = knowledge_of(release, monkeypatch)
    assert whole.noise.exactly
    assert whole.noise.variance == pytest.approx(2)
    assert whole.noise.bound == 4
    public = knowledge_of(release, monkeypatch, public_only=True)
    assert public.knowledge.noise is None
    assert not public.noise.exactly
    assert public.noise.bound == noise_from_disclosure(release.description["noise"]).bound


def test_who_knows_what_is_public_needs_no_record(tmp_path: Path, engine: Engine) -> None:
    town_release(engine=engine, out=tmp_path / "out", keep_exact=False)
    shutil.rmtree(tmp_path / "out.curator")
    found = attack(tmp_path / "out", attacks=QUICK, budget=None, public_only=True)
    assert (found.public_only, found.truth) == (True, None)
    assert found.outcomes
    with pytest.raises(ReleaseError, match=r"out has no noise record next to it\. Use --public-only"):
        attack(tmp_path / "out", attacks=QUICK, budget=None)


def test_known_statistics_are_given_to_the_attacker_in_every_population(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = knowledge_of(release, monkeypatch, known=["total", "SEX:1"]).knowledge.known
    truth = TrueCounts(release)
    assert {name for _, name in known} == {"total", "SEX:1"}
    for population in release.programme.populations:
        assert known[population, "total"].tolist() == truth.counts(population)[:1].tolist()
        assert known[population, "SEX:1"].sum() == known[population, "total"][0]


def test_a_known_total_is_no_estimate_and_makes_her_surer(release: Release, report: AttackReport) -> None:
    found = attack(release, attacks=["projection"], budget=None, known=["total"])
    assert found.known == ("total",)
    with_it = found.outcomes[0].finding
    (plain,) = [each.finding for each in report.outcomes if each.finding.attack == "projection"]
    assert len(with_it.estimate) == len(plain.estimate) - len(release.programme.populations)
    assert with_it.confidence.mean() > plain.confidence.mean()


def test_the_opening_says_what_she_knows(report: AttackReport, unscored: AttackReport) -> None:
    model = "Attacker model: knows the noise distribution, not the keys."
    assert (
        report.opening("out")
        == f"Attacks on out, scored against true counts from memory. {model} {report.size.sentence}"
    )
    assert f"Attacks on out, without true counts. {model}" in unscored.opening("out")
    found = replace(report, public_only=True, known=("total", "SEX:1"))
    knows = "knows the true counts of total and SEX:1, and the disclosed noise parameters only."
    assert knows in found.opening("x")


# --- Runs ---


def test_a_seed_repeats_every_figure_and_another_does_not(release: Release, report: AttackReport) -> None:
    again = attack(release, attacks=BOTH, budget=None)
    assert figures(again) == figures(report)
    other = attack(release, attacks=BOTH, budget=None, seed=1)
    assert other.seed == 1
    assert figures(other) != figures(report)
    # What is drawn at random is the prediction and a probe of variances, not the estimates.
    estimates = {each.finding.name: each.finding.estimate.tolist() for each in report.outcomes}
    assert {each.finding.name: each.finding.estimate.tolist() for each in other.outcomes} == estimates


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_folder_is_attacked_like_a_release_in_memory(
    form: str, release: Release, tmp_path: Path, engine: Engine
) -> None:
    town_release(engine=engine, out=tmp_path / "out", form=form)
    one = attack(release, attacks=QUICK, budget=None)
    for given in (tmp_path / "out", str(tmp_path / "out"), open_release(tmp_path / "out")):
        found = attack(given, attacks=QUICK, budget=None)
        assert found.truth == str(tmp_path / "out.curator" / "exact")
        assert [each.to_json() for each in found.outcomes] == [each.to_json() for each in one.outcomes]


def test_a_truth_that_is_named_is_taken_from_there(tmp_path: Path, engine: Engine) -> None:
    town_release(engine=engine, out=tmp_path / "out")
    (tmp_path / "out.curator" / "exact").rename(tmp_path / "named")
    assert attack(tmp_path / "out", attacks=QUICK, budget=None).truth is None
    found = attack(tmp_path / "out", attacks=QUICK, budget=None, truth=str(tmp_path / "named"))
    assert found.truth == str(tmp_path / "named")
    assert found.outcomes[0].score is not None


def test_an_unknown_attack_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no attack 'projektion'\. Did you mean projection\b"):
        attack(tmp_path / "no release", attacks=["projektion"])


def test_progress_is_told_by_attack_and_by_finding(release: Release) -> None:
    reported: list[tuple[str, int, int | None]] = []
    attack(release, attacks=BOTH, progress=lambda *what: reported.append(what))
    assert [what for what in reported if what[0] == "attacking"] == [("attacking", 1, 2), ("attacking", 2, 2)]
    assert [what for what in reported if what[0] == "scoring"] == [("scoring", n, 4) for n in (1, 2, 3, 4)]


def test_a_known_statistic_that_does_not_exist_is_refused(release: Release) -> None:
    with pytest.raises(UnknownNameError, match=r"no statistic 'totl'. Did you mean total"):
        attack(release, attacks=QUICK, known=["totl"])


def test_known_statistics_need_true_counts(release: Release) -> None:
    with pytest.raises(ParameterError, match=r"need true counts, and none were found\. Give their folder with --truth"):
        attack(replace(release, held_exact=None), attacks=QUICK, known=["total"])


def test_what_is_known_may_settle_another_count(release: Release) -> None:
    """All parts known, the total is known as well: its own published value then counts for nothing."""
    found = attack(release, attacks=["projection"], known=["SEX:1"], budget=None)
    (outcome,) = found.outcomes
    assert outcome.score is not None
    total = next(share for share in outcome.score.by_group() if share.name == "total of persons")
    assert (total.right, total.cells) == (1, 1)


def test_a_second_release_without_true_counts_leaves_its_findings_unscored(release: Release, engine: Engine) -> None:
    other = replace(town_release(engine=engine, data=people(290)), held_exact=None)
    found = attack(release, attacks=["two-releases"], other=other, budget=None)
    assert found.outcomes
    assert all(outcome.score is None for outcome in found.outcomes if outcome.finding.needs_other)
    assert any("not scored, because the second release has no true counts" in warning for warning in found.warnings)


def test_a_query_interface_is_attacked_and_scored(release: Release) -> None:
    interface = QueryInterface(lambda codes: 10 * len(codes), tuple("abcdef"))
    (outcome,) = attack(release, attacks=["bi-partitions"], interface=interface, answer=60).outcomes
    assert outcome.score is not None
    assert outcome.score.right.all()


def test_a_negative_seed_is_refused(release: Release) -> None:
    with pytest.raises(ParameterError, match="seed must be a whole number from 0 on"):
        attack(release, attacks=QUICK, seed=-1)


def test_an_uneven_budget_is_refused(engine: Engine) -> None:
    mechanism = EpsDP(Budget(60.0, weights={"1": 3.0, "*": 1.0}), bits=SeededBits(3))
    uneven = town_release(mechanism, engine=engine)
    with pytest.raises(
        ParameterError, match=r"budget of this release is unequal.* Attack a release with equal budgets"
    ):
        attack(uneven, attacks=QUICK)


def test_an_attack_that_fails_does_not_take_the_others_with_it(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: AttackerView) -> list[AttackEstimates]:
        raise KeyError("nothing there")

    monkeypatch.setitem(ATTACKS.known, "broken", broken)
    found = attack(release, attacks=["broken", *QUICK], budget=None)
    assert {outcome.finding.attack for outcome in found.outcomes} == {"averaging"}
    assert found.warnings == ["The attack broken failed: KeyError, 'nothing there'."]
    assert found.idle == []


def test_a_second_release_of_something_else_is_refused(release: Release, engine: Engine) -> None:
    other = town_release(engine=engine, programme=replace(TOWN, tables=TOWN.tables[4:]))
    with pytest.raises(ReleaseError, match=r"shares \d+ of the \d+ statistics of the first release\. Choose a second"):
        attack(release, attacks=["two-releases"], other=other)


def test_a_single_name_may_stand_by_itself(release: Release) -> None:
    found = attack(release, attacks="averaging", known="SEX:1", budget=None)
    assert (found.mounted, found.known) == (("averaging",), ("SEX:1",))


@pytest.mark.parametrize("budget", [0, -1, 1.5, 60.0, True])
def test_a_budget_that_is_not_a_number_of_cells_is_refused(release: Release, budget: float) -> None:
    with pytest.raises(ParameterError, match="budget must be a positive whole number of target cells, or None"):
        attack(release, attacks=QUICK, budget=budget)  # type: ignore[arg-type]  # what a user may give


def test_one_seed_gives_the_same_figures_with_any_budget(release: Release) -> None:
    one, same = (attack(release, attacks=["margins"], budget=60, seed=3) for _ in range(2))
    assert [each.to_json() for each in one.outcomes] == [each.to_json() for each in same.outcomes]
    other = attack(release, attacks=["margins"], budget=60, seed=4)
    assert [each.to_json() for each in one.outcomes] != [each.to_json() for each in other.outcomes]
