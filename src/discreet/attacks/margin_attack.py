"""Margin attack: infer small counts from parts and totals together (Bach 2020, "Exploiting margins").

Certain: the only counts that the noise bound and all sums together allow (`attacks.feasible_counts`).
Posterior: the likeliest small counts, given their own value and all sums (`attacks.margin_posterior`).
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

KEPT = "no noise is larger than the bound she takes it to have"
INDEPENDENT = "given a count, the equations it stands in are taken as independent; exact where there is one"
ALIKE = "statistics with about the same share of published zeros have counts of the same law"
GUESSED = "the law of the noise, and that zeros stay zeros, is guessed from what the release tells"


@dataclass(frozen=True, eq=False)
class Population:
    """What margins tell about one population."""

    certain: CellEstimates
    likely: CellEstimates
    posteriors: Posteriors
    tuples: ForcedTuples
    consistent: bool


@ATTACKS.register("margins")
def margins(sight: AttackerView) -> list[AttackEstimates]:
    """Return the counts that are certain, and the likeliest small counts given everything that must add up."""
    found = [_population(sight, view) for view in sight.views()]
    guessed = () if sight.noise.exactly else (GUESSED,)
    public = (PUBLIC_TOTALS,) if sight.knowledge.known else ()
    return [
        _certain(sight, found, assumptions=(KEPT, *public, *guessed)),
        _likely(sight, found, assumptions=(INDEPENDENT, ALIKE, *public, *guessed)),
    ]


def _population(sight: AttackerView, view: PopulationCounts) -> Population:
    """Return what margins tell about one population."""
    name, noise = view.layout.name, sight.noise
    known = {stat: counts for (of, stat), counts in sight.knowledge.known.items() if of == name}
    possible = intervals(view, noise, known)
    asked = np.ones(view.layout.cells, dtype=bool)
    for statistic in known:
        asked[view.layout.equations.cells_of(view.layout.lattice.position(statistic))] = False
    sure = np.flatnonzero(possible.certain & asked) if possible.consistent else np.zeros(0, dtype=np.int64)
    certain = CellEstimates(view, sure, possible.low[sure].astype(float), np.ones(len(sure)))
    if sight.targets is not None:
        drawn = np.zeros(view.layout.cells, dtype=bool)
        drawn[sight.targets[name]] = True
        asked &= drawn
    used = possible if possible.consistent else allowed(view.published, noise)
    posterior = MarginPosterior(view, noise, used, asked, kind_priors(view, noise))
    logs = posterior.with_margins(partial(sight.tell, "margins") if sight.tell else None)
    likeliest = posterior.estimates(logs)
    likely = CellEstimates(view, posterior.places, likeliest.estimate.astype(float), likeliest.confidence)
    return Population(certain, likely, likeliest, forced_tuples(view, noise), possible.consistent)


def _certain(sight: AttackerView, found: Sequence[Population], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return the counts that the bound and the sums leave no choice for."""
    made = cells_finding(
        sight,
        [part.certain for part in found],
        attack="margins",
        variant="certain",
        subject="counts",
        sentence=partial(_what_is_certain, found=found),
        method="the counts that the bound of the noise leaves, made to agree with all sums",
        **about,
    )
    counts = [part.certain.estimate for part in found]
    return replace(made, estimate=np.concatenate(counts).astype(np.int64) if counts else made.estimate)


def _what_is_certain(score: Score, found: Sequence[Population]) -> str:
    """Return what is certain, in a sentence."""
    if not all(part.consistent for part in found):
        return "The published counts contradict the law of noise she believes in: nothing is certain."
    estimate, right = score.finding.estimate, int(score.right.sum())
    single, empty = int((estimate == 1).sum()), int((estimate == 0).sum())
    there = sum(int((score.truth.counts(part.certain.view.layout.name) == 1).sum()) for part in found)
    forced, expected = sum(part.tuples.found for part in found), sum(part.tuples.expected for part in found)
    how = "all right" if right == len(estimate) else f"{right:,} right"
    about = f"{expected:,.0f}" if expected >= 10 else f"{expected:.2g}"
    tuples = f"; {forced:,} forced tuples (expected {about})" if any(p.tuples.tuples for p in found) else ""
    return (
        f"{single:,} of {there:,} single-person cells are certain, and {len(estimate) - empty:,} counts in "
        f"all{f' ({how})' if len(estimate) else ''}, beside {empty:,} empty cells{tuples}."
    )


def _likely(sight: AttackerView, found: Sequence[Population], **about: Any) -> AttackEstimates:  # noqa: ANN401 - of Finding
    """Return the likeliest counts of cells that may be small."""
    made = cells_finding(
        sight,
        [part.likely for part in found],
        attack="margins",
        variant="posterior",
        subject="small counts",
        class_chances=np.concatenate([part.posteriors.class_chances for part in found]),
        sampled=sight.targets is not None,
        method="the likeliest count, where it may be 0, 1 or 2, given its own value and all sums it takes part in",
        **about,
    )
    return replace(
        made,
        estimate=np.concatenate([part.posteriors.estimate for part in found]),
        naive=np.concatenate([part.posteriors.naive for part in found]),
    )
