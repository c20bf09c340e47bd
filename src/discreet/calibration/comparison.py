"""Publish in memory, attack and measure: several mechanisms, or one setting on data.

Compare mechanisms on the same output: risk and utility side by side, at equal variance or at equal risk.

Equal variance: one noise on a large count has the same variance V under each mechanism. Equal risk: the best linear
attack on the count that everything published tells most about succeeds as often under each, by the formula
P(|N(0, V r)| < 1/2) with r solved exactly; r depends on how often a statistic is published with noise of its own, so
that a mechanism which repeats counts with fresh noise needs more of it: V r is held equal.

A setting tried on data: published in memory, attacked and measured, before anybody decides on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.accuracy.release_areas import NO_AREAS
from discreet.accuracy.release_utility import utility as measure_utility
from discreet.attacks.attack_estimates import ATTACKS
from discreet.attacks.attack_report import of_single_persons
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
"""Measures of risk from the record alone that are compared."""
COMPARED_ATTACKS = ("posterior-projection", "projection", "margins")
"""Attacks that are mounted on every release."""
VARIANCE, BOUND = 2.0, 5
SLACK = 1e-6
"""Of a variance that was asked for, what does not matter."""
STEPS = (
    "The variance of the first mechanism goes in steps: it has {:.3g}, the nearest to {:.3g}, and so have the others."
)
EXPECTED_ERROR = "expected_relative_distance"
"""What mechanisms are ranked by."""
ALIKE = 0.01
"""Errors that differ by less than this share are the same."""


@dataclass(frozen=True, eq=False)
class MechanismResult:
    """One mechanism with what it risks and what it spoils.

    Attributes:
        contender: as it was asked for.
        record: how its noise was made.
        risk: from the record, and what attacks achieved on the release.
        utility: what the noise did to users in this very release.
    """

    contender: ComparedMechanism
    record: Record
    risk: tuple[Result, ...]
    utility: tuple[Result, ...]

    @property
    def name(self) -> str:
        """Return the name as it was asked for."""
        return self.contender.name

    def find(self, *names: str) -> Result | None:
        """Return a figure by its name, of several the largest; None where the mechanism has none."""
        found = [each for each in (*self.risk, *self.utility) if each.name in names]
        return max(found, key=lambda each: each.value, default=None)

    def value(self, *names: str) -> float | None:
        """Return the value of a figure by its name, of several the largest; None where the mechanism has none."""
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
        programme: its name.
        at: what was held equal.
        variance: of one noise of the first mechanism.
        bound: of its noise.
        seed: of all that is random.
        compared: in the order in which they were named.
        warnings: what a reader should know.
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
        """Return the figures of all mechanisms, each with the mechanism in its name."""
        return tuple(
            replace(each, name=f"{one.name}: {each.name}")
            for one in self.compared
            for each in (*one.risk, *one.utility)
        )

    @property
    def title(self) -> str:
        """Return what was compared."""
        return self.opening()

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints beside settings, results and warnings."""
        return {"contenders": [each.to_json() for each in self.compared]}

    def figures(self, *names: str) -> list[float] | None:
        """Return a figure of every mechanism, of several the largest; None where one of them does not have it."""
        found = [each.value(*names) for each in self.compared]
        return [value for value in found if value is not None] if None not in found else None

    def opening(self) -> str:
        """Return what was compared, in a sentence."""
        first, count = self.compared[0].name, len(self.compared)
        many = "1 mechanism" if count == 1 else f"{count} mechanisms"
        if self.at == AT[0]:
            held = f"at noise of variance {self.variance:g} on every large count"
        else:
            held = f"where the best linear attack succeeds as often as on {first} with variance {self.variance:g}"
        return f"{many} on {self.programme}, {held}."

    def sentences(self) -> list[str]:
        """Return what the comparison shows: who spoils least, and where equal is not equal."""
        found = [*self._errors(), *self._attacks(), *self._budgets()]
        unbounded = [each.name for each in self.compared if not math.isfinite(each.record.bound)]
        if unbounded:
            found.append(f"Without a bound: {', '.join(unbounded)}; there any count can be off by any amount.")
        return found

    def _errors(self) -> Iterator[str]:
        """Say who spoils least, over all draws of the noise: one draw would also rank laws that are the same."""
        least, most = (self._extreme(EXPECTED_ERROR, pick) for pick in (min, max))
        if least is None or most is None:
            return
        low, high = (each.value(EXPECTED_ERROR) or 0.0 for each in (least, most))
        if high <= low * (1 + ALIKE):
            yield f"Published counts are off by {low:.1%} of the true count on average under all of them."
        else:
            yield (
                f"Published counts are off least under {least.name}, by {low:.1%} of the true count on average, and "
                f"most under {most.name}, by {high:.1%}."
            )

    def _attacks(self) -> Iterator[str]:
        low, high = (self._extreme("projection", pick) for pick in (min, max))
        if low is not None and high is not None and low is not high:
            yield (
                f"On these releases the best linear attack names {low.value('projection'):.1%} of the counts above 0 "
                f"exactly under {low.name} and {high.value('projection'):.1%} under {high.name}."
            )

    def _budgets(self) -> Iterator[str]:
        for each in self.compared:
            epsilon = each.value("epsilon_of_output")
            if epsilon is not None:
                yield f"{each.name} spends an epsilon of {epsilon:.3g} on the whole output for that."

    def __str__(self) -> str:
        return "\n".join([self.opening(), *self.sentences()])

    def _extreme(self, name: str, pick: Callable[..., MechanismResult]) -> MechanismResult | None:
        """Return the mechanism with the smallest or the largest figure, of those that have it."""
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
    """Publish data with several mechanisms, in memory, and measure risk and utility of each.

    Args:
        data: as for `protect`.
        programme: as for `protect`.
        mechanisms: names of mechanisms and laws, as `cell-key`, `geometric` or `fresh:laplace`; all by default.
        at: `equal-variance` or `equal-risk`; the first mechanism is the one that the others are made equal to.
        variance: of one noise of the first mechanism.
        bound: of laws that can be bounded; it grows with the standard deviation where more noise is needed.
        ptable: the file of a p-table, which is compared first, with its own variance and bound.
        attacks: that are mounted on every release.
        budget: target cells of attacks that work cell by cell; None is all cells.
        areas: the topic of areas.
        tables: ids or patterns of the tables to make, all of the unit by default.
        unit: what a row of the data is.
        seed: of all that is random.
        progress: called with a stage, what is done and what there is to do.
        reading: what else `protect` takes, as `id` or `count`.
    """
    if at not in AT:
        raise UnknownNameError.among("way to compare", at, AT)
    if seed < 0:
        raise ParameterError.outside("compare", "seed", seed, "a whole number from 0 on")
    keyed = bool(reading.get("id") or reading.get("key"))
    asked = contenders(mechanisms, keyed=keyed)
    if ptable is not None:
        asked = (ptable_contender(Path(ptable), keyed=keyed), *asked)
        variance, bound = _size_of(ptable)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    chosen = choose_tables(spec, tables, unit)
    # What would be refused in the end is refused before anything is published.
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
            risk += [*report.results, *of_single_persons(report)]
        spoilt = measure_utility(release, areas=areas, seed=seed).results
        compared.append(MechanismResult(contender, release.record, tuple(risk), spoilt))
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
    """Return the variance and the bound of a p-table, or refuse one without random noise."""
    table = read_ptable(ptable)
    if table.is_deterministic:
        what = f"{ptable} has no random noise, so that nothing has as much."
        raise ParameterError(f"{what} Give a p-table with noise.", parameter="ptable")
    return table.large.variance, table.bound


def _uneven(compared: MechanismResult, wanted: float) -> Iterator[str]:
    """Say where a law cannot have the variance that would make it equal."""
    found = compared.record.variance
    if abs(found / wanted - 1) > SLACK:
        yield (
            f"{compared.name} has variance {found:.3g} instead of {wanted:.3g}: that of its law goes in steps, and "
            "this is the nearest."
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
    """Return the mechanisms with as much noise as makes them equal to the first, and its variance."""
    output = output_of(programme)
    made = [each.at(variance, bound, output, keyed=keyed, seed=seed) for each in asked]
    reached = _variance(programme, made[0].ready_for(output))
    if abs(reached / variance - 1) > SLACK:
        # The variance of the first goes in steps: the others are made equal to what it really has.
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
    """Return the variance that one noise on a large count really has."""
    told = {"programme": programme.name, "definition": programme_to_json(programme), **mechanism.described()}
    return Record(**told).variance


def _ratio(programme: Programme, *, spsn: bool) -> float:
    """Return r of the statistic that is told most about: the variance of the best linear estimate in units of V."""
    record = Record(
        programme=programme.name,
        definition=programme_to_json(programme),
        mechanism="coordinates" if spsn else "fresh",
        spsn=spsn,
        parameters={"variance": 1.0, "bound": 5},
    )
    worst = assess(record, measures=["averaging"]).case.worst
    assert worst is not None  # noqa: S101 - nothing is known beforehand
    return worst.ratio


TRIAL_ATTACKS = ("posterior-projection", "projection", "margins", "bound")
LAW = "max-entropy"
SINGLE = (
    "posterior-projection: single persons",
    "projection: single persons",
    "margins: posterior: single persons",
)
BOUND_ATTACK = "bound"
TOLD = (
    ("posterior-projection", "projection"),
    SINGLE,
    (BOUND_ATTACK,),
    ("expected_absolute_distance",),
    ("totals_apart",),
    ("counts_off_by_20_percent",),
)
"""Figures that are told first; of several the largest."""


@dataclass(frozen=True)
class TrialRelease:
    """What attackers and users get of one release of the data.

    Attributes:
        mechanism: who got which noise: cell keys where records have keys, else coordinates.
        results: of attacks and of measures of utility.
        warnings: of measuring.
    """

    mechanism: str
    results: tuple[Result, ...]
    warnings: tuple[str, ...]

    def told(self) -> list[Result]:
        """Return the figures that are told first."""
        found = []
        for names in TOLD:
            there = [each for each in self.results if each.name in names]
            found += sorted(there, key=lambda each: -each.value)[:1]
        return found

    def alarms(self, confidence: float) -> Iterator[str]:
        """Say where these data are known better than the formulas for large counts promise."""
        single = max((each.value for each in self.results if each.name in SINGLE), default=0.0)
        if single > confidence:
            yield (
                f"On these data {single:.1%} of the cells of one person are recovered exactly, more than "
                f"{confidence:.1%}: the constraints are about large counts."
            )
        if any(each.name == BOUND_ATTACK and each.value >= 1 for each in self.results):
            yield "On these data the attack on the bound found it."


def try_on_data(
    data: object,
    programme: Programme,
    setting: Setting,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **reading: Any,  # noqa: ANN401 - of protect
) -> TrialRelease:
    """Publish data with a setting, in memory, attack the release and measure what users get.

    Args:
        data: as for `protect`.
        programme: what is published.
        setting: variance and bound.
        seed: of all that is random.
        progress: called with a stage, what is done and what there is to do.
        reading: what else `protect` takes, as `id` or `count`.
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
    found = (*report.results, *of_single_persons(report), *used.results)
    return TrialRelease(mechanism, tuple(replace(each, worst=None) for each in found), used.warnings)
