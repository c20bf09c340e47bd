"""Risk assessment: compute all measures for a record and its programme (`discreet assess`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.equations.closed_form import success
from discreet.errors import ParameterError
from discreet.limits import MAX_RELEASE_BYTES, read_named
from discreet.mechanisms.eps_dp import EpsDP
from discreet.noise.by_count import SameNoise, noise_by_count
from discreet.noise.by_name import described_noise
from discreet.noise.distribution import Noise
from discreet.noise.max_entropy import MaxEntropy, check_room
from discreet.noise.ptable import PTable
from discreet.programme.model import Programme
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_json import programme_to_json
from discreet.release.record import Record, record_from_json
from discreet.release.release import Release, open_release
from discreet.release.release_folder import recover
from discreet.results import ResultSet
from discreet.risk.measures import MEASURES, AssessmentCase
from discreet.risk.most_exposed import rounded_ratio
from discreet.risk.reconstruction import check_records
from discreet.risk.sentences import upwards
from discreet.tabulation.static_output import output_of
from discreet.verdicts import AVERAGING, BOUND, DELTA, EXPECTED_MARGINS, SINGLETONS, Decision, Policy, check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from discreet.mechanisms.mechanism import Mechanism
    from discreet.noise.by_count import NoiseByCount
    from discreet.progress import Progress
    from discreet.results import Result
    from discreet.verdicts import Check, Criterion


JUDGED = {
    AVERAGING: ("averaging", "averaging_success"),
    BOUND: ("bound", "bound_revealed"),
    EXPECTED_MARGINS: ("margins", "forced_tuples"),
    DELTA: ("epsilon_delta", "delta_at_epsilon_1"),
}
"""The figures that an assessment judges: by criterion the measure and the name of its result."""

LEVELS = "levels"
"""The rule that counts every level."""
LARGE_SETS = "The figure covers sets of large counts. `discreet attack` finds small counts that margins reveal."
PLAIN_KEYS = (
    "The keys are plain: the noise of a total follows from the keys of its parts. All figures assume independent "
    "noise. The true risk can be higher."
)


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(ResultSet):
    """The results of a risk assessment.

    Attributes:
        case: the record, the programme and the options of the assessment.
        by_measure: the results by name of the measure.
    """

    case: AssessmentCase
    by_measure: dict[str, tuple[Result, ...]]

    @property
    def title(self) -> str:
        """Return the programme and its noise."""
        record = self.case.record
        numbers = {name: value for name, value in record.parameters.items() if value and isinstance(value, float | int)}
        noise = [record.mechanism, record.law, *(f"{name} {value:g}" for name, value in numbers.items())]
        return f"{self.case.programme.name}; {', '.join(noise)}."

    @property
    def results(self) -> tuple[Result, ...]:
        """Return the results of all measures, in the order of computation."""
        return tuple(result for found in self.by_measure.values() for result in found)

    def averaging(self) -> list[dict[str, Any]]:
        """Return one row per statistic: exactly solved first, then by the closed form; empty for rounded counts."""
        if self.case.record.rounds:
            return []
        found, variance = self.case.averaging, self.case.record.variance
        columns = (found.t, found.k, found.plain, found.greedy, found.inverse_variance, found.optimal)
        names = ("t", "k", "plain", "greedy", "inverse_variance", "optimal")
        searched = self.case.exposed if {"averaging", "projection"} & self.by_measure.keys() else None
        solved = searched.by_statistic if searched else {}
        rows = []
        for place, statistic in enumerate(found.names):
            row: dict[str, Any] = {"statistic": statistic}
            row |= {name: column[place].item() for name, column in zip(names, columns, strict=True)}
            row["exact"] = solved.get(statistic)
            row["alpha"] = success(variance, row["exact"] or row["optimal"])
            rows.append(row)
        return sorted(rows, key=lambda row: (row["exact"] is None, rounded_ratio(row["exact"] or row["optimal"])))

    def checks(self) -> tuple[Check, ...]:
        """Return the figures compared with their targets; delta only where it has a target."""
        policy, largest = self.case.policy, self._largest()
        found = []
        for criterion, (measure, name) in JUDGED.items():
            result = largest.get(name)
            if criterion is DELTA and policy.target(DELTA) is None:
                continue
            value, sentence = (result.value, result.sentence) if result else (None, self._absent(measure))
            found.append(check(policy, criterion, value, sentence, partial=self._not_covered(criterion)))
        return tuple(found)

    @property
    def decision(self) -> Decision:
        """Return the verdict; singleton cells are judged by `attack` on a release."""
        singletons = check(self.case.policy, SINGLETONS, None, "Run `discreet attack` on a release with true counts.")
        needed = self._largest().get("variance_needed")
        decision = Decision((*self.checks(), singletons))
        if needed is None or AVERAGING not in {each.criterion for each in decision.missed}:
            return decision
        now = self.case.record.variance
        return replace(decision, options=(f"Use a variance of at least {upwards(needed.value)} instead of {now:.3g}.",))

    def _not_covered(self, criterion: Criterion) -> str:
        """Return why a figure can be lower than the true risk."""
        if self.case.record.has_plain_keys and criterion is not DELTA:
            return PLAIN_KEYS
        if criterion is EXPECTED_MARGINS:
            return LARGE_SETS
        if criterion is AVERAGING and (self.case.closed_form or self.case.rule != LEVELS):
            return "The closed form and the rule flat can understate the risk."
        return " ".join(self.excluded_tables()) if criterion is not DELTA else ""

    def _absent(self, measure: str) -> str:
        """Return why a measure has no result."""
        if measure not in self.by_measure:
            return f"The measure {measure} was not taken."
        if self.case.record.rounds:
            return "Counts are rounded. Rounding is not random, so that the measure does not apply."
        return f"The measure {measure} has no result for this noise."

    def _largest(self) -> dict[str, Result]:
        """Return of every name the result with the largest value."""
        found: dict[str, Result] = {}
        for each in self.results:
            if each.name not in found or each.value > found[each.name].value:
                found[each.name] = each
        return found

    def excluded_tables(self) -> list[str]:
        """Return a sentence on the tables that the figures exclude."""
        inside = self.case.scope.populations
        others = [f"{len(t)} of {name}" for name, t in self.case.programme.populations.items() if name not in inside]
        if not others:
            return []
        return [f"Tables excluded from these figures: {', '.join(others)}. Select a population to assess them."]

    @property
    def warnings(self) -> list[str]:
        """Return notes, reasons why figures understate the risk, and the excluded tables."""
        record = self.case.record
        plain = record.has_plain_keys and not record.is_deterministic
        notes = [*self.case.programme.notes, *record.noise_warnings()]
        return [*notes, *([PLAIN_KEYS] if plain else []), *self.excluded_tables()]

    def to_json(self) -> dict[str, Any]:
        """Return the fields that `--json` prints in addition to settings, results and warnings."""
        case = self.case
        published = sum(int(each.tables.sum()) for each in case.lattices.values())
        return {
            "rule": case.rule,
            "spsn": case.record.spsn,
            "statistics": {"unique": len(case.averaging.names), "published": published},
            "averaging": self.averaging(),
            "targets": case.policy.to_json(JUDGED),
            "decision": self.decision.to_json(),
        }

    def __str__(self) -> str:
        return "\n".join([*(result.sentence for result in self.results), *self.warnings])


def assess(
    source: str | Path | Programme | Record | Release,
    noise: NoiseByCount | Noise | Mechanism | None = None,
    *,
    measures: Sequence[str] | None = None,
    rule: str = "levels",
    keep_single: bool = False,
    population: str | None = None,
    known: str | None = None,
    targets: Policy | Mapping[str, float] | Iterable[str] | None = None,
    exact: Sequence[str] = (),
    records: int | None = None,
    closed_form: bool = False,
    unit: str | None = None,
    progress: Progress | None = None,
    **parameters: Any,  # noqa: ANN401 - law, spsn and parameters of the distribution
) -> Assessment:
    """Return the risk of a release or record, or of a programme with given noise.

    Args:
        source: a Release or its folder, a Record or the path of a record.json, or a programme (`eu2021:LU`, a file,
            a Programme).
        noise: for a programme, a p-table, a noise distribution or a mechanism such as CellKey. A p-table or a
            distribution is assessed as cell-key noise, or as fresh noise with `spsn=False`.
        measures: the names of the measures to compute; all by default.
        rule: the counting rule, `levels` or `flat`.
        keep_single: whether levels with one category count as levels, as the paper appears to do.
        population: the population whose tables are assessed; by default all tables of the most common unit, in
            all universes.
        known: a statistic whose true counts are public.
        targets: the targets of the office by name, as {"averaging": 0.68}; else those in the record, else the
            defaults.
        records: the number of persons, for the reconstruction theorems; by default that of the release.
        exact: statistics to solve exactly in addition to the most exposed ones.
        closed_form: whether to use the closed form for equal blocks instead of exact solutions; faster, but the
            error can have either sign.
        unit: the unit whose tables are assessed, in all universes; the most common unit by default.
        progress: a callback with the stage, the completed steps and the total steps.
        parameters: `law`, `spsn` and the parameters of the noise distribution, instead of `noise`.

    >>> print(assess("eu2021:LU", variance=3, bound=5, measures=["redundancy"]).results[0].value)
    2316.0
    >>> print(assess("eu2021:LU", PTable.max_entropy(variance=3, bound=5), measures=["redundancy"]).results[0].value)
    2316.0
    """
    if records is not None:
        check_records(records)
    asked = (exact,) if isinstance(exact, str) else tuple(exact)
    release = _release(source)
    record = _record(release or source, parameters if noise is None else {"noise": noise, **parameters})
    case = AssessmentCase(
        record,
        record.published(),
        rule,
        keep_single,
        population,
        known,
        Policy.of(targets).restricted("assess", JUDGED).over(record.targets, JUDGED),
        asked,
        record.records if records is None else records,
        release,
        closed_form,
        unit,
        progress,
    )
    taken = MEASURES.named(measures)
    case.check()
    return Assessment(case, {name: tuple(take(case)) for name, take in taken.items()})


def _release(source: str | Path | Programme | Record | Release) -> Release | None:
    """Return the assessed release; None if only noise and programme are given."""
    if isinstance(source, Release):
        return source
    if isinstance(source, Programme | Record):
        return None
    recover(Path(source))
    return open_release(Path(source)) if Path(source).is_dir() else None


def _record(source: str | Path | Programme | Record | Release, given: dict[str, Any]) -> Record:
    if isinstance(source, Record | Release):
        _refuse_noise(given)
        return source.record if isinstance(source, Release) else source
    if isinstance(source, Programme):
        return _of_programme(source, given)
    path = Path(source)
    if path.suffix == ".json":
        _refuse_noise(given)
        try:
            return record_from_json(read_named(path, MAX_RELEASE_BYTES), path)
        except OSError as error:
            raise ParameterError(
                f"{path} cannot be read: {error.strerror}. Check the path.", parameter="source"
            ) from error
    return _of_programme(str(source), given)


def _of_programme(source: Programme | str, given: dict[str, Any]) -> Record:
    named: dict[str, Any] = {"programme": source}
    if isinstance(source, Programme):
        named = {"programme": source.name, "definition": programme_to_json(source)}
    if "noise" in given:
        return Record(**named, **_described(given.pop("noise"), source, given))
    law, spsn = given.pop("law", MaxEntropy.name), given.pop("spsn", True)
    if law == MaxEntropy.name and {"variance", "bound"} <= given.keys() and not given.get("equality"):
        check_room(given["variance"], given["bound"])
    mechanism = "cell-key" if spsn else "fresh"
    return Record(mechanism=mechanism, law=law, spsn=spsn, parameters=given, **named)


def _described(noise: object, source: Programme | str, others: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record for a p-table, a noise distribution or a mechanism."""
    if isinstance(noise, PTable | SameNoise | Noise):
        spsn, zeros = others.pop("spsn", True), noise_by_count(noise).perturbs_zeros
        found = {"mechanism": "cell-key" if spsn else "fresh", "spsn": spsn, **described_noise(noise)}
        found |= {"key_space": noise.key_space} if isinstance(noise, PTable) else {"perturb_zeros": zeros}
    elif isinstance(noise, EpsDP):
        # The budget is split over the tables, which requires their codes.
        programme = source if isinstance(source, Programme) else load_programme(source)
        found = noise.ready_for(output_of(programme)).described()
    elif hasattr(noise, "described"):
        found = noise.described()
    else:
        words = "a p-table, a noise distribution such as Laplace(scale=2), or a mechanism such as CellKey"
        raise ParameterError.outside("assess", "noise", noise, words)
    _refuse_noise(others, f"{type(noise).__name__} defines the noise")
    return found


def _refuse_noise(given: dict[str, Any], why: str = "A record defines the noise") -> None:
    if given:
        raise ParameterError(
            f"{why}; {' and '.join(given)} cannot be given too. Leave them out.", parameter=next(iter(given))
        )
