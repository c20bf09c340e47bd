"""The measures of an assessment: functions of a record, its programme and the counting rules (`AssessmentCase`).

They cover redundancy and averaging, differential privacy (one count and composition), reconstruction, bound disclosure
and margins. `projection` solves chosen statistics exactly, with the block sizes of the category trees and all universes
together.

The number of additive tuples of a programme is counted as the paper counts sex breakdowns: the cells of every published
statistic by a level of c categories directly below the total, divided by c. The total must also be published, and c is
from 2 to 4. Tuples within deeper levels are not counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.equations.closed_form import success
from discreet.errors import ParameterError, TooLargeError
from discreet.noise.by_count import noise_by_count
from discreet.noise.ptable import PTable
from discreet.noise.rival_noise import rival
from discreet.programme.lattice import lattice
from discreet.registry import Registry
from discreet.results import Result
from discreet.risk.averaging import averaging_of, chebyshev, epsilon_allowed, variance_needed
from discreet.risk.bound_disclosure import bound_disclosure
from discreet.risk.composition import compose, compose_large, large_law
from discreet.risk.composition_theorems import advanced_composition, basic_composition, concentrated_composition
from discreet.risk.epsilon_delta import delta_at, membership_advantage
from discreet.risk.margin_exploitation import forced_tuples
from discreet.risk.most_exposed import ExposedCell, most_exposed
from discreet.risk.reconstruction import PolynomialAttack, epsilon_of_reconstruction, exponential_attack
from discreet.risk.residual_bound import noise_terms, noise_terms_in
from discreet.risk.sensitivity import sensitivity
from discreet.risk.sentences import INDEPENDENT, singleton_clause, upwards
from discreet.risk.tuple_patterns import pattern_table
from discreet.verdicts import AVERAGING, BOUND, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.progress import Progress
    from discreet.release.record import Record
    from discreet.release.release import Release
    from discreet.risk.averaging import Averaging
    from discreet.risk.most_exposed import ExactSearch
    from discreet.risk.neighbouring_counts import Source
    from discreet.risk.residual_bound import NoiseTerms


Measure: TypeAlias = "Callable[[AssessmentCase], Sequence[Result]]"
"""A function that returns the results of a case; users register their own measures in the same way."""
MEASURES: Registry[Measure] = Registry(
    "discreet.measures",
    "measure",
    ("averaging", "redundancy", "bound", "margins", "epsilon_delta", "composition", "projection", "reconstruction"),
)


@dataclass(frozen=True, eq=False)
class AssessmentCase:
    """A record with its programme and counting rules; intermediate results shared by measures are computed once."""

    record: Record
    programme: Programme
    rule: str = "levels"
    keep_single: bool = False
    population: str | None = None
    known: str | None = None
    policy: Policy = field(default_factory=Policy)
    exact: tuple[str, ...] = ()
    records: int | None = None
    release: Release | None = None
    closed_form: bool = False
    unit: str | None = None
    progress: Progress | None = None

    @cached_property
    def scope(self) -> Programme:
        """Return the assessed tables: those of the requested population, otherwise all tables that count the unit."""
        tables = self.programme.of(self.population)
        if self.population is None:
            unit = self.unit or tables[0].unit
            tables = tuple(table for table in self.programme.tables if table.unit == unit)
        return replace(self.programme, tables=tables)

    @property
    def counted(self) -> str:
        """Return the population or unit that the tables in the scope count."""
        return self.population or self.scope.tables[0].unit

    @cached_property
    def lattices(self) -> dict[str, Lattice]:
        """Return the statistics by population; the population with the most tables comes first."""
        return {
            name: lattice(self.scope, self.rule, keep_single=self.keep_single, population=name)
            for name in self.scope.populations
        }

    @property
    def lattice(self) -> Lattice:
        """Return the statistics of the population with the most tables."""
        return next(iter(self.lattices.values()))

    @property
    def statistics(self) -> int:
        """Return the number of statistics of all populations with independent noise."""
        return sum(
            int(each.published.sum() if self.record.spsn else each.tables.sum()) for each in self.lattices.values()
        )

    def check(self) -> None:
        """Raise an error for names and numbers that a measure would reject, before any measure is computed."""
        self._check_known()
        _ = self.solved_names

    def _check_known(self) -> None:
        if self.known is not None and not any(each.publishes(self.known) for each in self.lattices.values()):
            # Raises an error that lists the published statistics.
            self.lattice.position(self.known)

    @cached_property
    def solved_names(self) -> tuple[str, ...]:
        """Return the names of the statistics to solve exactly, in the form that `most_exposed` uses.

        With several populations, a name has the form `SEX of adults`, and `SEX` selects SEX of every population.
        """
        found: list[str] = []
        for asked in self.exact:
            several = len(self.lattices) > 1
            titles = []
            for population, own in self.lattices.items():
                name = " ".join(sorted(asked.removesuffix(f" of {population}").split() if several else asked.split()))
                if own.publishes(name):
                    titles.append(f"{name} of {population}" if several else name)
            if not titles:
                # Raises an error that lists the published statistics.
                self.lattice.position(asked)
            found += titles
        return tuple(dict.fromkeys(found))

    @cached_property
    def averaging(self) -> Averaging:
        """Return the averaging ratios of every statistic by closed formulas, separately for each population."""
        self._check_known()
        return averaging_of(self.lattices, spsn=self.record.spsn, known=self.known)

    @cached_property
    def exposed(self) -> ExactSearch | None:
        """Return the exactly solved counts that the optimal linear attack estimates with the smallest variance.

        None if the closed form was requested, if another counting rule is used, or if there are too many cells.
        """
        if self.closed_form or self.rule != "levels" or self.keep_single:
            return None
        try:
            return most_exposed(
                self.scope,
                spsn=self.record.spsn,
                known=self.known,
                statistics=self.solved_names,
                progress=self.progress,
            )
        except TooLargeError:
            if self.exact:
                raise
            return None

    @property
    def worst(self) -> ExposedCell | None:
        """Return the most exposed count: solved exactly, or that of the statistic with the smallest closed form.

        None if all counts are already public.
        """
        if self.exposed is not None:
            return self.exposed.solved[0] if self.exposed.solved else None
        found = self.averaging
        unknown = np.where(found.optimal > 0, found.optimal, np.inf)
        place = int(unknown.argmin())
        ratio = float(unknown[place])
        return ExposedCell(found.names[place], "", ratio, ratio) if np.isfinite(ratio) else None

    @cached_property
    def noise_terms(self) -> NoiseTerms:
        """Return the noise terms that residuals estimate, of all populations or of the requested one."""
        names = [self.population] if self.population else None
        if self.release is not None:
            return noise_terms_in(self.release, names, self.progress)
        return noise_terms(
            self.programme,
            rule=self.rule,
            keep_single=self.keep_single,
            populations=names,
            spsn=self.record.spsn,
            progress=self.progress,
        )


BLOCKS = (
    "closed form for equal blocks: every category splits into the same number of finer categories. Real blocks differ, "
    "so the attack can estimate single counts better or worse than this"
)
APART = "each universe separately: tables of several universes together reveal more"
SEARCHED = (
    "solved exactly; the smallest variance of {solved:,} solved cells, chosen by {how} among {kinds:,} kinds of cells; "
    "a lower bound of the risk"
)
SOLVED = "every published cell solved exactly"
TOO_LARGE = "too many cells to solve exactly"
FLAT = "rule flat: only the finest level of every breakdown is counted, which understates the risk"
LARGE = "counts well above the noise bound; small counts contain fewer noise terms"
MIXED_KEYS = "noise independent between cells with different participants (mixed keys)"
PLAIN = "plain keys: the noise of a total depends on that of its parts, so the attacker can learn more than this"


@MEASURES.register("redundancy")
def redundancy(case: AssessmentCase) -> list[Result]:
    """Return the number of representations of the most redundant statistic (t and k of the paper)."""
    found = case.averaging
    most = int(found.t.argmax())
    published = sum(int(each.tables.sum()) for each in case.lattices.values())
    unique = len(found.names)
    how = "the same in every table" if case.record.spsn else "redrawn in every table"
    return [
        Result(
            name="redundancy",
            equation="t = number of published s >= a, k = sum N_s / N_a",
            value=float(found.t[most]),
            unit="representations",
            sentence=f"{unique:,} different statistics are published {published:,} times; noise is {how}. The "
            f"statistic {found.names[most]} has {found.t[most]:,} representations with {found.k[most]:,.0f} noisy "
            "counts.",
            worst=found.names[most],
            assumptions=(f"rule {case.rule}", "the statistic itself is counted once"),
        )
    ]


@MEASURES.register("averaging")
def averaging_risk(case: AssessmentCase) -> list[Result]:
    """Return the success of the optimal linear attack on the most exposed statistic; empty for rounded counts."""
    worst = None if case.record.rounds else case.worst
    if worst is None:
        return []
    variance, ratio = case.record.variance, worst.ratio
    right = success(variance, ratio)
    paper = success(variance, float(case.averaging.greedy[case.averaging.names.index(worst.statistic)]))
    target = case.policy.accepted(AVERAGING)
    needed = variance_needed(ratio, target)
    keys = PLAIN if case.record.has_plain_keys else MIXED_KEYS
    assumptions = (*_counting(case), LARGE, keys, "the error of the estimate is approximately Gaussian")
    closed = (
        "" if case.exposed is None else f"; closed form for equal blocks: {success(variance, worst.closed_form):.1%}"
    )
    return [
        Result(
            name="averaging_success",
            equation="P(|N(0, V r)| < 1/2), r = |P e|^2, P the projection on the equations of all published counts"
            if case.exposed
            else "P(|N(0, V r)| < 1/2), r = N_a^-2 sum_{b <= a} prod(N_b - N_{b-1}) / sum_{s >= b} m_s / N_s",
            value=right,
            unit="1",
            sentence=f"The optimal linear attack recovers counts of {worst.statistic} exactly in {right:.1%} of cases "
            f"(the paper's average: {paper:.1%}{closed}). The standard error of its estimate is "
            f"{(variance * ratio) ** 0.5:.2f}. For every noise distribution, the rate is at least "
            f"{chebyshev(variance, ratio):.1%} (Chebyshev).",
            worst=worst.statistic,
            assumptions=assumptions,
        ),
        Result(
            name="variance_needed",
            equation="V = 1 / (4 z^2 r), z the normal quantile of (1 + alpha) / 2; eps = sqrt(2 / V)",
            value=needed,
            unit="persons squared",
            sentence=f"Target: at most {target:.1%} for every statistic. It needs a variance of {needed:.2f} "
            f"(now {variance:g}), or an epsilon per count of at most {epsilon_allowed(ratio, target):.3f}.",
            worst=worst.statistic,
            assumptions=assumptions,
        ),
    ]


def _counting(case: AssessmentCase) -> tuple[str, ...]:
    """Return the assumptions on the search for the most exposed statistic."""
    if case.exposed is not None:
        found = case.exposed
        if found.complete:
            return (SOLVED,)
        how = "random probes" if found.probed else "the closed form"
        return (SEARCHED.format(solved=len(found.solved), kinds=found.kinds, how=how),)
    counting = [BLOCKS if case.rule == "levels" else FLAT]
    if case.rule == "levels" and not case.closed_form and not case.keep_single:
        counting.insert(0, TOO_LARGE)
    return (*counting, *([APART] if len(case.lattices) > 1 else []))


EPSILON = 1.0
"""The epsilon at which the delta of one count is reported."""
SLACK = 1e-6
"""The delta above the floor at which composed epsilons are reported."""


@MEASURES.register("epsilon_delta")
def epsilon_delta(case: AssessmentCase) -> list[Result]:
    """Return delta of one published count at epsilon 1, and the largest advantage in membership inference."""
    noise = case.record.noise
    found = [delta_at(noise, EPSILON), membership_advantage(noise)]
    if not noise.varies_by_count and not noise.perturbs_zeros:
        found.append(_singleton_delta(case.record))
    return found + _budget_guarantee(case.record)


def _singleton_delta(record: Record) -> Result:
    """Return delta of the counts 0 and 1 with fixed zeros: P(1 is not published as 0), the same at every epsilon."""
    law = record.noise.large
    seen = 1 - float(law.cdf(-1) if record.non_negative else law.pmf(-1))
    return Result(
        name="delta_of_singleton_cell",
        value=seen,
        unit="1",
        sentence=f"{singleton_clause(seen).capitalize()}: empty cells are published as 0, so any other value proves "
        "that the cell is not empty.",
        assumptions=("zeros are not perturbed", "the same noise distribution for every count from 1 on"),
        equation=f"delta = 1 - P(X {'<=' if record.non_negative else '='} -1)",
    )


def _budget_guarantee(record: Record) -> list[Result]:
    """Return the guarantee of a privacy budget for the whole output."""
    if not record.privacy:
        return []
    epsilon, delta = float(record.privacy["epsilon"]), float(record.privacy["delta"])
    return [
        Result(
            name="epsilon_of_output",
            value=epsilon,
            unit="1",
            sentence=f"The whole output satisfies epsilon {upwards(epsilon, 6)} with delta {upwards(delta)}.",
            assumptions=(str(record.privacy["condition"]),),
            equation="eps = sum over the counts that one person changes of their epsilon",
        )
    ]


@MEASURES.register("composition")
def composition(case: AssessmentCase) -> list[Result]:
    """Return epsilon and delta of all statistics that contain one person, exactly and by composition theorems."""
    found = composed(case.record.noise, case.statistics)
    return [_of_plain_keys(each) for each in found] if case.record.has_plain_keys else found


def _of_plain_keys(result: Result) -> Result:
    """Return a result whose assumptions state that its noise terms are dependent."""
    kept = tuple(text for text in result.assumptions if text != INDEPENDENT)
    return result if kept == result.assumptions else replace(result, assumptions=(*kept, PLAIN))


def composed(source: Source, t: int) -> list[Result]:
    """Return epsilon and delta of t counts that contain one person, exactly and by composition theorems.

    The rows of a p-table are composed unchanged. The theorems apply to one distribution, not to alternating rows.
    """
    noise = noise_by_count(source)
    if isinstance(noise, PTable):
        together, law = compose_large(noise, t), large_law(noise)
    else:
        together, law = compose(noise.large, t), noise.large
    results = [sensitivity(t), together.floor(), together.epsilon_above_floor(SLACK)]
    if noise.repeat > 1:
        return results
    theorems = [
        basic_composition(law, t),
        advanced_composition(law, t, slack=SLACK),
        concentrated_composition(law, t, slack=SLACK),
    ]
    return results + [replace(theorem, condition=together.condition).result() for theorem in theorems if theorem]


@MEASURES.register("reconstruction")
def reconstruction(case: AssessmentCase) -> list[Result]:
    """Return the figures of the reconstruction theorems; empty without a number of records."""
    if case.records is None:
        return []
    results = [epsilon_of_reconstruction(case.records)]
    bound = case.record.noise.large.bound
    if math.isfinite(bound):
        cells = sum(int(each.cells[each.published].sum()) for each in case.lattices.values())
        attack = PolynomialAttack(records=case.records, bound=bound, outputs=cells)
        results += [exponential_attack(case.records, bound), attack.result()]
    return results


@MEASURES.register("projection")
def projection(case: AssessmentCase) -> list[Result]:
    """Return the variance of the optimal linear attack for the requested statistics; empty for rounded counts."""
    if not case.solved_names or case.record.rounds:
        return []
    if case.exposed is None:
        raise ParameterError(
            "Exact solutions require the rule levels, merged single categories and a programme that is not too large. "
            "Leave out --closed-form, --rule and --keep-single, or select fewer tables.",
            parameter="exact",
        )
    return [_solved(case, case.exposed, name) for name in case.solved_names]


def _solved(case: AssessmentCase, exposed: ExactSearch, name: str) -> Result:
    cells = [cell for cell in exposed.solved if cell.statistic == name]
    if not cells:
        raise ParameterError(
            f"{name} has no cell to solve: its counts are public, or equal those of another requested statistic. "
            "Leave it out of --exact.",
            parameter="exact",
        )
    worst, variance = cells[0], case.record.variance
    return Result(
        name="projection",
        equation="Var / V = |P e|^2, P the projection on parent = sum of children",
        value=worst.ratio,
        unit="V",
        sentence=f"The optimal linear attack estimates {worst.codes} of {name} with variance {worst.ratio:.4f} V "
        f"(closed form: {worst.closed_form:.4f} V) and recovers it exactly with probability "
        f"{success(variance, worst.ratio):.3f}.",
        worst=f"{worst.codes} of {name}",
        assumptions=(
            f"the smallest variance of {len(cells)} solved cells: {', '.join(cell.codes for cell in cells)}",
            "blocks as in the category trees; as equal as possible where only the numbers of categories are known",
            "with SPSN, cells with the same participants have the same noise (cell keys)",
            "counts well above the noise bound",
        ),
    )


MOST_CATEGORIES = 4
"""Levels with more categories are ignored: their tuples rarely reveal the bound."""
WIDEST_ENUMERATED = 100
"""The largest bound for which patterns are enumerated."""
SMALL = 6
"""The largest published count in the enumerated patterns of two parts and their total."""
RARE = 1e-6
"""Patterns with a smaller probability are not reported as the worst."""


def tuples_by_size(lattice: Lattice, *, spsn: bool) -> dict[int, tuple[str, int]]:
    """Return, by number of categories, the first level with the most independent tuples, and their number."""
    found: dict[int, tuple[str, int]] = {}
    for size, level, tuples in _offered(lattice, spsn=spsn):
        if tuples > found.get(size, ("", 0))[1]:
            found[size] = (level, tuples)
    return dict(sorted(found.items()))


def _offered(lattice: Lattice, *, spsn: bool) -> Iterator[tuple[int, str, int]]:
    """Yield size, name and number of tuples of every level with few categories directly below the total.

    A tuple is a published cell together with its parts along one axis: the cells of a
    statistic at the first level of the axis, grouped by the other axes. The total must also be published.
    """
    times = np.where(lattice.published, 1 if spsn else lattice.tables, 0)
    for number, axis in enumerate(lattice.axes):
        size = axis.sizes[0]
        if 2 <= size <= MOST_CATEGORIES:
            parts = lattice.published & (lattice.depths[:, number] == 1)
            whole = lattice.coarser(number)
            parts &= (whole >= 0) & lattice.published[whole]
            yield size, axis.levels[0], int((times * lattice.cells)[parts].sum() / size)


@MEASURES.register("bound")
def bound(case: AssessmentCase) -> list[Result]:
    """Return bound disclosure by residuals, its upper bound if true counts are known, and the paper's extreme gap."""
    noise = case.record.noise
    law = noise.large
    # A deterministic rule has no secret bound: the rule may be public.
    if not math.isfinite(law.bound) or case.record.is_deterministic:
        return []
    results = []
    if wider := rival(noise, int(law.bound) + 1):
        results += case.noise_terms.results(law, wider, case.policy.accepted(BOUND))
    offered = tuples_by_size(case.lattice, spsn=case.record.spsn)
    largest = [
        bound_disclosure(law, tuples=n, categories=c, confidence=case.policy.accepted(BOUND))
        for c, (_, n) in offered.items()
    ]
    if largest:
        results.append(max(largest, key=lambda found: found.reached).result())
    return results


@MEASURES.register("margins")
def margins(case: AssessmentCase) -> list[Result]:
    """Return the expected number of forced tuples, and the posterior of true 1s for small published patterns."""
    noise = case.record.noise
    law = noise.large
    offered = tuples_by_size(case.lattice, spsn=case.record.spsn)
    if not math.isfinite(law.bound) or not offered:
        return []
    categories, (_, tuples) = next(iter(offered.items()))
    results = []
    if not case.record.is_deterministic:
        results = [forced_tuples(law, tuples=tuples, categories=categories).result()]
    if isinstance(noise, PTable) and law.bound <= WIDEST_ENUMERATED:
        shared = case.record.mechanism_class.same_noise_by == "participants"
        patterns = pattern_table(noise, largest=SMALL, noise_by="participants" if shared else "coordinates")
        results += patterns.results(at_least=RARE)
    return results
