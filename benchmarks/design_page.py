"""Which noise every Member State needs, as the tables of docs/results/design.md."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from discreet.design.constraints import OPTIMAL, PAPER
from discreet.programme.eu2021.census import census
from discreet.risk.averaging import variance_needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Row = dict[str, Any]

FLAT, LEVELS = "flat", "levels"
BOUNDS = (5, 7, 10)
"""Bounds for which the largest variance is shown."""
KINDS = tuple((rule, attacker) for rule in (FLAT, LEVELS) for attacker in (PAPER, OPTIMAL))


def of_kind(measured: Sequence[Row], rule: str, attacker: str) -> list[Row]:
    """Return the designs of all Member States under one rule and attacker."""
    return [row for row in measured if (row["rule"], row["attacker"]) == (rule, attacker)]


def left(rows: Sequence[Row]) -> list[Row]:
    """Return the designs that have something left of variance and bound."""
    return [row for row in rows if row["recommended"]]


def line_left(rows: Sequence[Row]) -> list[Row]:
    """Return the designs that have something left of epsilon."""
    return [row for row in rows if row["epsilon_needed"] <= row["epsilon_allowed"]]


def summary(measured: Sequence[Row]) -> str:
    """Return all Member States under each rule and attacker in a line."""
    lines = []
    for rule, attacker in KINDS:
        rows = of_kind(measured, rule, attacker)
        lines.append(
            [
                rule,
                attacker,
                _range((row["variance"] for row in rows), ".1f"),
                _range((row["allowed"] for row in rows), ".1f"),
                _range((row["smallest_bound"] for row in rows), "d"),
                f"{len(left(rows))} of {len(rows)}",
                _range((row["epsilon_needed"] for row in rows), ".2f"),
                _range((row["epsilon_allowed"] for row in rows), ".2f"),
                f"{len(line_left(rows))} of {len(rows)}",
            ]
        )
    head = (
        "rule",
        "attacker",
        "V needed",
        "V allowed at E = 10",
        "smallest E",
        "something left",
        "ε needed",
        "ε allowed",
    )
    return _table((*head, "ε left"), lines)


def states(measured: Sequence[Row], rule: str) -> str:
    """Return the noise that each Member State needs under one rule, for both attackers."""
    lines = []
    for paper, optimal in _pairs(measured, rule):
        lines.append([_name(paper["state"]), *_needs(paper), f"{_right(paper)}", *_needs(optimal)])
    each = ("statistic", "r", "V", "E", "take")
    head = (
        "Member State",
        *(f"paper: {each[0]}", *each[1:]),
        "then optimal right",
        *(f"optimal: {each[0]}", *each[1:]),
    )
    return _table(head, lines)


def _needs(row: Row) -> list[str]:
    setting = row["recommended"]
    take = f"{setting['variance']:.6g}, {setting['bound']}" if setting else "none"
    return [row["statistic"], f"{row['ratio']:.4f}", f"{row['variance']:.2f}", str(row["smallest_bound"]), take]


def _right(row: Row) -> str:
    return "-" if row["optimal_success"] is None else f"{row['optimal_success']:.0%}"


def flat(measured: Sequence[Row]) -> str:
    """Return the Member States under the rule `flat`."""
    return states(measured, FLAT)


def levels(measured: Sequence[Row]) -> str:
    """Return the Member States under the rule `levels`."""
    return states(measured, LEVELS)


def nothing_left(measured: Sequence[Row]) -> str:
    """Return what to relax where nothing is left."""
    lines = [
        [
            _name(row["state"]),
            row["rule"],
            row["attacker"],
            f"{row['variance']:.1f}",
            f"{row['allowed']:.1f}",
            str(row["smallest_bound"]),
            f"{row['success_to_accept']:.1%}",
        ]
        for row in measured
        if not row["recommended"]
    ]
    head = ("Member State", "rule", "attacker", "V needed", "V allowed", "E", "right")
    return _table(head, lines)


def line(measured: Sequence[Row]) -> str:
    """Return what is left of epsilon in each Member State."""
    lines = []
    for four in zip(*(of_kind(measured, *kind) for kind in KINDS), strict=True):
        first = four[0]
        lines.append(
            [
                _name(first["state"]),
                f"{first['areas']:,}",
                f"{first['epsilon_needed']:.2f}",
                *(_epsilon(row) for row in four),
                *("-" if row["off_to_accept"] is None else f"{row['off_to_accept']:.0f}" for row in four),
            ]
        )
    kinds = [", ".join(kind) for kind in KINDS]
    return _table(
        ("Member State", "areas", "ε needed", *(f"allowed: {k}" for k in kinds), *(f"off: {k}" for k in kinds)), lines
    )


def _epsilon(row: Row) -> str:
    """Return the epsilon allowed, in bold where it is enough."""
    told = f"{row['epsilon_allowed']:.2f}"
    return f"**{told}**" if line_left([row]) else told


def projected(solved: Sequence[Row]) -> str:
    """Return what the best linear attack knows on the real trees."""
    lines = []
    for state in solved:
        for number, row in enumerate(state["rows"]):
            lines.append(
                [
                    "" if number else _name(state["state"]),
                    row["statistic"],
                    f"{row['closed']:.4f}",
                    f"{row['projected']:.4f}",
                    f"{variance_needed(row['closed']):.1f}",
                    f"{variance_needed(row['projected']):.1f}",
                ]
            )
    head = ("Member State", "statistic", "r, even division", "r, real trees", "V, even division", "V, real trees")
    return _table(head, lines)


def bound_allows(measured: Sequence[Row]) -> str:
    """Return by Member State and bound the largest variance at which residuals do not identify the bound."""
    lines = []
    for flat_row, levels_row in zip(of_kind(measured, FLAT, OPTIMAL), of_kind(measured, LEVELS, OPTIMAL), strict=True):
        lines.append(
            [
                _name(flat_row["state"]),
                *(
                    text
                    for row in (flat_row, levels_row)
                    for text in (
                        f"{row['bound_noises']:,}",
                        "closed form" if row["bound_surrogate"] else "probes",
                        *(f"{row['bound_allows'][str(bound)]:.1f}" for bound in BOUNDS),
                    )
                ),
            ]
        )
    each = ("noises", "leverages", *(f"E = {bound}" for bound in BOUNDS))
    head = ("Member State", *(f"{rule}: {name}" for rule in (FLAT, LEVELS) for name in each))
    return _table(head, lines)


def _pairs(measured: Sequence[Row], rule: str) -> Iterable[tuple[Row, Row]]:
    return zip(of_kind(measured, rule, PAPER), of_kind(measured, rule, OPTIMAL), strict=True)


@cache
def _name(state: str) -> str:
    return census(state).name.partition(",")[0]


def _range(values: Iterable[float], form: str) -> str:
    found = sorted(values)
    low, high = f"{found[0]:{form}}", f"{found[-1]:{form}}"
    return low if low == high else f"{low} to {high}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(head)
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


PARTS = (summary, flat, levels, nothing_left, bound_allows, line)
"""The parts of the page that are made of designs."""


def page(text: str, measured: dict[str, list[Row]]) -> str:
    """Return the page with its tables made anew."""
    parts = {part.__name__: part(measured["designs"]) for part in PARTS}
    parts["projected"] = projected(measured["projected"])
    for name, made in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"
    return text
