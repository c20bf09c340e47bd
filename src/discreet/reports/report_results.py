"""The results that a report shows: a release, its risk and its utility, gathered before any text is written."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accuracy.expected_accuracy import what_to_expect
from discreet.accuracy.release_utility import utility as measure_utility
from discreet.attacks.attack_run import attack as attack_release
from discreet.attacks.target_cells import BUDGET
from discreet.calibration.noise_design import design as choose_noise
from discreet.errors import InputError, ParameterError, ReleaseError
from discreet.noise.published_counts import published_counts
from discreet.programme.summary import shared_statistics
from discreet.release.disclosed_noise import disclosed_noise, told_range
from discreet.release.noise_record import FIXED_CHANGE, ROUNDING, TRUE_COUNTS
from discreet.release.public_view import public_side, told_record
from discreet.release.release import Release, open_release
from discreet.release.true_tables import keeps_truth
from discreet.risk.assessment import SUREST, assess
from discreet.risk.averaging import ONE_SIGMA

if TYPE_CHECKING:
    from discreet.accuracy.release_utility import Utility
    from discreet.attacks.attack_report import AttackReport
    from discreet.calibration.noise_design import NoiseDesign
    from discreet.noise.by_count import TransitionMatrix
    from discreet.noise.published_counts import PublishedCounts
    from discreet.programme.summary import SharedStatistic
    from discreet.progress import Progress
    from discreet.release.record import Record
    from discreet.results import Result
    from discreet.risk.assessment import Assessment

VILLAGE = 12
"""The size of the village that serves as an example."""
SMALL_COUNTS = (1, 2, 3, 5, 10, VILLAGE)
MEASURES = ("averaging", "redundancy", "margins", "epsilon_delta")
TOLD_MEASURES = ("averaging", "redundancy")
"""What follows from the programme and the size of the noise alone."""
LIBRARIES = {"DuckDB": "duckdb", "pyarrow": "pyarrow", "NumPy": "numpy"}
"""What a release depends on to the byte, by the name people know."""
KEEP = "Make the release with `protect --keep-exact` to have them, or name their folder with --truth."
NO_TRUTH = f"The true counts of this release were not kept, so that nothing can be compared with them. {KEEP}"
EXACT = "These are true counts without noise: there is nothing to assess, and nothing may be published."
PUBLIC = (
    "What attacks achieve, and all that needs true counts or the exact noise, is not told here: this page is made from "
    "the published files alone."
)
NOT_RANDOM = {
    ROUNDING: "Counts are rounded. Rounding is not random, so that figures of averaging do not apply: not assessed.",
    FIXED_CHANGE: "Every count is changed by a fixed amount. Anyone who knows the rule recovers every count.",
}
"""Why there is no figure of averaging, by the method that a release tells."""
UNTOLD = "The release does not tell the size of its noise, so that no risk follows from what it tells."
UNTOLD_SPLIT = (
    "The release promises epsilon {epsilon:g} and delta {delta:g} for the whole, under the condition that stands with "
    "its noise, and does not tell how this is split over counts: nothing follows on how well one of them is known."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedFacts:
    """What is published, and with which noise.

    Attributes:
        release: the release; for the public, without its curator's side.
        is_public: whether only what everybody may know was used.
        law: of the noise by true count; for the public, one that fits what is told.
        record: how the noise was made, None for the public.
        shared: the statistics, those in most tables first.
    """

    release: Release
    is_public: bool
    law: TransitionMatrix
    record: Record | None
    shared: tuple[SharedStatistic, ...]

    @property
    def is_exact(self) -> bool:
        """Say whether the release has no noise at all."""
        return not self.law.bound


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskFacts:
    """What an attacker could learn, and learnt.

    Attributes:
        confidence: the success an attacker may have.
        assessments: what formulas say that an attacker could learn, one for everything that tables count, the most
            exposed first; for the public, with the least noise that what is told may stand for.
        bound: how surely the bound is revealed by everything that is published; None for the public.
        mildest: for the public, the first with the largest.
        attacks: what attacks learnt, None where they cannot be scored.
        design: what noise the programme needs.
    """

    confidence: float
    assessments: tuple[Assessment, ...]
    bound: Assessment | None
    mildest: Assessment | None
    attacks: AttackReport | None
    design: NoiseDesign | None

    @property
    def assessment(self) -> Assessment | None:
        """Return that of what is most exposed, None if there is none."""
        return next(iter(self.assessments), None)

    def worst(self, name: str) -> Result | None:
        """Return the worst result of that name of all assessments, None if there is none."""
        every = (*self.assessments, *([self.bound] if self.bound else []))
        found = [result for each in every for result in each.results if result.name == name]
        return max(found, key=lambda each: each.value, default=None)


@dataclass(frozen=True, eq=False, kw_only=True)
class UtilityFacts:
    """What the noise does to users.

    Attributes:
        village: what a village is published as.
        small: the same for some small counts.
        expected: what users can expect of the law.
        measured: what the noise of this release does.
    """

    village: PublishedCounts
    small: tuple[PublishedCounts, ...]
    expected: tuple[Result, ...]
    measured: Utility


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportResults:
    """Everything that a report shows.

    Attributes:
        published: what is published, and with which noise.
        risk: what an attacker could learn, and learnt.
        utility: what the noise does to users.
        absent: by section, why something is not there and what to do about it.
        commands: what to type to make this again.
        versions: of programs by name.
        about: a sentence on the data, as that they are made up.
    """

    published: PublishedFacts
    risk: RiskFacts
    utility: UtilityFacts
    absent: dict[str, str]
    commands: tuple[str, ...]
    versions: dict[str, str]
    about: str = ""


def gather(
    release: Release | Path | str,
    *,
    public: bool = False,
    truth: Path | str | None = None,
    confidence: float = ONE_SIGMA,
    budget: int | None = BUDGET,
    seed: int = 0,
    areas: str | None = None,
    about: str = "",
    commands: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> ReportResults:
    """Ask everything that a report tells.

    Args:
        release: a Release or its folder.
        public: whether to use nothing but the published files.
        truth: the folder of true counts; OUT.curator/exact if left out and there.
        confidence: the success an attacker may have.
        budget: target cells of attacks that work cell by cell; None is all cells.
        seed: of attacks and of what is simulated.
        areas: the topic of areas, found by its name if left out.
        about: a sentence on the data, shown first.
        commands: what was typed before, to make this again.
        progress: called with a stage, what is done and what there is to do.
    """
    if not 0 < confidence <= SUREST:
        raise ParameterError.outside("report", "confidence", confidence, f"between 0 and {SUREST}", "0.68 to 0.95")
    if public and truth is not None:
        raise ParameterError("A page for everybody is made without true counts: leave out truth.", parameter="truth")
    source = _publishable(public_side(release), _name(release)) if public else _with_record(release)
    record = None if public else source.record
    law = record.transition_matrix() if record else disclosed_noise(source.description["noise"])
    flags = _flags(public=public, confidence=confidence, budget=budget, seed=seed, areas=areas, truth=truth)
    absent: dict[str, str] = {}
    # First, for it reads the true counts: a wrong folder is refused before the long work.
    measured = measure_utility(source, truth=truth, areas=areas, seed=seed, progress=progress)
    shared = tuple(shared_statistics(source.programme))
    how = {"public": public, "truth": truth, "budget": budget, "seed": seed}
    return ReportResults(
        published=PublishedFacts(release=source, is_public=public, law=law, record=record, shared=shared),
        risk=_risk(source, record, confidence, absent, progress=progress, **how),
        utility=_utility(law, measured),
        absent=absent,
        commands=(*commands, *_again(_name(release), record, flags)),
        versions=_versions(),
        about=about,
    )


def _risk(
    source: Release,
    record: Record | None,
    confidence: float,
    absent: dict[str, str],
    *,
    progress: Progress | None,
    **how: Any,  # noqa: ANN401 - handed on
) -> RiskFacts:
    """Return what an attacker could learn and learnt; note what is not there and why."""
    tell = progress or (lambda *_: None)
    tell("assessing", 0, 1)
    mildest, assessments = _assessments(source, record, confidence, absent)
    # The noise is one for all tables, whatever they count: so is what they reveal of its bound.
    bound = assess(source, measures=("bound",), confidence=confidence) if record and not record.is_exact else None
    design = _design(source, record, bound, confidence, absent)
    tell("assessing", 1, 1)
    return RiskFacts(
        confidence=confidence,
        assessments=assessments,
        bound=bound,
        mildest=mildest,
        attacks=_attacks(source, absent, progress=progress, **how),
        design=design,
    )


def _utility(law: TransitionMatrix, measured: Utility) -> UtilityFacts:
    """Return what users can expect of a law, and what was measured."""
    return UtilityFacts(
        village=published_counts(law, VILLAGE),
        small=tuple(published_counts(law, count) for count in SMALL_COUNTS),
        expected=tuple(what_to_expect(law)) if law.bound else (),
        measured=measured,
    )


def _with_record(release: Release | Path | str) -> Release:
    """Return a release that the curator's record is beside."""
    found = release if isinstance(release, Release) else open_release(release)
    if not found.has_record:
        what = "has no record of its noise beside it"
        todo = "Give --public: the report then tells what everybody may know."
        raise ReleaseError.at(found.path or Path(), what, todo)
    return found


def _publishable(release: Release, name: str) -> Release:
    """Return a release that may have a page for everybody."""
    if release.description["noise"].get("method") == TRUE_COUNTS:
        what = "holds true counts without any noise, which must not be published"
        raise ReleaseError.at(Path(name), what, "Give a release with noise, or leave out --public.")
    return release


def _assessments(
    release: Release, record: Record | None, confidence: float, absent: dict[str, str]
) -> tuple[Assessment | None, tuple[Assessment, ...]]:
    """Return what an attacker could learn, at the mildest and at the worst; for the curator, who knows it, once."""
    if record is None:
        told = release.description["noise"]
        if told.get("method") in NOT_RANDOM:
            absent["risk"] = NOT_RANDOM[told["method"]]
            return None, ()
        sizes, promise = told_range(told), told.get("privacy")
        if sizes is None or promise:
            absent["risk"] = UNTOLD_SPLIT.format(**promise) if promise else UNTOLD
            return None, ()
        worst, mildest = (_most_exposed_first(told_record(release, size), TOLD_MEASURES, confidence) for size in sizes)
        return mildest[0], worst
    if record.is_exact:
        absent["risk"] = EXACT
        return None, ()
    if record.rounds:
        absent["risk"] = NOT_RANDOM[ROUNDING]
    return None, _most_exposed_first(record, MEASURES, confidence)


def _most_exposed_first(record: Record, measures: tuple[str, ...], confidence: float) -> tuple[Assessment, ...]:
    """Return the risk of every unit that tables count, all its universes together, the largest first."""
    units = dict.fromkeys(table.unit for table in record.published().tables)
    found = [assess(record, measures=measures, unit=name, confidence=confidence) for name in units]
    return tuple(sorted(found, key=_success, reverse=True))


def _success(assessment: Assessment) -> float:
    return max((each.value for each in assessment.results if each.name == "averaging_success"), default=0.0)


def _design(
    release: Release, record: Record | None, bound: Assessment | None, confidence: float, absent: dict[str, str]
) -> NoiseDesign | None:
    if record is None or bound is None:
        absent["design"] = EXACT if record else PUBLIC
        return None
    try:
        # The same noise terms as in the assessment, so that both agree on which variance the bound allows.
        terms = bound.case.noise_terms if math.isfinite(record.bound) else None
        return choose_noise(release.programme, confidence=confidence, cuts=0, terms=terms)
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
    if how["truth"] is None and not keeps_truth(release):
        absent["attacks"] = absent["truth"] = NO_TRUTH
        return None
    try:
        return attack_release(release, **how)
    except ParameterError as error:
        # The attacks say themselves what noise they are not made for.
        absent["attacks"] = str(error)
        return None


def _again(name: str, record: Record | None, flags: str) -> tuple[str, ...]:
    """Return what to type to make the release again, where its noise can be, to check it, and to make this report."""
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
    confidence: float,
    budget: int | None,
    seed: int,
    areas: str | None,
    truth: Path | str | None,
) -> str:
    """Return the flags of the command that makes this report, those that are not as they are anyway."""
    limit = "none" if budget is None else str(budget)
    told = {
        " --public": public,
        f" --confidence {confidence:g}": confidence != ONE_SIGMA,
        f" --budget {limit}": budget != BUDGET and not public,
        f" --seed {seed}": seed != 0,
        f" --areas {areas}": areas is not None,
        " --truth TRUTH": truth is not None,
    }
    return "".join(flag for flag, given in told.items() if given)


def _name(release: Release | Path | str) -> str:
    """Return what a release is called; where it lies on this machine is nobody's business."""
    path = release.path if isinstance(release, Release) else Path(release)
    return path.absolute().name if path else "RELEASE"


def _versions() -> dict[str, str]:
    libraries = {name: version(library) for name, library in LIBRARIES.items()}
    return {"discreet": version("discreet"), "Python": platform.python_version(), **libraries}
