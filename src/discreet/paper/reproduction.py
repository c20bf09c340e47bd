"""The paper in one run: all numbers, the data of all figures, and the second part under the optimal attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.calibration.constraints import OPTIMAL, PAPER
from discreet.errors import ParameterError, UnknownNameError
from discreet.paper import optimal_attacker_part, parameter_space_part, redundancy_part, risk_part, small_area_part
from discreet.paper.number_comparison import AREAS, BASES, DRAW, FORMULA, NOT_COMPUTED, PROGRAMME, READING
from discreet.paper.paper_inputs import RULES, Sources
from discreet.paper.published_numbers import PARTS
from discreet.results import Result

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
"""By part, what gives its numbers."""
COUNTED = {"averaging", "parameter_space", "redundancy"}
"""Parts that need the programme of every Member State."""
SECOND = "attackers"
"""The second part, beyond the paper."""
ALL_PARTS = (*PARTS, SECOND)


@dataclass(frozen=True, eq=False)
class Paper:
    """Everything that was found.

    Attributes:
        parts: those that were asked for.
        numbers: published and ours.
        figures: by name, the data of each figure.
        states: the second part, every Member State under both rules and both attackers.
    """

    parts: tuple[str, ...]
    numbers: tuple[NumberComparison, ...]
    figures: dict[str, Any]
    states: tuple[State, ...]

    def __repr__(self) -> str:
        return f"Paper({', '.join(self.parts)}: {len(self.numbers)} numbers, {len(self.figures)} figures)"

    @property
    def apart(self) -> tuple[NumberComparison, ...]:
        """Return the numbers that do not agree."""
        return tuple(each for each in self.numbers if not each.agrees)

    @property
    def results(self) -> list[Result]:
        """Return how many numbers agree, by what they rest on, and the second part in sentences."""
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
                    sentence=_told(basis, rows, agree),
                    equation="|ours - published| <= half a unit of the last printed digit",
                )

    def sentences(self) -> list[str]:
        """Return what came of it in a few sentences, the answer first."""
        return [*(result.sentence for result in self._agreement()), *optimal_attacker_part.sentences(self.states)]

    def __str__(self) -> str:
        return "\n".join(self.sentences())


IN_NOTES = "the notes say why not all do"
WHY_APART = {
    FORMULA: IN_NOTES,
    READING: IN_NOTES,
    PROGRAMME: "the paper does not tell how it counted levels, and its t and k lie between our two rules. Levels of "
    "one category are kept in both, as the paper seems to have done",
    AREAS: "the paper has the census of 2011, our lists mostly registers of 2013 to 2017",
}
"""What keeps numbers of one kind from agreeing."""


def _told(basis: str, rows: Sequence[NumberComparison], agree: int) -> str:
    """Return how many numbers of one kind agree, and what to expect of them."""
    many = f"{len(rows)} {'number' if len(rows) == 1 else 'numbers'} {BASES[basis]}"
    if basis == NOT_COMPUTED:
        return f"There {'is' if len(rows) == 1 else 'are'} {many}; the notes say why."
    if basis == DRAW:
        likely = sum(bool(each.likely) for each in rows)
        return (
            f"Another draw of noise gives other numbers: of {many}, {likely} {_verb(likely, 'lie')} within what 19 of "
            f"20 draws on our data show, and {agree} {'is' if agree == 1 else 'are'} what we expect, to the print."
        )
    why = "" if agree == len(rows) else f"; {WHY_APART[basis]}"
    held = "with what we read" if basis == READING else "within the published rounding"
    return f"Of {many}, {agree} {_verb(agree, 'agree')} {held}{why}."


def _verb(many: int, word: str) -> str:
    return f"{word}s" if many == 1 else word


def reproduce_paper(
    *,
    only: Sequence[str] | None = None,
    sources: Sources | None = None,
    progress: Progress | None = None,
) -> Paper:
    """Return the paper's numbers and figures beside ours.

    Args:
        only: some of the parts; all if left out.
        sources: counts that are there already, or of some Member States alone.
        progress: told how far the work is.
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
    """Return the parts that are asked for, in the order of the page; all if none is named."""
    if only is not None and not only:
        raise ParameterError(f"There is no part to compute. Name some of: {', '.join(ALL_PARTS)}.", parameter="only")
    for name in only or ():
        if name not in ALL_PARTS:
            raise UnknownNameError.among("part of the paper", name, ALL_PARTS)
    return tuple(part for part in ALL_PARTS if only is None or part in only)


def _optimal_figures(sources: Sources) -> dict[str, Any]:
    """Return the figures again, under the optimal attack."""
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
"""By part, what gives the data of its figures."""
