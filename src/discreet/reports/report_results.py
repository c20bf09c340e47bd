"""The results that a report shows: a release, its risk and its utility, gathered before any text is written."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accuracy.expected_accuracy import expected_effects
from discreet.accuracy.release_utility import utility as measure_utility
from discreet.attacks.attack_run import attack as attack_release
from discreet.attacks.target_cells import BUDGET
from discreet.calibration.noise_design import design as choose_noise
from discreet.errors import InputError, ParameterError, ReleaseError
from discreet.noise.published_counts import published_counts
from discreet.programme.summary import shared_statistics
from discreet.release.disclosed_noise import deviation_range, disclosed_noise
from discreet.release.noise_record import FIXED_CHANGE, ROUNDING, TRUE_COUNTS
from discreet.release.public_view import disclosed_record, public_release
from discreet.release.release import Release, open_release
from discreet.release.true_tables import has_true_counts
from discreet.reports.calibration_charts import nearest_setting
from discreet.reports.table_example import table_example
from discreet.risk.assessment import assess
from discreet.verdicts import (
    ADDITIVITY,
    AVERAGING,
    BOUND,
    EXPECTED_MARGINS,
    MARGINS,
    SINGLETONS,
    SMALL_AREAS,
    Policy,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from discreet.accuracy.release_utility import Utility
    from discreet.attacks.attack_report import AttackReport
    from discreet.calibration.noise_design import NoiseDesign
    from discreet.calibration.recommendation import Setting
    from discreet.noise.by_count import TransitionMatrix
    from discreet.noise.published_counts import PublishedCounts
    from discreet.programme.summary import SharedStatistic
    from discreet.progress import Progress
    from discreet.release.record import Record
    from discreet.reports.table_example import TableExample
    from discreet.results import Result
    from discreet.risk.assessment import Assessment

JUDGED = (AVERAGING, SINGLETONS, BOUND, MARGINS, EXPECTED_MARGINS, SMALL_AREAS, ADDITIVITY)
"""The targets that a report judges."""
PUBLIC_JUDGED = (AVERAGING, ADDITIVITY)
"""The targets that a public page judges."""
VILLAGE = 12
"""The true count that serves as an example."""
SMALL_COUNTS = (1, 2, 3, 5, 10, VILLAGE)
MEASURES = ("averaging", "redundancy", "margins", "epsilon_delta")
TOLD_MEASURES = ("averaging", "redundancy")
"""The measures that need only the programme and the size of the noise."""
LIBRARIES = {"DuckDB": "duckdb", "pyarrow": "pyarrow", "NumPy": "numpy"}
"""The libraries that determine the bytes of a release, by name."""
NO_TRUTH = (
    "The true counts of this release were not kept. Keep them with `protect --keep-exact`, or use --truth FOLDER."
)
EXACT = "The release contains true counts without noise. Do not publish it."
PUBLIC = "This page uses the published files alone. The success of attacks and true errors are not on it."
NOT_RANDOM = {
    ROUNDING: "Counts are rounded. Rounding is not random, so that averaging is not assessed.",
    FIXED_CHANGE: "Every count is changed by a fixed amount. Anyone who knows the rule recovers every count.",
}
"""The reason why averaging is not assessed, by the published method."""
UNTOLD = "The release does not state the size of its noise, so that averaging is not assessed."
UNTOLD_SPLIT = (
    "The release guarantees epsilon {epsilon:g} and delta {delta:g} for the whole, under the condition stated with its "
    "noise. It does not state the share of each count, so that averaging is not assessed."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedFacts:
    """The published tables and their noise.

    Attributes:
        release: the release; for a public page without the curator's files.
        is_public: whether only public information is used.
        law: the noise by true count; for a public page, noise that agrees with the public description.
        record: the record of the noise; None for a public page.
        shared: the statistics, those in most tables first.
        example: a table with its true counts; None if they were not kept.
    """

    release: Release
    is_public: bool
    law: TransitionMatrix
    record: Record | None
    shared: tuple[SharedStatistic, ...]
    example: TableExample | None

    @property
    def is_exact(self) -> bool:
        """Return whether the release has no noise."""
        return not self.law.bound


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskFacts:
    """The predicted and the achieved success of attacks.

    Attributes:
        policy: the targets of the office.
        assessments: the predicted risk, one assessment for every unit that tables count, the most exposed first; for
            a public page with the smallest noise that agrees with the public description.
        bound: the probability that the bound is identified from all published counts; None for a public page.
        mildest: for a public page, the first assessment with the largest noise that agrees with the description.
        attacks: the success of attacks on this release; None if they cannot be scored.
        design: the noise that the programme needs.
    """

    policy: Policy
    assessments: tuple[Assessment, ...]
    bound: Assessment | None
    mildest: Assessment | None
    attacks: AttackReport | None
    design: NoiseDesign | None

    @property
    def assessment(self) -> Assessment | None:
        """Return the assessment of the most exposed unit; None if there is none."""
        return next(iter(self.assessments), None)

    def worst(self, name: str) -> Result | None:
        """Return the largest result of a name in all assessments; None if there is none."""
        every = (*self.assessments, *([self.bound] if self.bound else []))
        found = [result for each in every for result in each.results if result.name == name]
        return max(found, key=lambda each: each.value, default=None)

    @property
    def lowest_averaging(self) -> float | None:
        """Return the success of averaging under the largest noise of the public description; None for a curator."""
        results = self.mildest.results if self.mildest else ()
        return max((each.value for each in results if each.name == "averaging_success"), default=None)


@dataclass(frozen=True, eq=False, kw_only=True)
class UtilityFacts:
    """The effect of the noise on data users.

    Attributes:
        village: the distribution of the published count of an example.
        small: the same for several small counts.
        expected: the expected accuracy under the noise distribution.
        measured: the accuracy of this release.
    """

    village: PublishedCounts
    small: tuple[PublishedCounts, ...]
    expected: tuple[Result, ...]
    measured: Utility


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportResults:
    """All results of a report.

    Attributes:
        published: the published tables and their noise.
        risk: the predicted and the achieved success of attacks.
        utility: the effect of the noise on data users.
        absent: by section, the reason for a missing result and how to obtain it.
        commands: the commands that reproduce the release and the report.
        versions: the versions of programs by name.
        about: a sentence on the data.
        reason: why this noise was chosen, if the caller knows.
    """

    published: PublishedFacts
    risk: RiskFacts
    utility: UtilityFacts
    absent: dict[str, str]
    commands: tuple[str, ...]
    versions: dict[str, str]
    about: str = ""
    reason: str = ""

    @property
    def nearest(self) -> Setting | None:
        """Return the feasible setting nearest to the noise; None if it has no place in the plane or there is none."""
        design, record = self.risk.design, self.published.record
        if (
            design is None
            or record is None
            or record.is_deterministic
            or not (math.isfinite(record.bound) and record.spsn)
        ):
            return None
        needed = self.risk.worst("variance_needed")
        return nearest_setting(design, record.variance, int(record.bound), needed.value if needed else 0.0)


def gather(
    release: Release | Path | str,
    *,
    public: bool = False,
    truth: Path | str | None = None,
    targets: Policy | Mapping[str, float] | Iterable[str] | None = None,
    budget: int | None = BUDGET,
    seed: int = 0,
    areas: str | None = None,
    about: str = "",
    reason: str = "",
    commands: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> ReportResults:
    """Compute all results of a report.

    Args:
        release: a Release or its folder.
        public: whether to use only the published files.
        truth: the folder of true counts; OUT.curator/exact by default if it exists.
        targets: the targets of the office by name, as {"averaging": 0.68}; the others have their defaults.
        budget: the number of target cells of attacks that work cell by cell; None for all cells.
        seed: the seed of attacks and simulations.
        areas: the topic of areas; found by its name by default.
        about: a sentence on the data.
        reason: a sentence on why this noise was chosen.
        commands: the commands that made the release.
        progress: called with a stage, the work done and the total work.
    """
    command, judged = ("report --public", PUBLIC_JUDGED) if public else ("report", JUDGED)
    chosen = Policy.of(targets).restricted(command, judged)
    if public and truth is not None:
        raise ParameterError("A public page is made without true counts: omit truth.", parameter="truth")
    source = _publishable(public_release(release), _name(release)) if public else _with_record(release)
    record = None if public else source.record
    policy = chosen.over(record.targets if record else None, JUDGED)
    law = record.transition_matrix() if record else disclosed_noise(source.description["noise"])
    flags = _flags(public=public, policy=chosen, budget=budget, seed=seed, areas=areas, truth=truth)
    absent: dict[str, str] = {}
    # First, because it reads the true counts: a wrong folder is refused before the long work.
    measured = measure_utility(source, truth=truth, areas=areas, seed=seed, progress=progress)
    shared = tuple(shared_statistics(source.programme))
    how = {"public": public, "truth": truth, "budget": budget, "seed": seed}
    example = table_example(source, truth) if measured.truth else None
    return ReportResults(
        published=PublishedFacts(
            release=source, is_public=public, law=law, record=record, shared=shared, example=example
        ),
        risk=_risk(source, record, policy, absent, progress=progress, **how),
        utility=_utility(law, measured),
        absent=absent,
        commands=(*commands, *_again(_name(release), record, flags)),
        versions=_versions(),
        about=about,
        reason=reason,
    )


def _risk(
    source: Release,
    record: Record | None,
    policy: Policy,
    absent: dict[str, str],
    *,
    progress: Progress | None,
    **how: Any,  # noqa: ANN401 - passed on
) -> RiskFacts:
    """Return the predicted and the achieved success of attacks; note missing results with their reasons."""
    tell = progress or (lambda *_: None)
    tell("assessing", 0, 1)
    # Both functions refuse targets that they do not judge.
    attacker = Policy({name: value for name, value in policy.chosen.items() if name in {AVERAGING.name, BOUND.name}})
    mildest, assessments = _assessments(source, record, attacker, absent)
    # All tables share the noise, whatever they count, and therefore its bound.
    bound = assess(source, measures=("bound",), targets=attacker) if record and not record.is_exact else None
    design = _design(source, record, bound, attacker, absent)
    tell("assessing", 1, 1)
    return RiskFacts(
        policy=policy,
        assessments=assessments,
        bound=bound,
        mildest=mildest,
        attacks=_attacks(source, absent, progress=progress, **how),
        design=design,
    )


def _utility(law: TransitionMatrix, measured: Utility) -> UtilityFacts:
    """Return the expected and the measured effect of the noise on data users."""
    return UtilityFacts(
        village=published_counts(law, VILLAGE),
        small=tuple(published_counts(law, count) for count in SMALL_COUNTS),
        expected=tuple(expected_effects(law)) if law.bound else (),
        measured=measured,
    )


def _with_record(release: Release | Path | str) -> Release:
    """Return a release with the record of its noise."""
    found = release if isinstance(release, Release) else open_release(release)
    if not found.has_record:
        what = "has no record of its noise next to it"
        todo = "Use --public for a report from the published files alone."
        raise ReleaseError.at(found.path or Path(), what, todo)
    return found


def _publishable(release: Release, name: str) -> Release:
    """Return a release that may have a public page."""
    if release.description["noise"].get("method") == TRUE_COUNTS:
        what = "contains true counts without noise, which must not be published"
        raise ReleaseError.at(Path(name), what, "Use a release with noise, or omit --public.")
    return release


def _assessments(
    release: Release, record: Record | None, policy: Policy, absent: dict[str, str]
) -> tuple[Assessment | None, tuple[Assessment, ...]]:
    """Return the predicted risk: for a public page the lowest and the highest, for the curator one."""
    if record is None:
        told = release.description["noise"]
        if told.get("method") in NOT_RANDOM:
            absent["risk"] = NOT_RANDOM[told["method"]]
            return None, ()
        sizes, promise = deviation_range(told), told.get("privacy")
        if sizes is None or promise:
            absent["risk"] = UNTOLD_SPLIT.format(**promise) if promise else UNTOLD
            return None, ()
        worst, mildest = (_most_exposed_first(disclosed_record(release, size), TOLD_MEASURES, policy) for size in sizes)
        return mildest[0], worst
    if record.is_exact:
        absent["risk"] = EXACT
        return None, ()
    if record.rounds:
        absent["risk"] = NOT_RANDOM[ROUNDING]
    return None, _most_exposed_first(record, MEASURES, policy)


def _most_exposed_first(record: Record, measures: tuple[str, ...], policy: Policy) -> tuple[Assessment, ...]:
    """Return the risk of every unit that tables count, over all its universes, the largest first."""
    units = dict.fromkeys(table.unit for table in record.published().tables)
    found = [assess(record, measures=measures, unit=name, targets=policy) for name in units]
    return tuple(sorted(found, key=_success, reverse=True))


def _success(assessment: Assessment) -> float:
    return max((each.value for each in assessment.results if each.name == "averaging_success"), default=0.0)


def _design(
    release: Release, record: Record | None, bound: Assessment | None, policy: Policy, absent: dict[str, str]
) -> NoiseDesign | None:
    if record is None or bound is None:
        absent["design"] = EXACT if record else PUBLIC
        return None
    try:
        # The noise terms of the assessment, so that both agree on the largest variance.
        terms = bound.case.noise_terms if math.isfinite(record.bound) else None
        return choose_noise(release.programme, targets=policy, cuts=0, terms=terms)
    except InputError as error:
        absent["design"] = str(error)
        return None


def _attacks(
    release: Release,
    absent: dict[str, str],
    *,
    public: bool,
    **how: Any,  # noqa: ANN401 - handed on
) -> AttackReport | None:
    if public:
        absent["attacks"] = absent["truth"] = PUBLIC
        return None
    if release.record.is_exact:
        absent["attacks"] = EXACT
        return None
    if how["truth"] is None and not has_true_counts(release):
        absent["attacks"] = absent["truth"] = NO_TRUTH
        return None
    try:
        return attack_release(release, **how)
    except ParameterError as error:
        # Attacks refuse noise that they do not support.
        absent["attacks"] = str(error)
        return None


def _again(name: str, record: Record | None, flags: str) -> tuple[str, ...]:
    """Return the commands that reproduce the release, verify it, and write this report."""
    report = f"discreet report {name}{flags} --out report.html"
    if record is None or not record.mechanism_class.repeatable:
        return (f"discreet verify {name}", report)
    secret = " --secret-file SECRET" if record.secret_check else ""
    return (
        f"discreet protect --again {name}.curator{secret} --out again",
        f"discreet verify {name} --data DATA{secret}",
        report,
    )


def _flags(
    *,
    public: bool,
    policy: Policy,
    budget: int | None,
    seed: int,
    areas: str | None,
    truth: Path | str | None,
) -> str:
    """Return the flags of this report that differ from their defaults."""
    limit = "none" if budget is None else str(budget)
    told = {
        " --public": public,
        "".join(f" --target {each}" for each in policy.flags()): bool(policy.chosen),
        f" --budget {limit}": budget != BUDGET and not public,
        f" --seed {seed}": seed != 0,
        f" --areas {areas}": areas is not None,
        " --truth TRUTH": truth is not None,
    }
    return "".join(flag for flag, given in told.items() if given)


def _name(release: Release | Path | str) -> str:
    """Return the name of a release without its path on this machine."""
    path = release.path if isinstance(release, Release) else Path(release)
    return path.absolute().name if path else "RELEASE"


def _versions() -> dict[str, str]:
    libraries = {name: version(library) for name, library in LIBRARIES.items()}
    return {"discreet": version("discreet"), "Python": platform.python_version(), **libraries}
