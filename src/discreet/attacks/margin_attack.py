"""Margin attack: infer small counts from parts and totals together (Bach 2020, "Exploiting margins").

Certain: counts of cells with only one count that the noise bound and all sums allow (`attacks.feasible_counts`).
Posterior: the most likely small counts, given their own value and all sums (`attacks.margin_posterior`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attacks.attack_estimates import ATTACKS, CellEstimates, cells_finding
from discreet.attacks.attacker_view import PUBLIC_TOTALS
from discreet.attacks.count_prior import kind_priors
from discreet.attacks.feasible_counts import allowed, forced_tuples, intervals
from discreet.attacks.margin_posterior import MarginPosterior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attacker_view import AttackerView, PopulationCounts
    from discreet.attacks.feasible_counts import ForcedTuples
    from discreet.attacks.margin_posterior import Posteriors
    from discreet.attacks.scoring import Score

KEPT = "no noise exceeds the bound that the attacker assumes"
INDEPENDENT = "the equations that contain a count are independent given the count; exact for one equation"
ALIKE = "statistics with a similar share of published zeros have the same distribution of true counts"
GUESSED = "the noise distribution, and that zeros have no noise, is inferred from the disclosed parameters"


@dataclass(frozen=True, eq=False)
class PopulationMargins:
    """The results of the margin attack for one population."""

    certain: CellEstimates
    likely: CellEstimates
    posteriors: Posteriors
    tuples: ForcedTuples
    consistent: bool


@ATTACKS.register("margins")
def margins(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the certain counts, and the most likely small counts given all sums."""
    found = [_population(attacker, view) for view in attacker.views()]
    guessed = () if attacker.noise.exactly else (GUESSED,)
    public = (PUBLIC_TOTALS,) if attacker.knowledge.known else ()
    return [
        _certain(attacker, found, assumptions=(KEPT, *public, *guessed)),
        _likely(attacker, found, assumptions=(INDEPENDENT, ALIKE, *public, *guessed)),
    ]


def _population(attacker: AttackerView, view: PopulationCounts) -> PopulationMargins:
    """Return the results of the margin attack for one population."""
    name, noise = view.layout.name, attacker.noise
    known = {stat: counts for (of, stat), counts in attacker.knowledge.known.items() if of == name}
    possible = intervals(view, noise, known)
    selected = np.ones(view.layout.cells, dtype=bool)
    for statistic in known:
        selected[view.layout.equations.cells_of(view.layout.lattice.position(statistic))] = False
    sure = np.flatnonzero(possible.certain & selected) if possible.consistent else np.zeros(0, dtype=np.int64)
    certain = CellEstimates(view, sure, possible.low[sure].astype(float), np.ones(len(sure)))
    if attacker.targets is not None:
        drawn = np.zeros(view.layout.cells, dtype=bool)
        drawn[attacker.targets[name]] = True
        selected &= drawn
    used = possible if possible.consistent else allowed(view.published, noise)
    posterior = MarginPosterior(view, noise, used, selected, kind_priors(view, noise))
    logs = posterior.with_margins(partial(attacker.progress, "margins") if attacker.progress else None)
    likeliest = posterior.estimates(logs)
    likely = CellEstimates(view, posterior.places, likeliest.estimate.astype(float), likeliest.confidence)
    return PopulationMargins(certain, likely, likeliest, forced_tuples(view, noise), possible.consistent)


def _certain(attacker: AttackerView, found: Sequence[PopulationMargins], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return the counts of cells with only one feasible count."""
    made = cells_finding(
        attacker,
        [part.certain for part in found],
        attack="margins",
        variant="certain",
        subject="counts",
        sentence=partial(_certain_sentence, found=found),
        method="the only counts that agree with the noise bound and with all sums",
        **about,
    )
    counts = [part.certain.estimate for part in found]
    return replace(made, estimate=np.concatenate(counts).astype(np.int64) if counts else made.estimate)


def _certain_sentence(score: Score, found: Sequence[PopulationMargins]) -> str:
    """Return the certain counts as a sentence."""
    if not all(part.consistent for part in found):
        return "No count is certain: the published counts contradict the assumed noise distribution."
    estimate, right = score.finding.estimate, int(score.right.sum())
    single, empty = int((estimate == 1).sum()), int((estimate == 0).sum())
    there = sum(int((score.truth.counts(part.certain.view.layout.name) == 1).sum()) for part in found)
    forced, expected = sum(part.tuples.found for part in found), sum(part.tuples.expected for part in found)
    how = "all correct" if right == len(estimate) else f"{right:,} correct"
    about = f"{expected:,.0f}" if expected >= 10 else f"{expected:.2g}"
    tuples = f" Forced tuples: {forced:,} (expected {about})." if any(p.tuples.tuples for p in found) else ""
    return (
        f"{single:,} of {there:,} singleton cells are certain. Certain counts in total: {len(estimate) - empty:,} "
        f"above 0 and {empty:,} empty cells{f' ({how})' if len(estimate) else ''}.{tuples}"
    )


def _likely(attacker: AttackerView, found: Sequence[PopulationMargins], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return the most likely counts of cells that may be small."""
    made = cells_finding(
        attacker,
        [part.likely for part in found],
        attack="margins",
        variant="posterior",
        subject="small counts",
        class_chances=np.concatenate([part.posteriors.class_chances for part in found]),
        sampled=attacker.targets is not None,
        method="the most likely count of cells that may be 0, 1 or 2, given the published value and all sums",
        **about,
    )
    return replace(
        made,
        estimate=np.concatenate([part.posteriors.estimate for part in found]),
        naive=np.concatenate([part.posteriors.naive for part in found]),
    )
