"""Numbers published in the paper, and our readings of its text and figures.

The paper is F. Bach, "Differential privacy and noisy confidentiality concepts for European population statistics"
(2020). The module lists the published numbers as printed, with their place in the paper. Powers of ten are written as
2.8e7, orders of magnitude as O(10^-7), shares with their percent sign. Sections, equations, tables and figures have the
numbers of the paper.

`READINGS` lists quantities that the paper does not print as a number, with the printed words and our reading of them: a
formula at one value, a sentence, the edge of a region in a figure, a sum of printed numbers, or a printed number with
another meaning. Agreement with a reading is weaker evidence than agreement with a printed number.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

PARTS = {
    "privacy": "Privacy budgets",
    "bound": "Revealing the bound",
    "margins": "Exploiting margins",
    "averaging": "Massive averaging",
    "redundancy": "Counting redundancies",
    "settings": "Parameter setups",
    "small_areas": "Demographics at high geographic detail",
    "accuracy": "The accuracy of small areas",
    "parameter_space": "The parameter space",
}
"""The parts, by name, in the order of the page."""

TABLE_1 = {
    "total": ((2775, "8.6e7", "2.1e6"), (6378, "9.7e7", "2.6e6")),
    "SEX": ((1376, "2.8e7", "7.1e5"), (3105, "3.2e7", "8.4e5")),
    "AGE.M": ((926, "3.0e6", "7.9e4"), (2281, "3.4e6", "9.7e4")),
    "GEO.L": ((766, "5.4e5", "5.4e5"), (1734, "6.6e5", "6.6e5")),
    "SEX AGE.M": ((458, "9.6e5", "2.6e4"), (1097, "1.1e6", "3.2e4")),
}
"""By statistic with and without SPSN: t, k of Germany, k of Malta."""
TABLE_2 = {
    True: (
        ("LU", "AGE.M", "0.0867"),
        ("CY", "AGE.M", "0.0884"),
        ("MT", "AGE.M", "0.0916"),
        ("EE", "AGE.M", "0.108"),
        ("all", "total", "0.112"),
    ),
    False: (
        ("all", "total", "0.0118"),
        ("all", "GEO.L", "0.0170"),
        ("all", "AGE.M", "0.0170"),
        ("all", "SEX", "0.0234"),
        ("all", "GEO.L AGE.M", "0.0237"),
    ),
}
"""With and without SPSN: country, statistic and its smallest k / t^2."""
SMALLEST, SMALLEST_FRESH, NEXT_FRESH, SHARED = 0.0867, 0.0118, 0.0170, 0.112
"""From table 2: the smallest ratio with SPSN, the two smallest without, and that of all countries with SPSN."""
TUPLES = {"DE": 28_000_000, "MT": 710_000}
"""Sets of women, men and total in the output of Germany and of Malta."""
LAUS = {"Malta": 68, "France": 37_000, "EU-27": 110_000}
"""Numbers of local administrative units in the paper."""
US_GLOBAL = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Global privacy budgets of the US census."""
US_EPSILON = ("0.025", "0.05", "0.1", "0.2", "0.4", "0.8")
US_VARIANCE = ("3200", "800", "200", "50", "12.5", "3.125")
US_DEVIATION = ("56.6", "28.3", "14.1", "7.1", "3.5", "1.8")


NAMED = {
    ("FR", "Aragnouet"): "239",
    ("CZ", "Blažejov"): "247 + 187",
    ("AT", "Graden"): "252 + 230",
    ("FR", "Mélagues"): "63",
    ("FR", "Velleguindry-et-Levrecey"): "82 + 76",
    ("FR", "Lavans-sur-Valouse"): "77 + 62",
    ("FR", "Landremont"): "135",
    ("ES", "Cidamón"): "30",
    ("HU", "Ellend"): "206",
}
"""Residents of the areas that the paper names, by country and name; women and men if it gives no total."""


@dataclass(frozen=True)
class PublishedNumber:
    """One number as printed.

    Attributes:
        part: the part of the paper, one of PARTS.
        where: the section, equation, table or figure, and the quantity.
        text: the number as printed.
    """

    part: str
    where: str
    text: str


def spsn_word(spsn: bool) -> str:  # noqa: FBT001 - its only argument
    """Return the part of a name that distinguishes the variants of a statistic."""
    return "spsn" if spsn else "no-spsn"


def slug(*words: str) -> str:
    """Return words as a short name of plain letters.

    >>> slug("residents of", "Mélagues")
    'residents-of-melagues'
    """
    plain = unicodedata.normalize("NFKD", "-".join(words)).encode("ascii", "ignore").decode()
    return plain.lower().replace(" ", "-").replace(".", "")


def _table_1() -> dict[str, PublishedNumber]:
    columns = {"t": "t", "k-de": "k of Germany", "k-mt": "k of Malta"}
    return {
        slug("table-1", statistic, spsn_word(spsn), what): PublishedNumber(
            "redundancy", f"table 1, {'with' if spsn else 'without'} SPSN, {statistic}: {words}", str(text)
        )
        for statistic, both in TABLE_1.items()
        for spsn, row in zip((True, False), both, strict=True)
        for (what, words), text in zip(columns.items(), row, strict=True)
    }


def _table_2() -> dict[str, PublishedNumber]:
    return {
        slug("table-2", country, statistic, spsn_word(spsn)): PublishedNumber(
            "redundancy", f"table 2, {'with' if spsn else 'without'} SPSN, {country} {statistic}: k / t^2", text
        )
        for spsn, rows in TABLE_2.items()
        for country, statistic, text in rows
    }


def _us() -> dict[str, PublishedNumber]:
    kinds = (("epsilon", US_EPSILON), ("variance", US_VARIANCE), ("deviation", US_DEVIATION))
    return {
        f"us-{kind}-{budget:g}": PublishedNumber(
            "settings", f"section 4.1, equation (14): {kind} of a count for a global epsilon of {budget:g}", text
        )
        for kind, texts in kinds
        for budget, text in zip(US_GLOBAL, texts, strict=True)
    }


def _named() -> dict[str, PublishedNumber]:
    return {
        slug("residents of", name): PublishedNumber(
            "small_areas", f"section 4.2: residents of {name} in 2011", residents
        )
        for (_, name), residents in NAMED.items()
    }


_P = PublishedNumber
PUBLISHED: dict[str, PublishedNumber] = {
    # --- Privacy budgets ---
    "records-wrong": _P(
        "privacy", "section 2.1: records that exponential reconstruction gets wrong at most, here E = 5", "4 E"
    ),
    "halving-noise": _P(
        "privacy", "section 2.4: noise of the tenth query when epsilon = 1 is halved each time", "O(10^3)"
    ),
    "sensitivity-with-total": _P("privacy", "section 2.4, footnote: sensitivity of a histogram with its total", "2"),
    "reconstruction-epsilon": _P(
        "privacy", "section 3.1, equation (8): epsilon of non-privacy, n = 1e6, 99 %", "0.024"
    ),
    "global-noise-least": _P("privacy", "section 3.3: minimum noise of a count, one global epsilon", "O(10^3 - 10^4)"),
    "global-noise-most": _P("privacy", "section 3.3: maximum noise of a count, one global epsilon", "O(10^3 - 10^4)"),
    "us-reconstructed": _P("privacy", "section 3.4, footnote: records of the US census 2010 reconstructed", "50 %"),
    # --- Revealing the bound ---
    "uniform-chance": _P(
        "bound", "section 3.2, footnote: chance p1 of an extreme gap, uniform noise, here E = 5", "20 / (2E + 1)^3"
    ),
    "uniform-variance": _P("bound", "section 3.2: largest variance, here E = 5", "E (E + 1) / 3"),
    "tuples-times-chance": _P("bound", "section 3.2, equation (11): m times p1 at 68 %", "m = 1 / p1"),
    "extreme-chance": _P("bound", "section 3.2: p1 at V = 2, E = 5", "O(10^-7)"),
    "extreme-expected": _P("bound", "section 3.2: extreme gaps in Germany at V = 4, E = 10", "practically zero"),
    "tuples": _P("bound", "section 3.2: sets of women, men and total in Germany", "2.8e7"),
    "tuples-least": _P("bound", "table 1: sets of women, men and total in Malta", "7.1e5"),
    "grid-tuples": _P("bound", "section 3.2, footnote: more sets from the census grid of Germany", "3.6e5"),
    "grid-share": _P("bound", "section 3.2, footnote: share that the grid adds", "1 %"),
    "hidden-from": _P("bound", "section 3.2: smallest bound that is not disclosed at V = 2", "5 to 10"),
    # --- Exploiting margins ---
    "forced-women": _P("margins", "section 3.2: true F of F = 3, M = 2, T = 11 with E = 2", "5"),
    "forced-men": _P("margins", "section 3.2: true M of the same", "4"),
    "forced-total": _P("margins", "section 3.2: true T of the same", "9"),
    "forced-chance": _P("margins", "section 3.2: probability that a set is disclosed, V = 2, E = 5", "O(10^-7)"),
    "removed-tuples": _P("margins", "section 3.2: sets with noise removed in Germany", "single digits"),
    "risk-of-others-most": _P(
        "margins", "section 3.2: risk in a typical scenario with E = 2, from another paper", "O(10^-3)"
    ),
    "risk-of-others-least": _P("margins", "section 3.2: the same, its lower end", "O(10^-16)"),
    # --- Massive averaging ---
    "variance-with-spsn": _P("averaging", "section 3.3: variance that limits averaging to 68 %", "3"),
    "epsilon-without-spsn": _P("averaging", "section 3.3: epsilon that limits averaging to 68 %, without SPSN", "0.3"),
    "epsilon-with-spsn": _P("averaging", "section 3.3: the same with SPSN", "0.8"),
    "age-groups": _P("averaging", "section 3.3, footnote: categories of AGE.M", "21"),
    "whole-histogram": _P("averaging", "section 3.3, footnote: chance to average all of AGE.M, 0.68^21", "0.03 %"),
    "gaussian-success": _P("averaging", "annex B.3, footnote: success at V = 2, k / t^2 = 0.1", "73.6 %"),
    "sampled-bound-10": _P("averaging", "annex B.3, footnote: successes among 1000 samples, E = 10", "741"),
    "sampled-bound-5": _P("averaging", "annex B.3, footnote: successes among 1000 samples, E = 5", "725"),
    "spsn-gain": _P("averaging", "annex B.4: smallest k / t^2 with SPSN over that without", "almost an order"),
    # --- Counting redundancies ---
    "tables": _P("redundancy", "section 2.4 and annex B.4: tables of persons in the programme", "103"),
    "dimensions-least": _P("redundancy", "annex B.4: fewest breakdowns of a table", "3"),
    "dimensions-most": _P("redundancy", "annex B.4: most breakdowns of a table", "6"),
    "breakdowns": _P("redundancy", "annex B.4: different breakdowns", "32"),
    "example-cells": _P("redundancy", "section 3.3, footnote: cells of SEX x AGE with margins", "9"),
    "example-total-t": _P("redundancy", "section 3.3, footnote: t of the total in SEX x AGE", "4"),
    "example-terms-total": _P("redundancy", "section 3.3, footnote: k of the total from itself", "1"),
    "example-terms-margin": _P("redundancy", "section 3.3, footnote: k of the total from a margin", "2"),
    "example-terms-inner": _P("redundancy", "section 3.3, footnote: k of the total from the inner cells", "4"),
    "example-total-k": _P("redundancy", "section 3.3, footnote: k of the total, all together, in 9/16", "9"),
    "example-total-ratio": _P("redundancy", "section 3.3, footnote: k / t^2 of the total", "9/16"),
    "example-margin-t": _P("redundancy", "section 3.3, footnote: t of a margin", "2"),
    "example-margin-k": _P("redundancy", "section 3.3, footnote: k of a margin", "3"),
    "example-margin-ratio": _P("redundancy", "section 3.3, footnote: k / t^2 of a margin", "3/4"),
    "example-inner-t": _P("redundancy", "section 3.3, footnote: t of an inner cell", "1"),
    "example-inner-k": _P("redundancy", "section 3.3, footnote: k of an inner cell", "1"),
    "example-inner-ratio": _P("redundancy", "section 3.3, footnote: k / t^2 of an inner cell", "1"),
    "frequent-ratio-1": _P("redundancy", "annex B.4, footnote, and figure 7: a very frequent k / t^2", "1"),
    "frequent-ratio-0.75": _P("redundancy", "annex B.4, footnote, and figure 7: the other very frequent one", "0.75"),
    "table-92-breakdowns": _P("redundancy", "annex B.1: breakdowns of table 9.2", "4"),
    "table-92-margins": _P("redundancy", "annex B.1: sub-tables of table 9.2", "16"),
    "table-92-irrs": _P("redundancy", "annex B.1: representations of GEO.M x SEX in table 9.2", "4"),
    **_table_1(),
    **_table_2(),
    # --- Parameter setups ---
    "us-share": _P(
        "settings", "section 4.1, equation (14): share of the global epsilon for a table, 67.5 % / 6", "10 %"
    ),
    **_us(),
    "rinott-least-bound": _P(
        "settings", "section 4.1: smallest bound of the truncated distributions of Rinott et al.", "7 to 12"
    ),
    "rinott-largest-bound": _P("settings", "section 4.1: largest bound of the same", "7 to 12"),
    # --- Demographics at high geographic detail ---
    "laus": _P("small_areas", "section 4.2 and figure 5: local administrative units (LAUs) of the EU", "1.1e5"),
    "residents": _P("small_areas", "section 4.2: people in the EU", "4.5e8"),
    "us-tracts": _P("small_areas", "section 4.2: tracts of the US census", "75000"),
    "us-residents": _P("small_areas", "section 4.2: people in the US", "3.3e8"),
    "tiny-laus": _P("small_areas", "section 4.2: populated LAUs with less than 10 people", "450"),
    "smallest-lau": _P("small_areas", "section 4.2: residents of the smallest populated LAUs", "O(10^0)"),
    "largest-lau": _P("small_areas", "section 4.2: residents of the largest LAU, Berlin", "3.3e6"),
    "huge-laus": _P("small_areas", "section 4.2: LAUs with more than a million", "14"),
    "small-counts": _P("small_areas", "section 4.2: counts of F, M or T below 500, about", "1.67e5"),
    "tail-of-laplace": _P(
        "small_areas", "section 4.2, equation (15): Pr(|x| > E), here epsilon = 0.1, E = 40", "-exp(eps E)"
    ),
    "bin-counts": _P("small_areas", "section 4.2, footnote: counts in the bin (60, 80]", "11680"),
    "bin-chance": _P("small_areas", "section 4.2, footnote: chance of 50 % error at 80, epsilon = 0.1", "1.83 %"),
    "bin-expected": _P("small_areas", "section 4.2, footnote: expected counts of the bin with such an error", "214"),
    "bin-drawn": _P("small_areas", "section 4.2, footnote: the same in the sampled data", "339"),
    "off-above-100": _P("small_areas", "section 4.2: counts above 100 off by 100 % or more, epsilon = 0.025", "1648"),
    "off-above-200": _P("small_areas", "section 4.2: counts above 200 off by 100 % or more, epsilon = 0.025", "87"),
    "share-of-totals": _P("small_areas", "section 4.2: one in three counts with such an error is a total", "3"),
    "share-wiped-out": _P(
        "small_areas", "section 4.2: one in six counts with such an error is a total below -100 %", "6"
    ),
    "off-above-40": _P("small_areas", "section 4.2: counts above 40 off by 100 % or more, epsilon = 0.1", "122"),
    "off-above-60": _P("small_areas", "section 4.2: counts above 60 off by 100 % or more, epsilon = 0.1", "11"),
    "broadband-above-40": _P("small_areas", "section 4.2: LAUs above 40, broadband -100 %, epsilon = 0.025", "28"),
    "broadband-above-80": _P("small_areas", "section 4.2: LAUs above 80, broadband -100 %, epsilon = 0.025", "4"),
    "broadband-above-20": _P("small_areas", "section 4.2: LAUs above 20, broadband 100 %, epsilon = 0.1", "1"),
    "broadband-from-100": _P("small_areas", "section 4.2: LAUs from 100 on, broadband 20 %, epsilon = 0.1", "61"),
    "lost-residents-0.025": _P(
        "small_areas", "section 4.2: residents of the largest LAU without any, epsilon = 0.025, Aragnouet", "239"
    ),
    "lost-women-0.025": _P(
        "small_areas", "section 4.2: men of the largest LAU without women, epsilon = 0.025, Blažejov", "247"
    ),
    "lost-men-0.025": _P(
        "small_areas", "section 4.2: women of the largest LAU without men, epsilon = 0.025, Graden", "252"
    ),
    "lost-residents-0.1": _P(
        "small_areas", "section 4.2: residents of the largest LAU without any, epsilon = 0.1, Mélagues", "63"
    ),
    "lost-women-0.1": _P(
        "small_areas", "section 4.2: men of the largest without women, epsilon = 0.1, Velleguindry-et-Levrecey", "82"
    ),
    "lost-men-0.1": _P(
        "small_areas", "section 4.2: women of the largest without men, epsilon = 0.1, Lavans-sur-Valouse", "62"
    ),
    "largest-broadband-0.025": _P(
        "small_areas", "section 4.2: residents of the largest at -100 %, epsilon = 0.025, Landremont", "135"
    ),
    "largest-broadband-0.1": _P(
        "small_areas", "section 4.2: residents of the largest at 20 %, epsilon = 0.1, Ellend", "206"
    ),
    "cidamon": _P("small_areas", "section 4.2: residents of Cidamón with 15 women and 20 men", "30"),
    "sexes-of-named": _P("small_areas", "section 4.2: women and men of the LAUs that are named", "187, 230, 76, .."),
    "noise-of-named": _P("small_areas", "section 4.2: counts of the same with noise", "-7, 257, -58, .."),
    **_named(),
    # --- The accuracy of small areas ---
    "laus-france": _P("accuracy", "figure 5: LAUs of France", "3.7e4"),
    "laus-malta": _P("accuracy", "figure 5: LAUs of Malta", "68"),
    "epsilon-large": _P("accuracy", "section 4.2: epsilon that large countries need, E = 20, 68 %", "0.6"),
    "epsilon-small": _P("accuracy", "section 4.2: epsilon that small countries need", "0.3"),
    "epsilon-1000": _P("accuracy", "section 4.3: epsilon below which countries of 10^3 LAUs are distorted", "0.4"),
    # --- The parameter space ---
    "band-least": _P("parameter_space", "section 4.3: lower end of the band of epsilon, 0.3 to 0.4", "0.3"),
    "band-most": _P("parameter_space", "section 4.3: upper end of the band of epsilon, 0.3 to 0.4", "0.4"),
    "variance-range": _P("parameter_space", "section 5: smallest feasible variance, within V of 2 to 3", "2 to 3"),
    "least-variance": _P(
        "parameter_space", "section 5: smallest feasible variance, as lower end of V of 2 to 3", "2 to 3"
    ),
    "least-bound": _P("parameter_space", "section 5: smallest feasible bound, as lower end of E of 5 to 10", "5 to 10"),
    "window-least": _P("parameter_space", "figure 6: lower end of the yellow band of epsilon", "0.27"),
    "window-most": _P("parameter_space", "figure 6: upper end of the yellow band of epsilon", "0.37"),
    "window-middle": _P("parameter_space", "section 5: middle of the narrow feasible window of epsilon", "0.3"),
}
"""All published numbers, by a short name."""


@dataclass(frozen=True)
class ReadAs:
    """Our reading of printed words as a number.

    Attributes:
        words: the printed words, in part.
        value: our reading, written like a published number.
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
"""Our readings, by the name of the published number."""
