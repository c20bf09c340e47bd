"""Run attacks on a release and score them against true counts and predicted success."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.attacks.attack_estimates import ATTACKS
from discreet.attacks.attack_report import AttackOutcome, AttackReport
from discreet.attacks.attacker_view import AttackerKnowledge, belief_of, read_overlaps, sight_of
from discreet.attacks.expected_success import Predictions
from discreet.attacks.scoring import TrueCounts, score
from discreet.attacks.target_cells import BUDGET, draw_targets
from discreet.errors import InputError, ParameterError, ReleaseError, UnknownNameError
from discreet.release.release import Release, open_release
from discreet.release.true_tables import keeps_truth
from discreet.tabulation.cell_vector import layouts
from discreet.tabulation.distinct_cells import programme_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.attacks.attack_estimates import Attack, AttackEstimates
    from discreet.attacks.attacker_view import AttackerView, Overlaps, QueryInterface
    from discreet.attacks.target_cells import Targets
    from discreet.progress import Progress

ENOUGH_ALIKE = 0.2
"""The share of its statistics that a second release must have too."""


def attack(
    release: Release | Path | str,
    *,
    truth: Path | str | None = None,
    attacks: Sequence[str] | None = None,
    budget: int | None = BUDGET,
    seed: int = 0,
    public_only: bool = False,
    known: Sequence[str] = (),
    other: Release | Path | str | None = None,
    overlaps: Overlaps | Path | str | None = None,
    interface: QueryInterface | None = None,
    answer: int | None = None,
    predict: bool = True,
    progress: Progress | None = None,
) -> AttackReport:
    """Mount attacks on a release and compare what they find with the truth.

    Args:
        release: a Release or its folder.
        truth: the folder of true counts; OUT.curator/exact if left out and there.
        attacks: names of the attacks, all by default.
        budget: target cells of attacks that work cell by cell; None is all cells.
        seed: makes runs repeatable.
        public_only: whether the attacker knows no more of the noise than the release tells.
        known: statistics whose true counts are public, as `total`.
        other: a second release of nearly the same population.
        overlaps: which areas of two topics meet on the map; or the CSV that says so.
        interface: a flexible query interface to the same persons, for the attack `bi-partitions`.
        answer: the true number of persons that the interface is about.
        predict: whether to predict success as well, by repeating attacks on simulated releases.
        progress: called with a stage, what is done and what there is to do.
    """
    if seed < 0:
        raise ParameterError.outside("attack", "seed", seed, "a whole number from 0 on")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        raise ParameterError.outside("attack", "budget", budget, "a positive whole number of target cells, or None")
    attacks = [attacks] if isinstance(attacks, str) else attacks
    known = [known] if isinstance(known, str) else known
    mounted = ATTACKS.named(attacks)
    release = release if isinstance(release, Release) else open_release(release)
    second = None if other is None else other if isinstance(other, Release) else open_release(other)
    if second is not None:
        _check_alike(release, second)
    counts = _truth(release, truth, second, answer)
    knowledge = AttackerKnowledge(
        noise=_law(release, public_only=public_only).noise,
        known=_known(release, known, counts),
        other=None if second is None else sight_of(second, _law(second, public_only=public_only)),
        overlaps=read_overlaps(Path(overlaps), release.programme) if isinstance(overlaps, Path | str) else overlaps,
        interface=interface,
    )
    sight = replace(sight_of(release, knowledge, seed=seed), tell=progress)
    targets = draw_targets(sight, budget, counts)
    sight = replace(sight, targets=targets.places if targets else None)
    failed: dict[str, str] = {}
    findings = mount(sight, mounted, failed)
    outcomes = _scored(findings, sight, counts, targets, mounted if predict else None)
    return AttackReport(
        outcomes=outcomes,
        size=programme_size(release.programme),
        mounted=tuple(mounted),
        truth=None if counts is None else counts.place,
        seed=seed,
        budget=budget,
        public_only=public_only,
        known=tuple(known),
        failed=failed,
    )


def mount(
    sight: AttackerView, mounted: Mapping[str, Attack], failed: dict[str, str] | None = None
) -> list[AttackEstimates]:
    """Run attacks one after the other.

    What goes wrong in one of them is noted in `failed`, where that is given, and the others go on.
    """
    found: list[AttackEstimates] = []
    for number, name in enumerate(mounted):
        try:
            found += mounted[name](sight)
        except InputError:
            raise
        except Exception as error:
            if failed is None:
                raise
            failed[name] = f"{type(error).__name__}, {error}"
        if sight.tell:
            sight.tell("attacking", number + 1, len(mounted))
    return found


def _scored(
    findings: Sequence[AttackEstimates],
    sight: AttackerView,
    truth: TrueCounts | None,
    targets: Targets | None,
    mounted: Mapping[str, Attack] | None,
) -> tuple[AttackOutcome, ...]:
    """Return the outcomes, the worst first; with the attacks that were mounted, predictions as well."""
    model = None
    if truth is not None and mounted is not None:
        repeated = {each.attack: mounted[each.attack] for each in findings if each.rerun}
        model = Predictions(sight, truth, repeated)
    found = []
    for number, finding in enumerate(findings):
        if truth is None or (finding.needs_other and not truth.has_other):
            found.append(AttackOutcome(finding, None))
            continue
        scored = score(finding, truth, targets.weights_of(finding) if targets else None)
        found.append(AttackOutcome(finding, scored, model.predicted(scored) if model else {}))
        if sight.tell:
            sight.tell("scoring", number + 1, len(findings))
    return tuple(sorted(found, key=lambda outcome: outcome.rank, reverse=True))


def _law(release: Release, *, public_only: bool) -> AttackerKnowledge:
    """Return what the attacker knows of the noise of a release beside what it tells: all but the keys, or nothing."""
    if not public_only and not release.has_record:
        what = "has no record of its noise beside it"
        raise ReleaseError.at(
            release.path or Path(), what, "Give --public-only: she then knows what the release tells."
        )
    return AttackerKnowledge(noise=None if public_only else belief_of(release.record))


def _check_alike(release: Release, second: Release) -> None:
    """Refuse a second release that publishes something else: few statistics in common tell nothing."""
    own, others = (
        {(name, stat) for name, layout in layouts(each.programme, spsn=True).items() for stat in layout.names}
        for each in (release, second)
    )
    if len(own & others) < ENOUGH_ALIKE * len(own):
        what = f"shares {len(own & others):,} of the {len(own):,} statistics of the first release"
        raise ReleaseError.at(second.path or Path(), what, "Give a second release of nearly the same programme.")


def _truth(release: Release, folder: Path | str | None, other: Release | None, answer: int | None) -> TrueCounts | None:
    """Return the true counts that were named, or those beside the release, if they are there."""
    if folder is None and not keeps_truth(release):
        return None
    second = TrueCounts(other) if other is not None and keeps_truth(other) else None
    return TrueCounts(release, None if folder is None else Path(folder), second, answer)


def _known(release: Release, names: Sequence[str], truth: TrueCounts | None) -> dict[tuple[str, str], Any]:
    """Return the true counts of statistics that are public, from the truth that is at hand."""
    if not names:
        return {}
    if truth is None:
        what = "Known statistics are taken from the true counts, and there are none."
        raise ParameterError(f"{what} Name their folder with --truth.", parameter="known")
    sight = sight_of(release)
    views = [sight.view(population).layout for population in sight.populations]
    found = {}
    for asked in names:
        # Names of levels may stand in any order.
        name = " ".join(sorted(asked.split()))
        there = [layout for layout in views if name in layout.names]
        if not there:
            known = dict.fromkeys(each for layout in views for each in layout.names)
            raise UnknownNameError.among("statistic", asked, known)
        for layout in there:
            cells = layout.equations.cells_of(layout.lattice.position(name))
            found[layout.name, name] = truth.counts(layout.name)[cells].astype(float)
    return found
