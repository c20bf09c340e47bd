"""The exact variance of chosen cells, with blocks as unequal as they are: by projection instead of closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.equations.closed_form import success
from discreet.equations.margins import MarginEquations
from discreet.results import Result
from discreet.risk.registry import measure

if TYPE_CHECKING:
    from discreet.programme.lattice import Lattice
    from discreet.risk.case import Case

CELLS_TRIED = 3


@measure("projection")
def projection(case: Case) -> list[Result]:
    """Return how well the best linear attack knows cells of the statistic asked for; nothing for rounding."""
    if case.exact is None or case.record.rounds:
        return []
    equations = MarginEquations(case.lattice, case.record.spsn)
    statistic = case.lattice.position(case.exact)
    shape = equations.shape(statistic)
    tried = np.unique(np.linspace(0, np.prod(shape) - 1, CELLS_TRIED).astype(int))
    cells = [tuple(map(int, np.unravel_index(number, shape))) for number in tried]
    ratios = [equations.variance_ratio(statistic, cell) for cell in cells]
    worst = int(np.argmin(ratios))
    name, variance = case.lattice.names()[statistic], case.record.variance
    closed = case.averaging.optimal[case.averaging.names.index(name)]
    return [
        Result(
            name="projection",
            equation="Var / V = |P e|^2, P the projection on parent = sum of children",
            value=ratios[worst],
            unit="V",
            sentence=f"By projection on all {equations.cells:,} published cells the best linear attack knows a count "
            f"of {name} with variance {ratios[worst]:.4f} V (closed form {closed:.4f} V) and is right to the person "
            f"with probability {success(variance, ratios[worst]):.3f}.",
            worst=f"{_codes(case.lattice, statistic, cells[worst])} of {name}",
            assumptions=(
                f"the smallest of {len(cells)} tried: {', '.join(_codes(case.lattice, statistic, c) for c in cells)}",
                "blocks as in the category trees; as equal as can be where only numbers are known",
                "with SPSN a category and its only child have one noise (cell keys)",
                "counts well above the noise bound",
            ),
        )
    ]


def _codes(lattice: Lattice, statistic: int, cell: tuple[int, ...]) -> str:
    """Return the codes of a cell, or the numbers of its categories where codes are not known."""
    words = []
    for axis, depth, number in zip(lattice.axes, lattice.depths[statistic].tolist(), cell, strict=True):
        codes = axis.codes[depth - 1] if depth else None
        if depth:
            words.append(f"{axis.levels[depth - 1]}={codes[number] if codes else number + 1}")
    return " ".join(words) or "the total"
