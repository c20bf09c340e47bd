"""The measures of an assessment, each a function of a record, its programme and the counting rules (`AssessmentCase`).

They cover redundancy and averaging, differential privacy (one count and composition), reconstruction, bound disclosure
and margins. `projection` solves chosen statistics exactly, with the block sizes of the category trees and all universes
together.

The number of additive tuples of a programme is counted as the paper counts sex breakdowns: the cells of every published
statistic by a level of c categories next to the total, divided by c. The total must be published too, and c is from 2
to 4. Tuples within deeper levels are not counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
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
from discreet.risk.averaging import ONE_SIGMA, averaging_of, chebyshev, epsilon_allowed, variance_needed
from discreet.risk.bound_disclosure import bound_disclosure
from discreet.risk.composition import compose, compose_large, large_law
from discreet.risk.composition_theorems import advanced_composition, basic_composition, concentrated_composition
from discreet.risk.epsilon_delta import delta_at, membership_advantage
from discreet.risk.margin_exploitation import forced_tuples
from discreet.risk.most_exposed import ExposedCell, most_exposed
from discreet.risk.reconstruction import PolynomialAttack, epsilon_of_reconstruction, exponential_attack
from discreet.risk.residual_bound import noise_terms, noise_terms_in
from discreet.risk.sensitivity import sensitivity
from discreet.risk.sentences import INDEPENDENT, seen_alone, upwards
from discreet.risk.tuple_patterns import pattern_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.programme.lattice import Lattice
    from discreet.programme.model import Programme
    from discreet.release.record import Record
    from discreet.release.release import Release
    from discreet.risk.averaging import Averaging
    from discreet.risk.most_exposed import ExactSearch
    from discreet.risk.neighbouring_counts import Source
    from discreet.risk.residual_bound import NoiseTerms


Measure: TypeAlias = "Callable[[AssessmentCase], Sequence[Result]]"
"""A measure returns results of a case; those of users register like ours."""
MEASURES: Registry[Measure] = Registry(
    "discreet.measures",
    "measure",
    ("averaging", "redundancy", "bound", "margins", "epsilon_delta", "composition", "projection", "reconstruction"),
)


@dataclass(frozen=True, eq=False)
class AssessmentCase:
    """A record with its programme and the rules of counting; what is shared between measures is computed once."""

    record: Record
    programme: Programme
    rule: str = "levels"
    keep_single: bool = False
    population: str | None = None
    known: str | None = None
    confidence: float = ONE_SIGMA
    exact: tuple[str, ...] = ()
    records: int | None = None
    release: Release | None = None
    closed_form: bool = False
    unit: str | None = None

    @cached_property
    def scope(self) -> Programme:
        """Return the tables that figures are about: one population if asked for, else all that count its unit."""
        tables = self.programme.of(self.population)
        if self.population is None:
            unit = self.unit or tables[0].unit
            tables = tuple(table for table in self.programme.tables if table.unit == unit)
        return replace(self.programme, tables=tables)

    @property
    def counted(self) -> str:
        """Return what the tables in the scope count."""
        return self.population or self.scope.tables[0].unit

    @cached_property
    def lattices(self) -> dict[str, Lattice]:
        """Return the statistics by population, that with most tables first."""
        return {
            name: lattice(self.scope, self.rule, keep_single=self.keep_single, population=name)
            for name in self.scope.populations
        }

    @property
    def lattice(self) -> Lattice:
        """Return the statistics of the population with most tables."""
        return next(iter(self.lattices.values()))

    @property
    def statistics(self) -> int:
        """Return how many statistics of all populations have noise of their own."""
        return sum(
            int(each.published.sum() if self.record.spsn else each.tables.sum()) for each in self.lattices.values()
        )

    def check(self) -> None:
        """Refuse names and numbers that some measure would refuse, before the work of any."""
        self._check_known()
        _ = self.solved_names

    def _check_known(self) -> None:
        if self.known is not None and not any(each.publishes(self.known) for each in self.lattices.values()):
            # Names the statistics there are.
            self.lattice.position(self.known)

    @cached_property
    def solved_names(self) -> tuple[str, ...]:
        """Return the statistics to solve exactly, as `most_exposed` names them.

        Where there are several populations that is `SEX of adults`, and `SEX` stands for that of every population.
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
                # Names the statistics there are.
                self.lattice.position(asked)
            found += titles
        return tuple(dict.fromkeys(found))

    @cached_property
    def averaging(self) -> Averaging:
        """Return the averaging ratios of every statistic by formulas, each population by itself."""
        self._check_known()
        return averaging_of(self.lattices, spsn=self.record.spsn, known=self.known)

    @cached_property
    def exposed(self) -> ExactSearch | None:
        """Return the counts that the best linear attack knows best, solved exactly.

        None where the closed form was asked for, where levels are counted in another way, and where there are too
        many cells.
        """
        if self.closed_form or self.rule != "levels" or self.keep_single:
            return None
        try:
            return most_exposed(self.scope, spsn=self.record.spsn, known=self.known, statistics=self.solved_names)
        except TooLargeError:
            if self.exact:
                raise
            return None

    @property
    def worst(self) -> ExposedCell | None:
        """Return the most exposed count: solved exactly, or of the statistic with the smallest closed form.

        None where everything is known beforehand.
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
        """Return what residuals reveal of the noise of all populations, or of the one that is asked for."""
        names = [self.population] if self.population else None
        if self.release is not None:
            return noise_terms_in(self.release, names)
        return noise_terms(
            self.programme, rule=self.rule, keep_single=self.keep_single, populations=names, spsn=self.record.spsn
        )


BLOCKS = (
    "closed form for equal blocks: every category splits into equally many finer ones. Real blocks differ, and single "
    "counts can be known better or worse"
)
APART = "each universe by itself: tables of several universes together reveal more"
SEARCHED = (
    "solved exactly; the smallest variance of {solved:,} solved cells, chosen by {how} among {kinds:,} kinds of cells, "
    "so that the risk is at least this"
)
SOLVED = "every published cell solved exactly"
TOO_LARGE = "too many cells to solve exactly"
FLAT = "rule flat: the finest level of every breakdown only, which understates the risk"
LARGE = "counts well above the noise bound; small counts contain fewer noise terms"
MIXED_KEYS = "noise independent between cells with different participants (mixed keys)"
PLAIN = "plain keys: the noises of a total and its parts are related, so that the attacker can learn more than this"


@MEASURES.register("redundancy")
def redundancy(case: AssessmentCase) -> list[Result]:
    """Return how many representations the most redundant statistic has (t and k of the paper)."""
    found = case.averaging
    most = int(found.t.argmax())
    published = sum(int(each.tables.sum()) for each in case.lattices.values())
    unique = len(found.names)
    how = "the same in every table" if case.record.spsn else "new in every table"
    return [
        Result(
            name="redundancy",
            equation="t = number of published s >= a, k = sum N_s / N_a",
            value=float(found.t[most]),
            unit="representations",
            sentence=f"{unique:,} different statistics are published {published:,} times; noise is {how}. The "
            f"statistic {found.names[most]} can be computed in {found.t[most]:,} ways from {found.k[most]:,.0f} noisy "
            "counts.",
            worst=found.names[most],
            assumptions=(f"rule {case.rule}", "the statistic itself counted once"),
        )
    ]


@MEASURES.register("averaging")
def averaging_risk(case: AssessmentCase) -> list[Result]:
    """Return how well the optimal linear attack knows the most exposed statistic; nothing where counts are rounded."""
    worst = None if case.record.rounds else case.worst
    if worst is None:
        return []
    variance, ratio = case.record.variance, worst.ratio
    right = success(variance, ratio)
    paper = success(variance, float(case.averaging.greedy[case.averaging.names.index(worst.statistic)]))
    needed = variance_needed(ratio, case.confidence)
    keys = PLAIN if case.record.has_plain_keys else MIXED_KEYS
    assumptions = (*_counting(case), LARGE, keys, "errors of the estimate close to Gaussian")
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
            f"{(variance * ratio) ** 0.5:.2f}. Whatever the noise distribution, the rate is at least "
            f"{chebyshev(variance, ratio):.1%} (Chebyshev).",
            worst=worst.statistic,
            assumptions=assumptions,
        ),
        Result(
            name="variance_needed",
            equation="V = 1 / (4 z^2 r), z the normal quantile of (1 + alpha) / 2; eps = sqrt(2 / V)",
            value=needed,
            unit="persons squared",
            sentence=f"Target: at most {case.confidence:.1%} for every statistic. It needs a variance of {needed:.2f} "
            f"(now {variance:g}), or an epsilon per count of at most {epsilon_allowed(ratio, case.confidence):.3f}.",
            worst=worst.statistic,
            assumptions=assumptions,
        ),
    ]


def _counting(case: AssessmentCase) -> tuple[str, ...]:
    """Return how the most exposed statistic was found."""
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
"""The delta left above the floor for which composed epsilons are reported."""


@MEASURES.register("epsilon_delta")
def epsilon_delta(case: AssessmentCase) -> list[Result]:
    """Return delta of one published count at epsilon 1, and the best chance to tell whether a person is in it."""
    noise = case.record.noise
    found = [delta_at(noise, EPSILON), membership_advantage(noise)]
    if not noise.varies_by_count and not noise.perturbs_zeros:
        found.append(_seen_alone(case.record))
    return found + _promised(case.record)


def _seen_alone(record: Record) -> Result:
    """Return delta of the counts 0 and 1 where zeros stay zeros: P(1 is not shown as 0), the same at every epsilon."""
    law = record.noise.large
    seen = 1 - float(law.cdf(-1) if record.non_negative else law.pmf(-1))
    return Result(
        name="delta_of_a_person_alone",
        value=seen,
        unit="1",
        sentence=f"{seen_alone(seen).capitalize()}: empty cells are published as 0, so that anything else means "
        "somebody.",
        assumptions=("zeros stay zeros", "a law that every count from 1 on has"),
        equation=f"delta = 1 - P(X {'<=' if record.non_negative else '='} -1)",
    )


def _promised(record: Record) -> list[Result]:
    """Return what a privacy budget promises for the whole output."""
    if not record.privacy:
        return []
    epsilon, delta = float(record.privacy["epsilon"]), float(record.privacy["delta"])
    return [
        Result(
            name="epsilon_of_output",
            value=epsilon,
            unit="1",
            sentence=f"The whole output keeps epsilon {upwards(epsilon, 6)} with delta {upwards(delta)}.",
            assumptions=(str(record.privacy["condition"]),),
            equation="eps = sum over the counts that one person changes of their epsilon",
        )
    ]


@MEASURES.register("composition")
def composition(case: AssessmentCase) -> list[Result]:
    """Return what all statistics together promise a person, exactly and by the theorems beside it."""
    found = composed(case.record.noise, case.statistics)
    return [_of_plain_keys(each) for each in found] if case.record.has_plain_keys else found


def _of_plain_keys(result: Result) -> Result:
    """Return a result whose assumptions say that its noises are related."""
    kept = tuple(text for text in result.assumptions if text != INDEPENDENT)
    return result if kept == result.assumptions else replace(result, assumptions=(*kept, PLAIN))


def composed(source: Source, t: int) -> list[Result]:
    """Return what t counts of a person promise together, exactly and by the theorems beside it.

    The rows of a p-table are composed as they are. The theorems are for one distribution, not for rows in turn.
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
    """Return where the reconstruction theorems stand; nothing without a number of records."""
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
    """Return how well the optimal linear attack knows the statistics asked for; nothing for rounding."""
    if not case.solved_names or case.record.rounds:
        return []
    if case.exposed is None:
        raise ParameterError(
            "Exact solutions need the rule levels, merged single categories and a programme that is not too large. "
            "Leave out --closed-form, --rule and --keep-single, or take fewer tables.",
            parameter="exact",
        )
    return [_solved(case, case.exposed, name) for name in case.solved_names]


def _solved(case: AssessmentCase, exposed: ExactSearch, name: str) -> Result:
    cells = [cell for cell in exposed.solved if cell.statistic == name]
    if not cells:
        raise ParameterError(
            f"{name} has no cell to solve: its counts are public, or those of another statistic asked for. Leave it "
            "out of --exact.",
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
            f"the smallest of {len(cells)} solved: {', '.join(cell.codes for cell in cells)}",
            "blocks as in the category trees; as equal as can be where only numbers are known",
            "with SPSN cells with the same participants have one noise (cell keys)",
            "counts well above the noise bound",
        ),
    )


MOST_CATEGORIES = 4
"""Levels with more categories are not looked at: each set of theirs reveals a bound rarely."""
WIDEST_ENUMERATED = 100
"""The largest bound for which patterns are enumerated."""
SMALL = 6
"""Published counts up to this are tried in every pattern of two parts and their total."""
RARE = 1e-6
"""Patterns less likely than this are not reported as the worst."""


def tuples_by_size(lattice: Lattice, *, spsn: bool) -> dict[int, tuple[str, int]]:
    """Return, by the number of categories, the first level that offers most independent tuples, and how many."""
    found: dict[int, tuple[str, int]] = {}
    for size, level, tuples in _offered(lattice, spsn=spsn):
        if tuples > found.get(size, ("", 0))[1]:
            found[size] = (level, tuples)
    return dict(sorted(found.items()))


def _offered(lattice: Lattice, *, spsn: bool) -> Iterator[tuple[int, str, int]]:
    """Give for every level of few categories next to the total its size, its name and its tuples.

    A tuple is a published cell together with its parts along one axis: every cell of a
    statistic at the axis' first level, grouped by the rest, whose total is published too.
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
    """Return how surely residuals reveal the bound, a limit where counts are known, and the paper's extreme gap."""
    noise = case.record.noise
    law = noise.large
    # A rule without random noise has no bound to reveal: anyone may know it.
    if not math.isfinite(law.bound) or case.record.is_deterministic:
        return []
    results = []
    if wider := rival(noise, int(law.bound) + 1):
        results += case.noise_terms.results(law, wider, case.confidence)
    offered = tuples_by_size(case.lattice, spsn=case.record.spsn)
    largest = [
        bound_disclosure(law, tuples=n, categories=c, confidence=case.confidence) for c, (_, n) in offered.items()
    ]
    if largest:
        results.append(max(largest, key=lambda found: found.reached).result())
    return results


@MEASURES.register("margins")
def margins(case: AssessmentCase) -> list[Result]:
    """Return how many tuples are forced, and what small published patterns tell about true 1s."""
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
