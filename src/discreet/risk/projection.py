"""The exact variance of chosen statistics, with blocks as unequal as they are and all universes together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.equations.closed_form import success
from discreet.errors import ParameterError
from discreet.results import Result
from discreet.risk.registry import measure

if TYPE_CHECKING:
    from discreet.risk.case import Case


@measure("projection")
def projection(case: Case) -> list[Result]:
    """Return how well the optimal linear attack knows the statistics asked for; nothing for rounding."""
    for name in case.exact:
        if name not in case.averaging.names:
            # Names the statistics there are.
            case.lattice.position(name)
    if not case.exact or case.record.rounds:
        return []
    if case.exposed is None:
        raise ParameterError(
            "Exact solutions need the rule levels, merged single categories and a programme that is not too large. "
            "Leave out --closed-form, --rule and --keep-single, or take fewer tables.",
            parameter="exact",
        )
    return [_solved(case, name) for name in case.exact]


def _solved(case: Case, asked: str) -> Result:
    assert case.exposed is not None  # noqa: S101 - checked above
    name = asked if asked in case.averaging.names else " ".join(sorted(asked.split()))
    cells = [cell for cell in case.exposed.solved if cell.statistic == name]
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
