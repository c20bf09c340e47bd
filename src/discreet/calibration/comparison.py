"""Publish in memory, attack and measure: several mechanisms, or one setting on data.

A comparison measures the risk and the utility of several mechanisms on the same output, at equal variance or at equal
risk.

Equal variance: the noise of a large count has the same variance V under each mechanism. Equal risk: the optimal linear
attack on the most exposed count has the same success rate under each mechanism, by the formula P(|N(0, V r)| < 1/2)
with r solved exactly. The ratio r depends on how often a statistic is published with independent noise. A mechanism
that repeats counts with fresh noise therefore needs more noise: V r is equal for all mechanisms.

A trial release applies one setting to data: it is published in memory, attacked and measured before the decision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accuracy.release_areas import NO_AREAS
from discreet.accuracy.release_utility import utility as measure_utility
from discreet.attacks.attack_estimates import ATTACKS
from discreet.attacks.attack_report import singleton_results
from discreet.attacks.attack_run import attack
from discreet.attacks.target_cells import BUDGET
from discreet.calibration.mechanisms_compared import (
    WITH_KEYS,
    WITHOUT_KEYS,
    ComparedMechanism,
    contenders,
    ptable_contender,
)
from discreet.errors import ParameterError, UnknownNameError
from discreet.noise.formats.ptable_files import read_ptable
from discreet.programme.model import Programme
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_json import programme_to_json
from discreet.programme.selection import area_topic, choose_tables
from discreet.protection.pipeline import protect
from discreet.release.record import Record
from discreet.results import ResultSet
from discreet.risk.assessment import assess
from discreet.tabulation.static_output import output_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.calibration.recommendation import Setting
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.progress import Progress
    from discreet.results import Result

AT = ("equal-variance", "equal-risk")
MEASURES = ("averaging", "epsilon_delta")
"""Compared measures of risk that need only the record."""
COMPARED_ATTACKS = ("posterior-projection", "projection", "margins")
"""Attacks that are run on every release."""
VARIANCE, BOUND = 2.0, 5
SLACK = 1e-6
"""Relative tolerance on the requested variance."""
STEPS = (
    "The noise distribution of the first mechanism has discrete variances. All mechanisms use {:.3g}, the nearest to "
    "{:.3g}."
)
EXPECTED_ERROR = "expected_relative_distance"
"""The measure by which mechanisms are ranked."""
ALIKE = 0.01
"""Relative tolerance below which errors count as equal."""


@dataclass(frozen=True, eq=False)
class MechanismResult:
    """One mechanism with its risk and utility.

    Attributes:
        contender: the compared mechanism as requested.
        record: the record of its release.
        risk: the measures of risk from the record, and the results of attacks on the release.
        utility: the measures of utility in this release.
    """

    contender: ComparedMechanism
    record: Record
    risk: tuple[Result, ...]
    utility: tuple[Result, ...]

    @property
    def name(self) -> str:
        """Return the name as requested."""
        return self.contender.name

    def find(self, *names: str) -> Result | None:
        """Return the result with a name, among several the largest; None if the mechanism has none of them."""
        found = [each for each in (*self.risk, *self.utility) if each.name in names]
        return max(found, key=lambda each: each.value, default=None)

    def value(self, *names: str) -> float | None:
        """Return the value of the result with a name, among several the largest; None if it has none."""
        found = self.find(*names)
        return None if found is None else found.value

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "name": self.name,
            "mechanism": self.record.mechanism,
            "law": self.record.law,
            "parameters": self.record.parameters,
            "spsn": self.record.spsn,
            "variance": self.record.variance,
            "bound": self.record.bound if math.isfinite(self.record.bound) else None,
            "risk": [each.to_json() for each in self.risk],
            "utility": [each.to_json() for each in self.utility],
        }


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison(ResultSet):
    """Several mechanisms on one output.

    Attributes:
        programme: the name of the programme.
        at: `equal-variance` or `equal-risk`.
        variance: the variance of one noise term of the first mechanism.
        bound: the bound of its noise.
        seed: the seed of all random numbers.
        compared: the mechanisms in the order given.
        warnings: the warnings for the reader.
    """

    programme: str
    at: str
    variance: float
    bound: int
    seed: int
    compared: tuple[MechanismResult, ...]
    warnings: tuple[str, ...] = field(default=())

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the results of all mechanisms, each with the mechanism in its name."""
        return tuple(
            replace(each, name=f"{one.name}: {each.name}")
            for one in self.compared
            for each in (*one.risk, *one.utility)
        )

    @property
    def title(self) -> str:
        """Return the subject of the comparison."""
        return self.opening()

    def to_json(self) -> dict[str, Any]:
        """Return the part of the `--json` output next to settings, results and warnings."""
        return {"contenders": [each.to_json() for each in self.compared]}

    def figures(self, *names: str) -> list[float] | None:
        """Return one value of every mechanism, among several the largest; None if a mechanism does not have it."""
        found = [each.value(*names) for each in self.compared]
        return [value for value in found if value is not None] if None not in found else None

    def opening(self) -> str:
        """Return the mechanisms, the programme and the condition of the comparison in a sentence."""
        first, count = self.compared[0].name, len(self.compared)
        many = "1 mechanism" if count == 1 else f"{count} mechanisms"
        if self.at == AT[0]:
            condition = f"at equal variance {self.variance:g} of the noise of large counts"
        else:
            condition = (
                f"at equal success of the optimal linear attack, that on {first} with variance {self.variance:g}"
            )
        return f"{many} on {self.programme}, {condition}."

    def sentences(self) -> list[str]:
        """Return the main findings: errors, exact recovery, privacy budgets and unbounded noise."""
        found = [*self._errors(), *self._attacks(), *self._budgets()]
        unbounded = [each.name for each in self.compared if not math.isfinite(each.record.bound)]
        if unbounded:
            found.append(f"Unbounded noise: {', '.join(unbounded)}. Errors of single counts have no upper limit.")
        return found

    def _errors(self) -> Iterator[str]:
        """Yield the smallest and the largest expected error.

        The expectation is over all draws of the noise: one draw would also rank distributions that are equal.
        """
        least, most = (self._extreme(EXPECTED_ERROR, pick) for pick in (min, max))
        if least is None or most is None:
            return
        low, high = (each.value(EXPECTED_ERROR) or 0.0 for each in (least, most))
        if high <= low * (1 + ALIKE):
            yield f"The mean relative error of published counts is {low:.1%} under all mechanisms."
        else:
            yield (
                f"The mean relative error of published counts is smallest under {least.name} ({low:.1%}) and largest "
                f"under {most.name} ({high:.1%})."
            )

    def _attacks(self) -> Iterator[str]:
        low, high = (self._extreme("projection", pick) for pick in (min, max))
        if low is not None and high is not None and low is not high:
            yield (
                f"On these releases the optimal linear attack recovers {low.value('projection'):.1%} of the counts "
                f"above 0 exactly under {low.name} and {high.value('projection'):.1%} under {high.name}."
            )

    def _budgets(self) -> Iterator[str]:
        for each in self.compared:
            epsilon = each.value("epsilon_of_output")
            if epsilon is not None:
                yield f"{each.name} uses a privacy budget of epsilon {epsilon:.3g} for the whole output."

    def __str__(self) -> str:
        return "\n".join([self.opening(), *self.sentences()])

    def _extreme(self, name: str, pick: Callable[..., MechanismResult]) -> MechanismResult | None:
        """Return the mechanism with the smallest or the largest value, among those that have it."""
        there = [each for each in self.compared if each.value(name) is not None]
        return pick(there, key=lambda each: each.value(name)) if there else None


def compare(
    data: object,
    programme: Programme | str | Path,
    mechanisms: Sequence[str] | None = None,
    *,
    at: str = AT[0],
    variance: float = VARIANCE,
    bound: int = BOUND,
    ptable: Path | str | None = None,
    attacks: Sequence[str] = COMPARED_ATTACKS,
    budget: int | None = BUDGET,
    areas: str | None = None,
    tables: Sequence[str] | None = None,
    unit: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **reading: Any,  # noqa: ANN401 - of protect
) -> Comparison:
    """Publish data with several mechanisms in memory, and measure the risk and the utility of each.

    Args:
        data: the data, as for `protect`.
        programme: the programme, as for `protect`.
        mechanisms: the names of mechanisms and noise distributions, as `cell-key`, `geometric` or `fresh:laplace`; all
            by default.
        at: `equal-variance` or `equal-risk`; the first mechanism is the reference for the others.
        variance: the variance of one noise term of the first mechanism.
        bound: the bound of distributions that can be bounded; it grows with the standard deviation if more noise is
            needed.
        ptable: the file of a p-table, which becomes the first mechanism, with its own variance and bound.
        attacks: the attacks to run on every release.
        budget: the number of target cells of attacks that work cell by cell; None for all cells.
        areas: the topic of areas.
        tables: the ids or patterns of the tables to publish; all of the unit by default.
        unit: the unit that a row of the data describes.
        seed: the seed of all random numbers.
        progress: a callback with the stage, the completed steps and the total steps.
        reading: further arguments of `protect`, as `id` or `count`.
    """
    if at not in AT:
        raise UnknownNameError.among("condition of a comparison", at, AT)
    if seed < 0:
        raise ParameterError.outside("compare", "seed", seed, "a whole number from 0 on")
    keyed = bool(reading.get("id") or reading.get("key"))
    asked = contenders(mechanisms, keyed=keyed)
    if ptable is not None:
        asked = (ptable_contender(Path(ptable), keyed=keyed), *asked)
        variance, bound = _size_of(ptable)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    chosen = choose_tables(spec, tables, unit)
    # Invalid arguments are rejected before anything is published.
    ATTACKS.named(attacks or None)
    topic = area_topic(chosen, areas)
    made = _mechanisms(asked, chosen, at, variance, bound, keyed=keyed, seed=seed)
    compared: list[MechanismResult] = []
    warnings = [STEPS.format(made[0][1], variance)] if abs(made[0][1] / variance - 1) > SLACK else []
    warnings += [] if topic else [NO_AREAS]
    for number, (contender, (mechanism, wanted)) in enumerate(zip(asked, made, strict=True)):
        used = {**reading, "id": reading.get("id") if mechanism.needs_keys else None}
        used["key"] = reading.get("key") if mechanism.needs_keys else None
        release = protect(data, chosen, mechanism, keep_exact=True, allow_disclosure=True, **used)
        risk = list(assess(release, measures=MEASURES).results)
        if attacks:
            report = attack(release, attacks=attacks, budget=budget, seed=seed, predict=False)
            risk += [*report.results, *singleton_results(report)]
        utility = measure_utility(release, areas=areas, seed=seed).results
        compared.append(MechanismResult(contender, release.record, tuple(risk), utility))
        warnings += _uneven(compared[-1], wanted)
        if progress:
            progress("comparing", number + 1, len(asked))
    return Comparison(
        programme=spec.name,
        at=at,
        variance=made[0][1],
        bound=bound,
        seed=seed,
        compared=tuple(compared),
        warnings=tuple(warnings),
    )


def _size_of(ptable: Path | str) -> tuple[float, int]:
    """Return the variance and the bound of a p-table, or raise an error if it has no random noise."""
    table = read_ptable(ptable)
    if table.is_deterministic:
        what = f"{ptable} has no random noise, so that no mechanism can be calibrated to it."
        raise ParameterError(f"{what} Give a p-table with random noise.", parameter="ptable")
    return table.large.variance, table.bound


def _uneven(compared: MechanismResult, wanted: float) -> Iterator[str]:
    """Yield a warning if a noise distribution cannot have the variance that the comparison needs."""
    found = compared.record.variance
    if abs(found / wanted - 1) > SLACK:
        yield (
            f"{compared.name} has variance {found:.3g} instead of {wanted:.3g}, because its noise distribution has "
            "discrete variances. This is the nearest."
        )


def _mechanisms(
    asked: Sequence[ComparedMechanism],
    programme: Programme,
    at: str,
    variance: float,
    bound: int,
    *,
    keyed: bool,
    seed: int,
) -> list[tuple[Mechanism, float]]:
    """Return the mechanisms, calibrated to the first one, and the variance of each."""
    output = output_of(programme)
    made = [each.at(variance, bound, output, keyed=keyed, seed=seed) for each in asked]
    reached = _variance(programme, made[0].ready_for(output))
    if abs(reached / variance - 1) > SLACK:
        # The first mechanism has discrete variances: the others are calibrated to its actual variance.
        return _mechanisms(asked, programme, at, reached, bound, keyed=keyed, seed=seed)
    if at == AT[0]:
        return [(each, variance) for each in made]
    ratios = {spsn: _ratio(programme, spsn=spsn) for spsn in {each.spsn for each in made}}
    found = []
    for contender, mechanism in zip(asked, made, strict=True):
        stretch = ratios[made[0].spsn] / ratios[mechanism.spsn]
        wider = math.ceil(bound * math.sqrt(stretch) - 1e-9)
        wanted = variance * stretch
        found.append((contender.at(wanted, wider, output, keyed=keyed, seed=seed), wanted))
    return found


def _variance(programme: Programme, mechanism: Mechanism) -> float:
    """Return the actual variance of one noise term of a large count."""
    fields = {"programme": programme.name, "definition": programme_to_json(programme), **mechanism.described()}
    return Record(**fields).variance


def _ratio(programme: Programme, *, spsn: bool) -> float:
    """Return r of the most exposed statistic: the variance of the optimal linear estimate in units of V."""
    record = Record(
        programme=programme.name,
        definition=programme_to_json(programme),
        mechanism="coordinates" if spsn else "fresh",
        spsn=spsn,
        parameters={"variance": 1.0, "bound": 5},
    )
    worst = assess(record, measures=["averaging"]).case.worst
    assert worst is not None  # noqa: S101 - no statistic is known beforehand
    return worst.ratio


TRIAL_ATTACKS = ("posterior-projection", "projection", "margins", "bound")
LAW = "max-entropy"
SINGLE = (
    "posterior-projection: single persons",
    "projection: single persons",
    "margins: posterior: single persons",
)
BOUND_ATTACK = "bound"
HEADLINES = (
    ("posterior-projection", "projection"),
    SINGLE,
    (BOUND_ATTACK,),
    ("expected_absolute_distance",),
    ("totals_apart",),
    ("counts_off_by_20_percent",),
)
"""Results that are reported first; among several the largest."""


@dataclass(frozen=True)
class TrialRelease:
    """The results of attacks and of utility measures on one release of the data.

    Attributes:
        mechanism: `cell-key` if records have keys, otherwise `coordinates`.
        results: the results of attacks and of measures of utility.
        warnings: the warnings of the measures of utility.
    """

    mechanism: str
    results: tuple[Result, ...]
    warnings: tuple[str, ...]

    def headlines(self) -> list[Result]:
        """Return the results that are reported first."""
        found = []
        for names in HEADLINES:
            there = [each for each in self.results if each.name in names]
            found += sorted(there, key=lambda each: -each.value)[:1]
        return found

    def alarms(self, confidence: float) -> Iterator[str]:
        """Yield a warning for each attack that succeeds more often on these data than the target allows."""
        single = max((each.value for each in self.results if each.name in SINGLE), default=0.0)
        if single > confidence:
            yield (
                f"On these data {single:.1%} of the singleton cells are recovered exactly (target: at most "
                f"{confidence:.1%}). The constraints apply to large counts."
            )
        if any(each.name == BOUND_ATTACK and each.value >= 1 for each in self.results):
            yield "On these data the bound-disclosure attack identified the bound."


def try_on_data(
    data: object,
    programme: Programme,
    setting: Setting,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **reading: Any,  # noqa: ANN401 - of protect
) -> TrialRelease:
    """Publish data with a setting in memory, attack the release and measure its utility.

    Args:
        data: the data, as for `protect`.
        programme: the programme to publish.
        setting: the variance and the bound.
        seed: the seed of all random numbers.
        progress: a callback with the stage, the completed steps and the total steps.
        reading: further arguments of `protect`, as `id` or `count`.
    """
    keyed = bool(reading.get("id") or reading.get("key"))
    mechanism = WITH_KEYS if keyed else WITHOUT_KEYS
    chosen = choose_tables(programme, None, reading.pop("unit", None))
    made = ComparedMechanism(mechanism, mechanism, LAW).at(
        setting.variance, setting.bound, output_of(chosen), keyed=keyed, seed=seed
    )
    release = protect(data, chosen, made, keep_exact=True, progress=progress, **reading)
    report = attack(release, attacks=TRIAL_ATTACKS, seed=seed, predict=False, progress=progress)
    used = measure_utility(release, seed=seed)
    found = (*report.results, *singleton_results(report), *used.results)
    return TrialRelease(mechanism, tuple(replace(each, worst=None) for each in found), used.warnings)
