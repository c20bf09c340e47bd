"""Run attacks on a release and score them against true counts and predicted success."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.attacks.attack_estimates import ATTACKS
from discreet.attacks.attack_report import AttackOutcome, AttackReport
from discreet.attacks.attack_verdicts import JUDGED
from discreet.attacks.attacker_view import AttackerKnowledge, attacker_view, noise_from_record, read_overlaps
from discreet.attacks.expected_success import Predictions
from discreet.attacks.scoring import TrueCounts, score
from discreet.attacks.target_cells import BUDGET, draw_targets
from discreet.errors import InputError, ParameterError, ReleaseError, UnknownNameError
from discreet.release.release import Release, open_release
from discreet.release.true_tables import has_true_counts
from discreet.tabulation.cell_vector import layouts
from discreet.tabulation.distinct_cells import programme_size
from discreet.verdicts import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discreet.attacks.attack_estimates import Attack, AttackEstimates
    from discreet.attacks.attacker_view import AttackerView, Overlaps, QueryInterface
    from discreet.attacks.target_cells import Targets
    from discreet.progress import Progress

MIN_COMMON_SHARE = 0.2
"""Minimum share of the statistics of the first release that a second release must publish, too."""


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
    targets: Policy | Mapping[str, float] | Iterable[str] | None = None,
    progress: Progress | None = None,
) -> AttackReport:
    """Run attacks on a release and compare the estimates with the true counts.

    Args:
        release: a Release or its folder.
        truth: the folder of true counts; by default OUT.curator/exact, if it exists.
        attacks: names of the attacks, all by default.
        budget: number of target cells of attacks that work cell by cell; None for all cells.
        seed: the seed of all random numbers; the same seed repeats a run.
        public_only: whether the attacker knows only the noise parameters that the release discloses.
        known: statistics whose true counts are public, e.g. `total`.
        other: a second release of nearly the same population.
        overlaps: the pairs of overlapping areas of two topics, or a CSV file that lists them.
        interface: a flexible query interface to the same persons, for the attack `bi-partitions`.
        answer: the true total behind the interface.
        predict: whether to predict success as well, by repeating the attacks on simulated releases.
        targets: the targets of the office by name, e.g. {"singletons": 0.3}; by default those in the record.
        progress: called with the stage, the work done and the total work.
    """
    policy = Policy.of(targets).restricted("attack", JUDGED)
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
        _check_comparable(release, second)
    counts = _truth(release, truth, second, answer)
    knowledge = AttackerKnowledge(
        noise=_known_noise(release, public_only=public_only).noise,
        known=_known(release, known, counts),
        other=None if second is None else attacker_view(second, _known_noise(second, public_only=public_only)),
        overlaps=read_overlaps(Path(overlaps), release.programme) if isinstance(overlaps, Path | str) else overlaps,
        interface=interface,
    )
    attacker = replace(attacker_view(release, knowledge, seed=seed), progress=progress)
    drawn = draw_targets(attacker, budget, counts)
    attacker = replace(attacker, targets=drawn.places if drawn else None)
    failed: dict[str, str] = {}
    findings = mount(attacker, mounted, failed)
    outcomes = _scored(findings, attacker, counts, drawn, mounted if predict else None)
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
        policy=policy.over(release.record.targets if release.has_record else None, JUDGED),
    )


def mount(
    attacker: AttackerView, mounted: Mapping[str, Attack], failed: dict[str, str] | None = None
) -> list[AttackEstimates]:
    """Run attacks one after the other.

    If `failed` is given, the error of an attack is recorded there and the remaining attacks still run.
    """
    found: list[AttackEstimates] = []
    for number, name in enumerate(mounted):
        try:
            found += mounted[name](attacker)
        except InputError:
            raise
        except Exception as error:
            if failed is None:
                raise
            failed[name] = f"{type(error).__name__}, {error}"
        if attacker.progress:
            attacker.progress("attacking", number + 1, len(mounted))
    return found


def _scored(
    findings: Sequence[AttackEstimates],
    attacker: AttackerView,
    truth: TrueCounts | None,
    targets: Targets | None,
    mounted: Mapping[str, Attack] | None,
) -> tuple[AttackOutcome, ...]:
    """Return the outcomes, the most successful first; with predictions if the attacks are given as `mounted`."""
    model = None
    if truth is not None and mounted is not None:
        repeated = {each.attack: mounted[each.attack] for each in findings if each.rerun}
        model = Predictions(attacker, truth, repeated)
    found = []
    for number, finding in enumerate(findings):
        if truth is None or (finding.needs_other and not truth.has_other):
            found.append(AttackOutcome(finding, None))
            continue
        scored = score(finding, truth, targets.weights_of(finding) if targets else None)
        found.append(AttackOutcome(finding, scored, model.predicted(scored) if model else {}))
        if attacker.progress:
            attacker.progress("scoring", number + 1, len(findings))
    return tuple(sorted(found, key=lambda outcome: outcome.rank, reverse=True))


def _known_noise(release: Release, *, public_only: bool) -> AttackerKnowledge:
    """Return the attacker's knowledge of the noise: the distribution without the keys, or none of their own."""
    if not public_only and not release.has_record:
        what = "has no noise record next to it"
        fix = "Use --public-only: the attacker then knows only the disclosed noise parameters."
        raise ReleaseError.at(release.path or Path(), what, fix)
    return AttackerKnowledge(noise=None if public_only else noise_from_record(release.record))


def _check_comparable(release: Release, second: Release) -> None:
    """Raise an error if the releases have few statistics in common: comparing them would reveal almost nothing."""
    own, others = (
        {(name, stat) for name, layout in layouts(each.programme, spsn=True).items() for stat in layout.names}
        for each in (release, second)
    )
    if len(own & others) < MIN_COMMON_SHARE * len(own):
        what = f"shares {len(own & others):,} of the {len(own):,} statistics of the first release"
        raise ReleaseError.at(second.path or Path(), what, "Choose a second release with a similar programme.")


def _truth(release: Release, folder: Path | str | None, other: Release | None, answer: int | None) -> TrueCounts | None:
    """Return the true counts from the given folder, or those next to the release; None if there are none."""
    if folder is None and not has_true_counts(release):
        return None
    second = TrueCounts(other) if other is not None and has_true_counts(other) else None
    return TrueCounts(release, None if folder is None else Path(folder), second, answer)


def _known(release: Release, names: Sequence[str], truth: TrueCounts | None) -> dict[tuple[str, str], Any]:
    """Return the true counts of the public statistics, by population and statistic."""
    if not names:
        return {}
    if truth is None:
        what = "Known statistics need true counts, and none were found."
        raise ParameterError(f"{what} Give their folder with --truth.", parameter="known")
    attacker = attacker_view(release)
    views = [attacker.view(population).layout for population in attacker.populations]
    found = {}
    for asked in names:
        # The levels of a statistic may be given in any order.
        name = " ".join(sorted(asked.split()))
        there = [layout for layout in views if name in layout.names]
        if not there:
            known = dict.fromkeys(each for layout in views for each in layout.names)
            raise UnknownNameError.among("statistic", asked, known)
        for layout in there:
            cells = layout.equations.cells_of(layout.lattice.position(name))
            found[layout.name, name] = truth.counts(layout.name)[cells].astype(float)
    return found
