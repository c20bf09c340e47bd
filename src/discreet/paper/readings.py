"""What the paper does not print as a number of its own: the printed words, and the number that we read in them.

A formula at one value, a sentence, the edge of a region in a figure, a sum of printed numbers, or a printed number that
is taken for something else. Whether ours agrees with such a reading tells less than whether it agrees with print.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.paper.published import US_EPSILON, US_GLOBAL


@dataclass(frozen=True)
class ReadAs:
    """A number that is read in printed words.

    Attributes:
        words: some of the words, as printed.
        value: the number that we take them for, written as a published one.
    """

    words: str
    value: str


def _us_budgets() -> dict[str, ReadAs]:
    return {
        f"us-epsilon-{budget:g}": ReadAs("10 % x eps_global", text)
        for budget, text in zip(US_GLOBAL, US_EPSILON, strict=True)
    }


_R = ReadAs
READINGS: dict[str, ReadAs] = {
    # --- Privacy budgets ---
    "records-wrong": _R("dist(d, c) <= 4E", "20"),
    "global-noise-least": _R("O(10^3 - 10^4) for eps_global of O(1 - 10)", "O(10^3)"),
    "global-noise-most": _R("O(10^3 - 10^4) for eps_global of O(1 - 10)", "O(10^4)"),
    # --- Revealing the bound ---
    "uniform-chance": _R("p1 = 20 / (2E + 1)^3", "20/1331"),
    "uniform-variance": _R("maximum variance V = E (E + 1) / 3", "10"),
    "tuples-times-chance": _R("m = [..] 1 / p1 for alpha = 68 %", "1"),
    "extreme-expected": _R("for E = 10 and V <= 4 it is practically zero", "0"),
    "tuples-least": _R("SEX [..] k (MT) 7.1e5", "7.1e5"),
    "hidden-from": _R("E = 5 to 10 and V = 2 [..] quasi-unbounded", "5"),
    # --- Exploiting margins ---
    "forced-chance": _R("an individual chance p1 [..] of being divulged", "O(10^-7)"),
    "removed-tuples": _R("would remain in the single digits", "0 to 9"),
    # --- Massive averaging ---
    "spsn-gain": _R("difference of almost an order of magnitude", "O(10^1)"),
    # --- Parameter setups ---
    **_us_budgets(),
    "rinott-least-bound": _R("eps in {0.5, 1.5} and delta in {2e-5, 8e-3} [..] E = 7 to 12", "7"),
    "rinott-largest-bound": _R("eps in {0.5, 1.5} and delta in {2e-5, 8e-3} [..] E = 7 to 12", "12"),
    # --- Demographics at high geographic detail ---
    "tail-of-laplace": _R("Pr(|x| > E) = -exp(eps E)", "-54.6"),
    "residents-of-blazejov": _R("247 men [..] 187 women", "434"),
    "residents-of-graden": _R("252 women [..] 230 men", "482"),
    "residents-of-velleguindry-et-levrecey": _R("M = 82 [..] F = 76", "158"),
    "residents-of-lavans-sur-valouse": _R("M = 77 [..] F = 62", "139"),
    # --- The parameter space ---
    "variance-range": _R("e.g. V of 2 to 3", "2 to 3"),
    "least-variance": _R("e.g. V of 2 to 3", "2"),
    "least-bound": _R("e.g. [..] E of 5 to 10", "5"),
    "window-middle": _R("a narrow window around [..] 0.3", "0.3"),
}
"""By the name of the published number."""
