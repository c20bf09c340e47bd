"""Values of JSON as text that is easy to compare, and values that differ by rounding alone made the same."""

from __future__ import annotations

import json
import math
import re
from typing import Any

WIDTH = 160
RELATIVE, ABSOLUTE = 1e-9, 1e-12
DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?")


def laid_out(value: Any, indent: int = 0) -> str:  # noqa: ANN401 - a value of JSON
    """Return a value as JSON with sorted keys; what fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if not isinstance(value, dict | list) or not value or len(line) + indent <= WIDTH:
        return line
    blank, deeper = " " * indent, indent + 1
    if isinstance(value, list):
        parts = [laid_out(each, deeper) for each in value]
        opening, closing = "[", "]"
    else:
        names = {json.dumps(name, ensure_ascii=False): value[name] for name in sorted(value)}
        parts = [f"{name}: {laid_out(each, deeper)}" for name, each in names.items()]
        opening, closing = "{", "}"
    inner = ",\n".join(f"{blank} {part}" for part in parts)
    return f"{opening}\n{inner}\n{blank}{closing}"


def settled(new: Any, stored: Any) -> Any:  # noqa: ANN401 - values of JSON
    """Return the new value, with every number that is the stored one but for rounding as it is stored."""
    if isinstance(new, dict) and isinstance(stored, dict):
        return {name: settled(each, stored.get(name)) for name, each in new.items()}
    if isinstance(new, list) and isinstance(stored, list):
        more = [None] * (len(new) - len(stored))
        return [settled(each, old) for each, old in zip(new, [*stored, *more], strict=False)]
    if isinstance(new, float) and isinstance(stored, float):
        return stored if _same(new, stored) else new
    if isinstance(new, str) and isinstance(stored, str):
        return stored if _same_text(new, stored) else new
    return new


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _same_text(one: str, other: str) -> bool:
    """Say whether two texts differ at most in numbers with a decimal point, and these by rounding alone."""
    if DECIMAL.split(one) != DECIMAL.split(other):
        return False
    pairs = zip(DECIMAL.findall(one), DECIMAL.findall(other), strict=True)
    return all(first == second or _same(float(first), float(second)) for first, second in pairs)
