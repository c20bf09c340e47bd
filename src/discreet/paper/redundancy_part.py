"""Counting redundancies: t, k and k / t^2 of the paper's two tables, and the distribution of its figure 7.

Section 3.3 and annex B of the paper. Our counts follow from the regulation by two stated rules: `flat` uses the finest
level of every breakdown, `levels` uses every level of its code tree. Neither is tuned to the paper. Levels of one
category are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.paper.number_comparison import PROGRAMME, number
from discreet.paper.paper_inputs import COUNTRIES, KEPT, RULES, histogram
from discreet.paper.published_numbers import TABLE_1, TABLE_2, slug, spsn_word
from discreet.programme.lattice import lattice
from discreet.risk.averaging import averaging

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.arrays import Floats
    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.paper_inputs import Sources
    from discreet.programme.model import Programme
    from discreet.risk.averaging import Averaging

WHY = {
    "flat": f"the rule flat counts fewer representations than the paper, which does not state its rule; {KEPT}",
    "levels": f"the rule levels counts more representations than the paper, which does not state its rule; {KEPT}",
}
"""The reason for differences from the paper in counts of the programme."""
RATIO_BINS, GAIN_BINS = 40, 30
FREQUENT = ("1", "0.75")
"""The names of the two most frequent ratios, the most frequent first."""
SAME = 1e-9
"""Relative tolerance below which two ratios count as equal."""


def numbers(sources: Sources) -> Iterator[NumberComparison]:
    """Yield the numbers of this part."""
    yield from _programme(sources.programme("DE"))
    yield from _example()
    yield from _table_1(sources)
    yield from _table_2(sources)
    yield from _frequent(sources)


def _programme(census: Programme) -> Iterator[NumberComparison]:
    tables = census.of(None)
    sizes = [len(table.breakdowns) for table in tables]
    codes = {breakdown.code for table in tables for breakdown in table.breakdowns}
    yield number("tables", float(len(tables)), basis=PROGRAMME)
    yield number("dimensions-least", float(min(sizes)), basis=PROGRAMME)
    yield number("dimensions-most", float(max(sizes)), basis=PROGRAMME)
    note = "codes in the 103 tables, including GEO.N (only the total); the paper does not state which it excludes"
    yield number("breakdowns", float(len(codes)), note, basis=PROGRAMME)
    table = next(table for table in tables if table.id == "9.2")
    found = lattice(_alone(census, "9.2"), "flat")
    irrs = averaging(found)
    name = "GEO.M SEX"
    yield number("table-92-breakdowns", float(len(table.breakdowns)), basis=PROGRAMME)
    yield number("table-92-margins", float(2 ** len(table.breakdowns)), basis=PROGRAMME)
    yield number("table-92-irrs", float(irrs.t[irrs.names.index(name)]), basis=PROGRAMME)


def _alone(census: Programme, table: str) -> Programme:
    return replace(census, tables=tuple(each for each in census.tables if each.id == table))


def _example() -> Iterator[NumberComparison]:
    """Yield the numbers of the paper's example, one table SEX x AGE with two groups of age."""
    found = lattice(histogram("SEX", "AGE"))
    counted = averaging(found)
    yield number("example-cells", float(found.cells.sum()))
    for name, statistic in (("total", "total"), ("margin", "SEX"), ("inner", "AGE SEX")):
        place = counted.names.index(statistic)
        yield number(f"example-terms-{name}", float(found.cells[found.names().index(statistic)]))
        yield number(f"example-{name}-t", float(counted.t[place]))
        yield number(f"example-{name}-k", float(counted.k[place]))
        yield number(f"example-{name}-ratio", float(counted.plain[place]))


def _table_1(sources: Sources) -> Iterator[NumberComparison]:
    for statistic in TABLE_1:
        for spsn in (True, False):
            for rule in RULES:
                de, mt = (sources.averaging(c, rule, spsn=spsn, keep_single=True) for c in COUNTRIES)
                place, other = (_place(found, statistic, rule) for found in (de, mt))
                for what, ours in (
                    ("t", float(de.t[place])),
                    ("k-de", float(de.k[place])),
                    ("k-mt", float(mt.k[other])),
                ):
                    name = slug("table-1", statistic, spsn_word(spsn), what)
                    yield number(name, ours, WHY[rule], variant=rule, basis=PROGRAMME)


def _table_2(sources: Sources) -> Iterator[NumberComparison]:
    for spsn, rows in TABLE_2.items():
        for country, statistic, _ in rows:
            for rule in RULES:
                ratio, where = _ratio(sources, country, statistic, rule, spsn=spsn)
                name = slug("table-2", country, statistic, spsn_word(spsn))
                note = f"rule {rule}, {where}, {KEPT}, optimised as in annex B.3; no simple rule gives all ten"
                yield number(name, ratio, note, variant=rule, basis=PROGRAMME)


def _ratio(sources: Sources, country: str, statistic: str, rule: str, *, spsn: bool) -> tuple[float, str]:
    """Return the optimised ratio of one country, or the smallest of all countries, and its country."""
    every = []
    for each in sources.countries if country == "all" else (country,):
        found = sources.averaging(each, rule, spsn=spsn, keep_single=True)
        every.append((float(found.greedy[_place(found, statistic, rule)]), each))
    (ratio, where), (most, elsewhere) = min(every), max(every)
    return ratio, f"smallest in {where}, {most:.4f} in {elsewhere}" if country == "all" else country


def _frequent(sources: Sources) -> Iterator[NumberComparison]:
    """Yield the two most frequent ratios of figure 7, with SPSN."""
    for rule in RULES:
        found = ratios(sources, rule)
        values, times = np.unique(found.with_spsn.round(9), return_counts=True)
        for place, share in zip(np.argsort(-times, kind="stable"), FREQUENT, strict=False):
            note = f"rule {rule}, {KEPT}: {times[place]:,} of {times.sum():,} statistics"
            yield number(f"frequent-ratio-{share}", float(values[place]), note, variant=rule, basis=PROGRAMME)


def _place(found: Averaging, statistic: str, rule: str) -> int:
    return found.names.index(_name(statistic, rule))


def _name(statistic: str, rule: str) -> str:
    """Return our name of a statistic of the paper: under the rule `levels`, regions of low detail are NUTS 2."""
    return " ".join(sorted(statistic.replace("GEO.L", "NUTS2" if rule == "levels" else "GEO.L").split()))


@dataclass(frozen=True, eq=False)
class Ratios:
    """The ratios of statistics that are the same in every country.

    Attributes:
        rule: the rule of counting levels.
        attacker: `greedy`, the paper's, or `optimal`.
        with_spsn: the ratio of every statistic with SPSN.
        without: the ratio of every statistic with independent noise in every table.
    """

    rule: str
    attacker: str
    with_spsn: Floats
    without: Floats

    @property
    def gains(self) -> Floats:
        """Return the quotients of the ratio with SPSN and that without, except those equal to 1."""
        gain: Floats = self.with_spsn / self.without
        return gain[np.abs(gain - 1) > SAME]

    def share(self, ratio: float) -> float:
        """Return the share of statistics with a given ratio, with SPSN."""
        return float((np.abs(self.with_spsn - ratio) < SAME).mean())

    def histograms(self) -> tuple[Floats, Floats, Floats]:
        """Return the limits of logarithmic bins, and the number of statistics in each with SPSN and without."""
        lowest = 0.99 * min(self.with_spsn.min(), self.without.min())
        edges = np.geomspace(lowest, 1.01, RATIO_BINS + 1)
        return edges, _counted(self.with_spsn, edges), _counted(self.without, edges)

    def gain_histogram(self) -> tuple[Floats, Floats]:
        """Return the limits of logarithmic bins of the gains, and the number of statistics in each."""
        edges = np.geomspace(min(1.0, float(self.gains.min())), 1.01 * float(self.gains.max()), GAIN_BINS + 1)
        return edges, _counted(self.gains, edges)


def _counted(values: Floats, edges: Floats) -> Floats:
    return np.histogram(values, edges)[0].astype(float)


def ratios(sources: Sources, rule: str, attacker: str = "greedy") -> Ratios:
    """Return the ratios of figure 7: of statistics whose t and k are the same in Germany and Malta.

    The ratios are those of Germany, which has no level of one category: they are valid with such levels kept or merged.
    """
    both = []
    shared: set[str] | None = None
    for spsn in (True, False):
        de, mt = (sources.averaging(country, rule, spsn=spsn, keep_single=True) for country in COUNTRIES)
        other = dict(zip(mt.names, zip(mt.t.tolist(), mt.k.tolist(), strict=True), strict=True))
        same = {
            name for name, t, k in zip(de.names, de.t.tolist(), de.k.tolist(), strict=True) if other.get(name) == (t, k)
        }
        shared = same if shared is None else shared & same
        both.append(dict(zip(de.names, getattr(de, attacker).tolist(), strict=True)))
    chosen = [name for name in both[0] if name in (shared or ())]
    with_spsn, without = (np.array([found[name] for name in chosen]) for found in both)
    return Ratios(rule, attacker, with_spsn, without)
