"""Reproduction of Bach (2020) in one run: all numbers, the data of all figures, and the optimal attacker.

The paper is F. Bach, "Differential privacy and noisy confidentiality concepts for European population statistics".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.calibration.constraints import OPTIMAL, PAPER
from discreet.errors import ParameterError, UnknownNameError
from discreet.paper import optimal_attacker_part, parameter_space_part, redundancy_part, risk_part, small_area_part
from discreet.paper.number_comparison import AREAS, BASES, DRAW, FORMULA, NOT_COMPUTED, PROGRAMME, READING
from discreet.paper.paper_inputs import RULES, Sources
from discreet.paper.published_numbers import PARTS
from discreet.results import Result, ResultSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from discreet.paper.number_comparison import NumberComparison
    from discreet.paper.optimal_attacker_part import State
    from discreet.progress import Progress

NUMBERS: dict[str, Callable[[Sources], Iterator[NumberComparison]]] = {
    "privacy": risk_part.privacy_numbers,
    "bound": risk_part.bound_numbers,
    "margins": risk_part.margin_numbers,
    "averaging": risk_part.averaging_numbers,
    "redundancy": redundancy_part.numbers,
    "settings": risk_part.setting_numbers,
    "small_areas": small_area_part.small_area_numbers,
    "accuracy": small_area_part.accuracy_numbers,
    "parameter_space": parameter_space_part.numbers,
}
"""The function that computes the numbers of each part."""
COUNTED = {"averaging", "parameter_space", "redundancy"}
"""Parts that need the programme of every Member State."""
SECOND = "attackers"
"""The part on the optimal attacker, which is not in the paper."""
ALL_PARTS = (*PARTS, SECOND)


@dataclass(frozen=True, eq=False)
class Paper(ResultSet):
    """The results of the reproduction.

    Attributes:
        parts: the requested parts.
        numbers: the published numbers with ours.
        figures: the data of each figure, by name.
        states: the results for every Member State under both rules and both attackers.
    """

    parts: tuple[str, ...]
    numbers: tuple[NumberComparison, ...]
    figures: dict[str, Any]
    states: tuple[State, ...]
    warnings: ClassVar[tuple[str, ...]] = ()

    @property
    def title(self) -> str:
        """Return the parts and the number of published numbers that are reproduced."""
        agree = len(self.numbers) - len(self.apart)
        return f"{', '.join(self.parts)}: {agree:,} of {len(self.numbers):,} published numbers agree with ours."

    def __repr__(self) -> str:
        return f"Paper({', '.join(self.parts)}: {len(self.numbers)} numbers, {len(self.figures)} figures)"

    @property
    def apart(self) -> tuple[NumberComparison, ...]:
        """Return the numbers that differ from the published ones."""
        return tuple(each for each in self.numbers if not each.agrees)

    @property
    def results(self) -> list[Result]:
        """Return the numbers of agreements by basis, and the results for the Member States."""
        return [*self._agreement(), *optimal_attacker_part.results(self.states)]

    def _agreement(self) -> Iterator[Result]:
        for basis in BASES:
            rows = [each for each in self.numbers if each.kind == basis]
            if rows:
                agree = sum(each.agrees for each in rows)
                yield Result(
                    name=f"agree_{basis.replace(' ', '_')}",
                    value=float(agree),
                    unit="numbers",
                    sentence=_agreement_sentence(basis, rows, agree),
                    equation="|ours - published| <= half a unit of the last printed digit",
                )

    def sentences(self) -> list[str]:
        """Return a summary in sentences, the agreement first."""
        return [*(result.sentence for result in self._agreement()), *optimal_attacker_part.sentences(self.states)]

    def __str__(self) -> str:
        return "\n".join(self.sentences())


IN_NOTES = "the notes give the reasons for the differences"
WHY_APART = {
    FORMULA: IN_NOTES,
    READING: IN_NOTES,
    PROGRAMME: "the paper does not state how it counted levels, and its t and k lie between our two rules. Both rules "
    "keep levels of one category, as the paper seems to have done",
    AREAS: "the paper uses the census of 2011, our lists mostly registers of 2013 to 2017",
}
"""The reason for differences, by basis."""


def _agreement_sentence(basis: str, rows: Sequence[NumberComparison], agree: int) -> str:
    """Return the number of agreements of one basis in a sentence, with the reason for differences."""
    many = f"{len(rows)} {'number' if len(rows) == 1 else 'numbers'} {BASES[basis]}"
    if basis == NOT_COMPUTED:
        verb = "number is" if len(rows) == 1 else "numbers are"
        return f"{len(rows)} {verb} {BASES[basis]}; the notes give the reasons."
    if basis == DRAW:
        likely = sum(bool(each.likely) for each in rows)
        return (
            f"Another draw of noise gives other numbers. Of {many}, {likely} {_verb(likely, 'lie')} within the range "
            f"of 19 out of 20 draws on our data, and {agree} {'equals' if agree == 1 else 'equal'} our expectation "
            "within the published rounding."
        )
    why = "" if agree == len(rows) else f"; {WHY_APART[basis]}"
    how = "with our reading" if basis == READING else "within the published rounding"
    return f"Of {many}, {agree} {_verb(agree, 'agree')} {how}{why}."


def _verb(many: int, word: str) -> str:
    return f"{word}s" if many == 1 else word


def reproduce_paper(
    *,
    only: Sequence[str] | None = None,
    sources: Sources | None = None,
    progress: Progress | None = None,
) -> Paper:
    """Return the numbers and figures of Bach (2020) with ours.

    Args:
        only: the parts to compute; all by default.
        sources: existing counts, or counts of selected Member States; by default new counts of all of them.
        progress: a callback with the stage, the completed steps and the total steps.
    """
    parts = chosen_parts(only)
    sources = sources or Sources(progress=progress)
    if COUNTED.intersection(parts):
        sources.count_all(keep_single=True)
    if SECOND in parts:
        sources.count_all(keep_single=False)
    numbers: list[NumberComparison] = []
    figures: dict[str, Any] = {}
    for done, part in enumerate(parts, start=1):
        if part in NUMBERS:
            numbers += NUMBERS[part](sources)
        if part in FIGURES:
            figures |= FIGURES[part](sources)
        if progress:
            progress("figuring", done, len(parts))
    return Paper(parts, tuple(numbers), figures, optimal_attacker_part.states(sources) if SECOND in parts else ())


def chosen_parts(only: Sequence[str] | None) -> tuple[str, ...]:
    """Return the requested parts in the order of the page; all by default."""
    if only is not None and not only:
        raise ParameterError(f"No part to compute is given. Available: {', '.join(ALL_PARTS)}.", parameter="only")
    for name in only or ():
        if name not in ALL_PARTS:
            raise UnknownNameError.among("part of the paper", name, ALL_PARTS)
    return tuple(part for part in ALL_PARTS if only is None or part in only)


def _optimal_figures(sources: Sources) -> dict[str, Any]:
    """Return the data of the figures under the optimal attack."""
    return {
        "bound-map-optimal": risk_part.bound_map("likelihood"),
        "averaging-map-optimal": risk_part.best_maps(sources),
        "ratios-optimal": tuple(redundancy_part.ratios(sources, rule, "optimal") for rule in RULES),
        **{
            f"parameter-space-{rule}-{attacker}": parameter_space_part.programme_space(
                sources, rule, attacker, keep_single=False
            )
            for rule in RULES
            for attacker in (PAPER, OPTIMAL)
        },
    }


FIGURES: dict[str, Callable[[Sources], dict[str, Any]]] = {
    "bound": lambda _: {"bound-map": risk_part.bound_map()},
    "averaging": lambda _: {"averaging-map": risk_part.published_maps()},
    "redundancy": lambda sources: {"ratios": tuple(redundancy_part.ratios(sources, rule) for rule in RULES)},
    "small_areas": lambda sources: {
        "area-sizes": small_area_part.area_sizes(sources.areas),
        "distortions": (small_area_part.distortions(sources.areas), small_area_part.tail_curves(sources.areas)),
    },
    "accuracy": lambda _: {"accuracy": small_area_part.accuracy_curves()},
    "parameter_space": lambda _: {"parameter-space": parameter_space_part.published_space()},
    SECOND: _optimal_figures,
}
"""The function that computes the data of the figures of each part."""
