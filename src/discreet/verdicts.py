"""The targets of an office and the verdict on them: one rule for terminal, report, JSON and notebook.

A *target* is the largest value of a figure that an office accepts. A *check* compares one figure with its target.
The *decision* follows from all checks by one rule:

- any check misses its target: do not publish yet;
- no check misses, but one has no target or was not assessed: the targets set are met, the rest is not judged;
- else: all targets are met.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

ONE_SIGMA = 0.6827
"""P(|z| < 1) of a standard normal z, rounded: the success that the paper grants an attacker."""
LOWEST_RATE, HIGHEST_RATE = 0.01, 0.999999
"""Targets for the success of an attacker that can be set: beyond them rounding decides."""
NEARLY = 0.001
"""Shares below this, and above one minus this, are not rounded to 0 or 100 %."""


@dataclass(frozen=True)
class Criterion:
    """A figure that can have a target.

    Attributes:
        name: as in `--target NAME=VALUE` and in JSON.
        label: as on a tile of the report.
        meaning: the figure in words.
        is_share: whether it lies between 0 and 1.
        default: the target unless the office sets one; None for no target.
        unit: of a figure that is not a share.
        low: the smallest target that can be set.
        high: the largest target that can be set; 1 for a share.
    """

    name: str
    label: str
    meaning: str
    is_share: bool = True
    default: float | None = None
    unit: str = ""
    low: float = 0.0
    high: float = 1.0

    def text(self, value: float) -> str:
        """Return a value of this figure in words."""
        return percent(value) if self.is_share else f"{value:,.3g} {self.unit}".rstrip()


AVERAGING = Criterion(
    "averaging",
    "Averaging",
    "exact recovery rate of the optimal linear attack on the most exposed statistic",
    default=ONE_SIGMA,
    low=LOWEST_RATE,
    high=HIGHEST_RATE,
)
SINGLETONS = Criterion(
    "singletons", "Singleton cells", "share of cells with true count 1 that the best attack recovers exactly"
)
BOUND = Criterion(
    "bound",
    "Bound disclosure",
    "probability that an attacker identifies the bound of the noise",
    default=ONE_SIGMA,
    low=LOWEST_RATE,
    high=HIGHEST_RATE,
)
MARGINS = Criterion(
    "margins",
    "Margins",
    "positive counts that published margins reveal with certainty",
    is_share=False,
    high=math.inf,
    default=0.0,
    unit="counts",
)
EXPECTED_MARGINS = Criterion(
    "expected-margins",
    "Expected margins",
    "expected number of sets of parts and total that reveal their counts with certainty",
    is_share=False,
    high=math.inf,
    default=1.0,
    unit="sets",
)
SMALL_AREAS = Criterion(
    "small-areas",
    "Small areas",
    "expected share of counts of small areas whose relative error exceeds the area error",
    default=0.05,
)
ADDITIVITY = Criterion("additivity", "Additivity", "share of published totals that differ from the sum of their parts")
DELTA = Criterion("delta", "Delta", "delta of one count at epsilon 1")
AREA_ERROR = Criterion(
    "area-error",
    "Error of areas",
    "largest error of the total of any area under unbounded noise",
    is_share=False,
    high=math.inf,
    default=20.0,
    unit="persons",
)
CRITERIA = {
    each.name: each
    for each in (
        AVERAGING,
        SINGLETONS,
        BOUND,
        MARGINS,
        EXPECTED_MARGINS,
        SMALL_AREAS,
        ADDITIVITY,
        DELTA,
        AREA_ERROR,
    )
}
"""All figures that can have a target, by name, in the order of the report."""


@dataclass(frozen=True)
class Policy:
    """The targets of an office.

    Attributes:
        chosen: the targets that the office set, by criterion.
    """

    chosen: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse unknown criteria and values outside the range of their figure."""
        for name, value in self.chosen.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ParameterError(f"The target {name} must be a number, not {value!r}.", parameter="target")
            if name not in CRITERIA:
                raise UnknownNameError.among("target", name, CRITERIA)
            low, high = CRITERIA[name].low, CRITERIA[name].high
            if not low <= value <= high or not math.isfinite(value):
                wanted = f"from {low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"
                raise ParameterError(f"The target {name} is {value:g}; it must be {wanted}.", parameter="target")

    @classmethod
    def of(cls, targets: Policy | Mapping[str, float] | Iterable[str] | None) -> Policy:
        """Return targets given as a policy, by name, or as texts NAME=VALUE."""
        if isinstance(targets, Policy):
            return targets
        if targets is None or isinstance(targets, Mapping):
            return cls(dict(targets or {}))
        return cls(dict(_parsed(text) for text in targets))

    def restricted(self, command: str, criteria: Iterable[Criterion]) -> Policy:
        """Return the policy; refuse targets that a command does not judge."""
        names = [each.name for each in criteria]
        other = next((name for name in self.chosen if name not in names), None)
        if other is not None:
            what = f"{command} does not judge the target {other}. It judges {', '.join(names)}."
            raise ParameterError(what, parameter="target")
        return self

    def over(self, stored: Mapping[str, float] | None, criteria: Iterable[Criterion]) -> Policy:
        """Return the policy, with targets that a record stored where none was chosen here."""
        names = [each.name for each in criteria]
        kept = {name: value for name, value in (stored or {}).items() if name in names}
        return Policy({**kept, **self.chosen})

    def target(self, criterion: Criterion) -> float | None:
        """Return the target of a figure, None where it has none."""
        return self.chosen.get(criterion.name, criterion.default)

    def accepted(self, criterion: Criterion) -> float:
        """Return the target of a figure that has one by default."""
        return self.chosen.get(criterion.name, criterion.default or 0.0)

    def origin(self, criterion: Criterion) -> str:
        """Return where a target comes from: "chosen", "default" or "none"."""
        if criterion.name in self.chosen:
            return "chosen"
        return "none" if criterion.default is None else "default"

    def to_json(self, criteria: Iterable[Criterion]) -> dict[str, Any]:
        """Return the targets of some figures with their origin, by name."""
        return {each.name: {"target": self.target(each), "origin": self.origin(each)} for each in criteria}

    def flags(self) -> tuple[str, ...]:
        """Return the targets that were chosen as texts NAME=VALUE."""
        return tuple(f"{name}={value!r}" for name, value in self.chosen.items())


def _parsed(text: str) -> tuple[str, float]:
    """Return name and value of NAME=VALUE; a value may be a percentage."""
    name, _, value = text.partition("=")
    try:
        number = float(value.strip().removesuffix("%")) / (100 if value.strip().endswith("%") else 1)
    except ValueError:
        what = f"--target {text} is not NAME=VALUE with a number. Example: --target averaging=0.68"
        raise ParameterError(what, parameter="target") from None
    return name.strip(), number


class Verdict(Enum):
    """How a figure compares with its target: a word, and a shape for readers who see no colours."""

    MEETS = ("meets target", "✓")
    MISSES = ("misses target", "✗")
    NO_TARGET = ("no target set", "-")
    NOT_ASSESSED = ("not assessed", "○")

    @property
    def word(self) -> str:
        """Return the word."""
        return self.value[0]

    @property
    def shape(self) -> str:
        """Return the shape."""
        return self.value[1]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One figure compared with its target.

    Attributes:
        criterion: the figure.
        value: its value, an upper bound where it has a range; None if it was not assessed.
        target: its target, None if it has none.
        origin: of the target: "chosen", "default" or "none".
        sentence: the result in one sentence; the reason where it was not assessed.
        lowest: the lowest value of a range.
        cases: the number of cases behind a rate, None for a probability that was computed.
        partial: what the value does not cover; such a value can miss a target, but not meet it.
        remedy: what the curator can do about a missed target, with numbers.
    """

    criterion: Criterion
    value: float | None
    target: float | None
    origin: str
    sentence: str
    lowest: float | None = None
    cases: int | None = None
    partial: str = ""
    remedy: str = ""

    @property
    def verdict(self) -> Verdict:
        """Return how the figure compares with its target."""
        if self.value is None:
            return Verdict.NOT_ASSESSED
        if self.target is None:
            return Verdict.NO_TARGET
        # Not a number is no success.
        if not self.value <= self.target:
            return Verdict.MISSES
        return Verdict.NOT_ASSESSED if self.partial else Verdict.MEETS

    @property
    def value_text(self) -> str:
        """Return the value in words, a range where it is one."""
        if self.value is None:
            return "-"
        high = self.criterion.text(self.value)
        low = high if self.lowest is None else self.criterion.text(self.lowest)
        return high if low == high else f"{low} to {high}"

    @property
    def target_text(self) -> str:
        """Return the target in words."""
        return "no target set" if self.target is None else f"target: at most {self.criterion.text(self.target)}"

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain values."""
        return {
            "name": self.criterion.name,
            "value": self.value,
            "lowest": self.lowest,
            "cases": self.cases,
            "target": self.target,
            "origin": self.origin,
            "verdict": self.verdict.word,
            "sentence": self.sentence,
            "not_covered": self.partial,
            "remedy": self.remedy,
        }


def check(policy: Policy, criterion: Criterion, value: float | None, sentence: str, **more: Any) -> Check:  # noqa: ANN401
    """Return the check of a figure against the policy; `more` are further attributes of Check."""
    target, origin = policy.target(criterion), policy.origin(criterion)
    return Check(criterion=criterion, value=value, target=target, origin=origin, sentence=sentence, **more)


@dataclass(frozen=True)
class Decision:
    """The verdict on a release or a noise, with its reason and the ways out.

    Attributes:
        checks: all figures, judged or not.
        options: what the curator can do where a target is missed, with numbers, most direct first.
    """

    checks: tuple[Check, ...]
    options: tuple[str, ...] = ()

    @property
    def missed(self) -> tuple[Check, ...]:
        """Return the checks that miss their target."""
        return tuple(each for each in self.checks if each.verdict is Verdict.MISSES)

    @property
    def not_judged(self) -> tuple[Check, ...]:
        """Return the checks without a verdict: no target, or not assessed."""
        return tuple(each for each in self.checks if each.verdict in {Verdict.NO_TARGET, Verdict.NOT_ASSESSED})

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the whole."""
        if self.missed:
            return Verdict.MISSES
        return Verdict.NOT_ASSESSED if self.not_judged else Verdict.MEETS

    @property
    def headline(self) -> str:
        """Return the verdict in words."""
        if self.missed:
            return "Do not publish yet"
        if not self.not_judged:
            return "Meets all targets"
        names = ", ".join(each.criterion.label.lower() for each in self.not_judged)
        met = len(self.not_judged) < len(self.checks)
        return f"Meets the targets set; not judged: {names}" if met else f"Not judged: {names}"

    @property
    def reason(self) -> str:
        """Return the reason in one sentence: the first check that misses its target, else the first not judged."""
        first = next(iter((*self.missed, *self.not_judged, *self.checks)), None)
        if first is None:
            return ""
        sentence = re.split(r"\.\s+(?=[A-Z])", first.sentence)[0].rstrip(".")
        if first.value is None:
            return f"{sentence}."
        target = "no target is set" if first.target is None else first.target_text.replace("target:", "the target is")
        return f"{sentence}; {target}."

    def to_json(self) -> dict[str, Any]:
        """Return the decision as plain values."""
        return {
            "headline": self.headline,
            "verdict": self.verdict.word,
            "reason": self.reason,
            "options": list(self.options),
            "checks": [each.to_json() for each in self.checks],
        }


def percent(share: float) -> str:
    """Return a share in percent; shares near 0 or 1 are not rounded to 0 or 100 %.

    >>> percent(0.9996), percent(0.68), percent(0.0), percent(0.0003)
    ('over 99.9 %', '68.0 %', '0.0 %', 'under 0.1 %')
    """
    if NEARLY > share > 0:
        return f"under {100 * NEARLY:.1f} %"
    return f"over {100 - 100 * NEARLY:.1f} %" if 1 > share > 1 - NEARLY else f"{100 * share:.1f} %"
