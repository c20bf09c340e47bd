"""What is listed as published can be read, and belongs to a part."""

from __future__ import annotations

from discreet.design.paper.numbers import FRACTION, ORDER, PRINTED
from discreet.design.paper.published import PARTS, PUBLISHED, SMALLEST, SMALLEST_FRESH, TABLE_1, TABLE_2, TUPLES

IN_WORDS = {"tail-of-laplace", "noise-of-named"}
"""What is printed as something else than one number."""


def test_every_number_can_be_read() -> None:
    for name, printed in PUBLISHED.items():
        readable = any(kind.fullmatch(printed.text) for kind in (PRINTED, ORDER, FRACTION))
        assert readable is (name not in IN_WORDS), name


def test_every_number_has_a_place_and_a_part() -> None:
    for printed in PUBLISHED.values():
        assert printed.part in PARTS
        assert printed.where.startswith(("section ", "annex ", "table ", "figure "))


def test_what_is_computed_with_is_what_is_printed() -> None:
    assert (float(TABLE_2[True][0][2]), float(TABLE_2[False][0][2])) == (SMALLEST, SMALLEST_FRESH)
    (_, *sets), _ = TABLE_1["SEX"]
    assert list(TUPLES.values()) == [float(text) for text in sets]
    assert len([name for name in PUBLISHED if name.startswith("table-1-")]) == 30
    assert len([name for name in PUBLISHED if name.startswith("table-2-")]) == 10
