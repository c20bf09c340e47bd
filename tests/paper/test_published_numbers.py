"""What is listed as published can be read, and belongs to a part."""

from __future__ import annotations

from discreet.paper.number_comparison import FRACTION, ORDER, PRINTED
from discreet.paper.published_numbers import (
    PARTS,
    PUBLISHED,
    READINGS,
    SMALLEST,
    SMALLEST_FRESH,
    TABLE_1,
    TABLE_2,
    TUPLES,
)

LISTED = {"sexes-of-named", "noise-of-named"}
"""What is printed as several numbers, none of which is computed."""


def test_every_number_can_be_read() -> None:
    for name, printed in PUBLISHED.items():
        text = READINGS[name].value if name in READINGS else printed.text
        readable = any(kind.fullmatch(text) for kind in (PRINTED, ORDER, FRACTION))
        assert readable is (name not in LISTED), name


def test_what_is_no_number_in_print_is_a_reading() -> None:
    for name, printed in PUBLISHED.items():
        if not any(kind.fullmatch(printed.text) for kind in (PRINTED, ORDER, FRACTION)):
            assert name in READINGS or name in LISTED


def test_every_reading_is_of_a_published_number_and_quotes_it() -> None:
    assert set(READINGS) <= set(PUBLISHED)
    assert all(read.words and read.value for read in READINGS.values())


def test_sums_are_those_of_what_is_printed() -> None:
    for name, read in READINGS.items():
        if " + " in (text := PUBLISHED[name].text) and "E" not in text:
            assert sum(map(int, text.split(" + "))) == int(read.value)


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
