"""Assess: every measure on a record and its programme, the function behind `discreet assess`."""

from __future__ import annotations

from dataclasses import dataclass
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
from discreet.risk.averaging import ONE_SIGMA
from discreet.risk.measures import MEASURES, AssessmentCase
from discreet.risk.most_exposed import in_order
from discreet.risk.reconstruction import check_records
from discreet.tabulation.static_output import output_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.mechanisms.mechanism import Mechanism
    from discreet.noise.by_count import NoiseByCount
    from discreet.results import Result


SUREST = 0.999999
"""The largest confidence that can be asked for: beyond it rounding decides."""

PLAIN_KEYS = (
    "Keys are plain: the noise of a total follows from the keys of its parts. All figures assume independent noise, so "
    "that the true risk can be higher."
)


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(ResultSet):
    """What the measures found.

    Attributes:
        case: the record, the programme and what was asked for.
        by_measure: the results of every measure, by its name.
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
        """Return the results of all measures, in the order the measures were taken."""
        return tuple(result for found in self.by_measure.values() for result in found)

    def averaging(self) -> list[dict[str, Any]]:
        """Return one record per statistic: those solved exactly first, then by the closed form; none for rounding."""
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
        return sorted(rows, key=lambda row: (row["exact"] is None, in_order(row["exact"] or row["optimal"])))

    def left_out(self) -> list[str]:
        """Return a sentence on the tables that are not in these figures."""
        inside = self.case.scope.populations
        others = [f"{len(t)} of {name}" for name, t in self.case.programme.populations.items() if name not in inside]
        if not others:
            return []
        return [f"Not in these figures: {', '.join(others)} (tables by what they count); choose them as population."]

    @property
    def warnings(self) -> list[str]:
        """Return notes, what makes figures lower than the true risk, and which tables they leave out."""
        record = self.case.record
        plain = record.has_plain_keys and not record.is_deterministic
        notes = [*self.case.programme.notes, *record.noise_warnings()]
        return [*notes, *([PLAIN_KEYS] if plain else []), *self.left_out()]

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints beside settings, results and warnings."""
        case = self.case
        published = sum(int(each.tables.sum()) for each in case.lattices.values())
        return {
            "rule": case.rule,
            "spsn": case.record.spsn,
            "statistics": {"unique": len(case.averaging.names), "published": published},
            "averaging": self.averaging(),
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
    confidence: float = ONE_SIGMA,
    exact: Sequence[str] = (),
    records: int | None = None,
    closed_form: bool = False,
    unit: str | None = None,
    **parameters: Any,  # noqa: ANN401 - law, spsn and the law's parameters
) -> Assessment:
    """Return the risk of a release or record, or of a programme with a given noise.

    Args:
        source: a Release or its folder, a Record or the path of a record.json, or a programme (`eu2021:LU`, a file,
            a Programme).
        noise: of a programme: a p-table, a noise distribution or a mechanism such as CellKey. A p-table and a
            distribution are assessed as noise of cell keys, or as fresh noise with `spsn=False`.
        measures: names of the measures to take, all by default.
        rule: `levels` or `flat`.
        keep_single: count levels with one category as levels, as the paper seems to have done.
        population: which tables, by what they count; by default all tables of the most common unit, in whatever
            universes.
        known: a statistic whose true counts are public.
        confidence: the success an attacker may have.
        records: how many persons are counted, for the reconstruction theorems; a release knows its own.
        exact: statistics to solve exactly beside the most exposed ones.
        closed_form: use the closed form for equal blocks instead of exact solutions; faster, errs both ways.
        unit: which tables, by the unit they count, in whatever universes; the most common by default.
        parameters: `law`, `spsn` and the parameters of the law, instead of `noise`.

    >>> print(assess("eu2021:LU", variance=3, bound=5, measures=["redundancy"]).results[0].value)
    2316.0
    >>> print(assess("eu2021:LU", PTable.max_entropy(variance=3, bound=5), measures=["redundancy"]).results[0].value)
    2316.0
    """
    if not 0 < confidence <= SUREST:
        raise ParameterError.outside("assess", "confidence", confidence, f"between 0 and {SUREST}", "0.68 to 0.95")
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
        confidence,
        asked,
        record.records if records is None else records,
        release,
        closed_form,
        unit,
    )
    taken = MEASURES.named(measures)
    case.check()
    return Assessment(case, {name: tuple(take(case)) for name, take in taken.items()})


def _release(source: str | Path | Programme | Record | Release) -> Release | None:
    """Return the release that is assessed, None where only its noise and its programme are given."""
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


def _described(noise: object, source: Programme | str, beside: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record for a p-table, a noise distribution or a mechanism."""
    if isinstance(noise, PTable | SameNoise | Noise):
        spsn, zeros = beside.pop("spsn", True), noise_by_count(noise).perturbs_zeros
        found = {"mechanism": "cell-key" if spsn else "fresh", "spsn": spsn, **described_noise(noise)}
        found |= {"key_space": noise.key_space} if isinstance(noise, PTable) else {"perturb_zeros": zeros}
    elif isinstance(noise, EpsDP):
        # Its budget is split over the tables, which must have their codes for that.
        programme = source if isinstance(source, Programme) else load_programme(source)
        found = noise.ready_for(output_of(programme)).described()
    elif hasattr(noise, "described"):
        found = noise.described()
    else:
        words = "a p-table, a noise distribution such as Laplace(scale=2), or a mechanism such as CellKey"
        raise ParameterError.outside("assess", "noise", noise, words)
    _refuse_noise(beside, f"{type(noise).__name__} defines the noise")
    return found


def _refuse_noise(given: dict[str, Any], why: str = "A record says its noise itself") -> None:
    if given:
        raise ParameterError(
            f"{why}; {' and '.join(given)} cannot be given too. Leave them out.", parameter=next(iter(given))
        )
