"""Codes to positions: what is finer is taken up, what cannot be placed is told for all columns at once."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataProblemsError, UnknownNameError
from discreet.programme.selection import with_missing_category
from discreet.programme.universe import parse_universe
from discreet.records.category_coding import (
    LONGEST_EXAMPLE,
    MOST_DIFFERENT,
    MOST_EXAMPLES,
    FilterColumn,
    LevelColumn,
    RecordCoder,
)
from discreet.sources.source import open_source
from tests.each import each
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, topic, topics

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from discreet.programme.model import Topic

AGE = topic("AGE", {"Y": "", "O": "", "Y1": "Y", "Y2": "Y", "Y11": "Y1", "Y12": "Y1"})
SEX = topic("SEX", "F M")
EMP = topic("EMP", "1 2 3")
TOWN = programme([AGE, SEX, EMP], [by(AGE), by(SEX), by(EMP)])


def column(given_topic: Topic, depth: int) -> LevelColumn:
    """Return the coded column of a level."""
    return LevelColumn(f"{given_topic.name}_{depth}", given_topic.name, given_topic.levels[depth - 1].codes or ())


def coder(*levels: LevelColumn, universe: str = "", missing: str = "error") -> RecordCoder:
    filters = [FilterColumn("u0", parse_universe(universe, TOWN, "1"))] if universe else []
    named = {level.topic for level in levels} | {name for f in filters for name in f.universe.topics}
    binding = {name: name.lower() for name in TOWN.topics if name in named}
    return RecordCoder(TOWN.topics, binding, levels, filters, missing)


def coded(using: RecordCoder, **columns: Sequence[object] | pa.Array) -> dict[str, list[int]]:
    """Code one batch and check it."""
    found, _ = using(pa.record_batch(columns))
    using.check("census.csv")
    return {name: values.tolist() for name, values in found.items()}


def problems(using: RecordCoder, *batches: dict[str, Sequence[object] | pa.Array]) -> list[str]:
    """Return the lines of the refusal, without the first and last."""
    for columns in batches:
        using(pa.record_batch(columns))
    with pytest.raises(DataProblemsError, match=r"census\.csv cannot be counted:") as caught:
        using.check("census.csv")
    return str(caught.value).split("\n")[1:-1]


# --- Positions ---


def test_a_position_is_the_place_of_the_category_in_its_level() -> None:
    ages = ["Y11", "O", "Y2", "Y12", "Y11"]
    assert AGE.levels[-1].codes == ("Y11", "Y12", "Y2", "O")
    assert coded(coder(column(AGE, 3), column(AGE, 1)), age=ages) == {
        "AGE_3": [0, 3, 2, 1, 0],
        "AGE_1": [0, 1, 0, 0, 0],
    }


def test_codes_finer_than_the_tables_need_are_accepted() -> None:
    assert coded(coder(column(AGE, 1)), age=["Y", "Y1", "Y11", "O"]) == {"AGE_1": [0, 0, 0, 1]}
    # A branch that ends early is as fine as can be.
    assert coded(coder(column(AGE, 2)), age=["Y1", "Y12", "Y2", "O"]) == {"AGE_2": [0, 0, 1, 2]}


def test_codes_coarser_than_some_table_needs_are_refused() -> None:
    lines = problems(coder(column(AGE, 1), column(AGE, 2)), {"age": ["Y", "Y1", "Y", "O"]})
    assert lines == ["  age: 2 records with a category of AGE that is too coarse for the tables (such as 'Y')"]


@settings(max_examples=up_to(60), derandomize=True, deadline=None)
@given(st.data())
def test_positions_decode_to_the_category_above_the_code(data: st.DataObject) -> None:
    given_topic = data.draw(topics("A", shuffled=True))
    assert given_topic.tree
    levels = [
        column(given_topic, depth)
        for depth in range(1, len(given_topic.levels) + 1)
        if data.draw(st.booleans()) or depth == 1
    ]
    finest = set(levels[-1].codes)
    fine_enough = [c.code for c in given_topic.tree.categories if finest & set(given_topic.tree.path(c.code))]
    values = data.draw(st.lists(st.sampled_from(fine_enough), min_size=1))
    using = RecordCoder({"A": given_topic}, {"A": "a"}, levels, [], "error")
    # Batch after batch, with a dictionary of its own in every one.
    cut = data.draw(st.integers(0, len(values) - 1))
    parts = [using(pa.record_batch({"a": part}))[0] for part in (values[cut:], values[:cut]) if part]
    using.check("the data")
    assert using.records == len(values)
    for level in levels:
        decoded = [level.codes[place] for part in parts for place in part[level.name]]
        assert all(
            above in given_topic.tree.path(code)
            for above, code in zip(decoded, values[cut:] + values[:cut], strict=True)
        )


@pytest.mark.slow
@each(("size", "kind"), [(255, "uint8"), (256, "uint16"), (65_535, "uint16"), (65_536, "uint32")])
def test_positions_are_as_narrow_as_can_be(size: int, kind: str) -> None:
    # The place after the last is for a missing value.
    many = topic("N", " ".join(f"n{number}" for number in range(size)))
    using = RecordCoder({"N": many}, {"N": "n"}, [column(many, 1)], [], "category")
    found = using(pa.record_batch({"n": ["n0", f"n{size - 1}", None]}))[0]["N_1"]
    assert (found.dtype.name, found.tolist()) == (kind, [0, size - 1, size])


def test_a_topic_without_a_tree_has_the_codes_of_its_level() -> None:
    using = RecordCoder({"SEX": replace(SEX, tree=None)}, {"SEX": "sex"}, [column(SEX, 1)], [], "error")
    assert using(pa.record_batch({"sex": ["M", "F"]}))[0]["SEX_1"].tolist() == [1, 0]


# --- Types of columns ---

TYPED: list[Any] = [
    pa.array([1, 3, 2], pa.int8()),
    pa.array([1, 3, 2], pa.uint64()),
    pa.array([1.0, 3.0, 2.0], pa.float64()),
    pa.array([1.0, 3.0, 2.0], pa.float32()),
    pa.array([Decimal("1.00"), Decimal("3.00"), Decimal("2.00")]),
    pa.array(["1", "3", "2"]),
    pa.array(["1", "3", "2"], pa.large_string()),
    pa.array(["1", "3", "2"], pa.string_view()),
    pa.array([b"1", b"3", b"2"]),
    pa.array(["1", "3", "2"]).dictionary_encode(),
    pa.array([1.0, 3.0, 2.0]).dictionary_encode(),
    pa.DictionaryArray.from_arrays(pa.array([2, 0, 1], pa.uint8()), pa.array(["3", "2", "1", "not used"])),
    # Two entries of a dictionary with one text are one code.
    pa.DictionaryArray.from_arrays(pa.array([0, 3, 2], pa.int16()), pa.array(["1", "1", "2", "3"])),
]


@each("values", TYPED, ids=lambda values: str(values.type))
def test_a_code_may_be_of_any_type(values: pa.Array) -> None:
    assert coded(coder(column(EMP, 1)), emp=values) == {"EMP_1": [0, 2, 1]}
    # A slice begins somewhere else in memory.
    assert coded(coder(column(EMP, 1)), emp=values.slice(1)) == {"EMP_1": [2, 1]}


@each(
    ("codes", "values"),
    [
        ("true false", pa.array([True, False])),
        ("2021-12-31 2021-01-01", pa.array([date(2021, 12, 31), date(2021, 1, 1)])),
        ("2021-12-31 2021-01-01", pa.array([datetime(2021, 12, 31), datetime(2021, 1, 1)])),  # noqa: DTZ001 - as frames have them
        ("2021-12-31 2021-01-01", pa.array([datetime(2021, 12, 31), datetime(2021, 1, 1)], pa.timestamp("ns"))),  # noqa: DTZ001
        ("1.5 0", pa.array([1.5, 0.0])),
    ],
)
def test_truths_dates_and_fractions_are_codes_by_their_text(codes: str, values: pa.Array) -> None:
    named = topic("X", codes)
    using = RecordCoder({"X": named}, {"X": "x"}, [column(named, 1)], [], "error")
    found = using(pa.record_batch({"x": values}))[0]
    using.check("the data")
    assert found["X_1"].tolist() == [0, 1]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8()])
def test_a_dictionary_may_be_as_large_as_its_numbers_allow(kind: pa.DataType) -> None:
    size = 128 if kind == pa.int8() else 256
    texts = [f"n{number}" for number in range(size)]
    many = topic("N", " ".join(texts))
    numbers = pa.array([size - 1, None, 0], kind)
    using = RecordCoder({"N": many}, {"N": "n"}, [column(many, 1)], [], "category")
    found = using(pa.record_batch({"n": pa.DictionaryArray.from_arrays(numbers, pa.array(texts))}))[0]
    assert found["N_1"].tolist() == [size - 1, size, 0]


def test_texts_that_a_frame_keeps_as_views_are_read() -> None:
    frame = pl.DataFrame({"emp": ["1", None, "3"], "sex": pl.Series(["F", "M", "F"], dtype=pl.Categorical)})
    using = coder(column(EMP, 1), column(SEX, 1), missing="category")
    (batch,) = open_source(frame).batches(["emp", "sex"])
    found, _ = using(batch)
    assert (found["EMP_1"].tolist(), found["SEX_1"].tolist()) == ([0, 3, 2], [0, 1, 0])


ODD: list[Any] = [
    pa.array([[1], [2]]),
    pa.array([{"a": 1}, None]),
    pa.array([b"\xff", b"1"]),
    pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([[1]])),
]


@each("values", ODD, ids=lambda values: str(values.type))
@each("missing", ["error", "category", "drop"])
def test_values_that_have_no_text_are_refused(missing: str, values: pa.Array) -> None:
    lines = problems(coder(column(EMP, 1), missing=missing), {"emp": ["1", "2"]}, {"emp": values})
    assert lines == ["  emp: the values are neither text nor numbers, so they cannot be codes of EMP"]


# --- What is not in order ---


def test_all_columns_are_told_in_one_message_with_the_ways_out() -> None:
    using = coder(column(AGE, 3), column(SEX, 1), column(EMP, 1))
    using(pa.record_batch({"age": ["Y1", "Y11", "X", None], "sex": ["F", "F", "F", "M"], "emp": [1, 4, 4, 7]}))
    using(pa.record_batch({"age": ["O", "", "Y", "Y"], "sex": ["F", "F", "F", "M"], "emp": [1, 2, 3, 9]}))
    with pytest.raises(DataProblemsError) as caught:
        using.check("census.csv")
    assert str(caught.value) == (
        "census.csv cannot be counted:\n"
        "  age: 2 records without a value and 1 record with a code that topic AGE does not define and 3 records with a "
        "category of AGE that is too coarse for the tables (such as 'Y1', 'X', 'Y')\n"
        "  emp: 4 records with a code that topic EMP does not define (such as '4', '7', '9')\n"
        "To fix this: assign a code to missing values, or use --missing category or --missing drop; correct the data, "
        "add the codes to the programme, or bind another column in [columns]."
    )
    found = [(p.column, p.topic, p.missing, p.unknown, p.coarse, p.odd) for p in caught.value.problems]
    assert found == [("age", "AGE", 2, 1, 3, False), ("emp", "EMP", 0, 4, 0, False)]


def test_a_way_out_is_named_only_for_what_was_wrong() -> None:
    using = coder(column(SEX, 1))
    using(pa.record_batch({"sex": ["F", None]}))
    with pytest.raises(
        DataProblemsError, match=re.escape("1 record without a value\nTo fix this: assign a code")
    ) as caught:
        using.check("census.csv")
    assert "correct the data" not in str(caught.value)


def test_examples_are_few_and_short() -> None:
    long = "x" * 50
    values = [long, long + "y", *(f"code {number}" for number in range(8)), "F"]
    (line,) = problems(coder(column(SEX, 1)), {"sex": values})
    shown = re.findall(r"'([^']*)'", line)
    assert shown == [long[:20], "code 0", "code 1", "code 2", "code 3"]
    assert (MOST_EXAMPLES, LONGEST_EXAMPLE) == (5, 20)
    assert "10 records with a code that topic SEX does not define" in line


@pytest.mark.parametrize("more", [0, 1])
def test_codes_of_which_there_are_too_many_are_not_shown(more: int) -> None:
    # A column of names or ids bound to a topic by mistake: none of them may be in a message.
    values = [f"person {number}" for number in range(MOST_DIFFERENT + more)]
    (line,) = problems(coder(column(SEX, 1)), {"sex": values[:7]}, {"sex": values[7:]}, {"sex": values})
    assert line.startswith(f"  sex: {2 * len(values)} records with a code that topic SEX does not define (")
    assert ("person" in line) == (not more)
    assert line.endswith("(not shown: too many different values to be codes; check the column)") == bool(more)


def test_entries_of_a_dictionary_that_no_record_has_are_no_problem() -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array(["canary", "F"]))
    assert coded(coder(column(SEX, 1)), sex=values) == {"SEX_1": [0, 0]}
    (line,) = problems(coder(column(SEX, 1)), {"sex": values}, {"sex": ["X"]})
    assert line == "  sex: 1 record with a code that topic SEX does not define (such as 'X')"


# --- Missing values ---

WITHOUT: list[Any] = [
    pa.array(["1", None, "", "3"]),
    pa.array([1.0, None, float("nan"), 3.0]),
    pa.array([1, None, None, 3]),
    pa.array(["1", None, "", "3"]).dictionary_encode(),
    pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["1", None, "3"])),
]


@each("values", WITHOUT, ids=lambda values: str(values.type))
def test_missing_values_are_refused_counted_or_dropped(values: pa.Array) -> None:
    sex = ["F", "M", None, "M"]
    lines = problems(coder(column(EMP, 1), column(SEX, 1)), {"emp": values, "sex": sex})
    assert lines == ["  sex: 1 record without a value", "  emp: 2 records without a value"]
    counting = coder(column(EMP, 1), column(SEX, 1), missing="category")
    assert coded(counting, emp=values, sex=sex) == {"EMP_1": [0, 3, 3, 2], "SEX_1": [0, 1, 2, 1]}
    assert counting.topics_with_missing() == ["SEX", "EMP"]
    dropping = coder(column(EMP, 1), column(SEX, 1), missing="drop")
    found, keep = dropping(pa.record_batch({"emp": values, "sex": sex}))
    assert keep is not None
    assert keep.tolist() == [True, False, False, True]
    assert (found["EMP_1"].tolist(), found["SEX_1"].tolist()) == ([0, 2], [0, 1])
    assert (dropping.records, dropping.dropped) == (4, 2)
    dropping.check("census.csv")


def test_topics_of_which_nothing_is_missing_are_not_named() -> None:
    using = coder(column(EMP, 1), column(SEX, 1), missing="category")
    coded(using, emp=[1, 2], sex=["F", "M"])
    coded(using, emp=[1, None], sex=["F", "M"])
    assert using.topics_with_missing() == ["EMP"]


def test_a_column_in_which_all_is_missing() -> None:
    using = coder(column(SEX, 1), missing="category")
    assert coded(using, sex=pa.nulls(3)) == {"SEX_1": [2, 2, 2]}
    (line,) = problems(coder(column(SEX, 1)), {"sex": pa.nulls(3)})
    assert line == "  sex: 3 records without a value"


def test_all_records_are_kept_where_nothing_is_dropped() -> None:
    using = coder(column(SEX, 1), missing="drop")
    _, keep = using(pa.record_batch({"sex": ["F"]}))
    assert (keep, using.dropped) == (None, 0)


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_unknown_codes_are_refused_whatever_is_done_with_missing_ones(missing: str) -> None:
    lines = problems(coder(column(SEX, 1), missing=missing), {"sex": ["X", None]})
    assert lines == ["  sex: 1 record with a code that topic SEX does not define (such as 'X')"]


def test_there_are_three_ways_with_missing_values() -> None:
    with pytest.raises(
        UnknownNameError, match=re.escape("There is no treatment of missing values 'dorp'. Did you mean drop")
    ):
        coder(column(SEX, 1), missing="dorp")


# --- Universes ---


@each(
    ("universe", "inside"),
    [
        ("EMP = 1", [1, 0, 0, 1, 0, 0]),
        ("EMP != 1", [0, 1, 1, 0, 1, 1]),
        ("EMP in (1, 3)", [1, 0, 1, 1, 0, 1]),
        ("EMP not in (1, 3)", [0, 1, 0, 0, 1, 0]),
        ("AGE = Y", [1, 1, 1, 0, 1, 1]),
        ("AGE = Y1", [1, 1, 0, 0, 0, 1]),
        ("AGE != Y1", [0, 0, 1, 1, 1, 0]),
        ("AGE in Y11, Y2", [1, 0, 1, 0, 1, 0]),
        ("AGE not in (Y1, O)", [0, 0, 1, 0, 1, 0]),
        ("AGE = Y and AGE != Y2", [1, 1, 0, 0, 0, 1]),
        ("EMP = 1 and AGE = O", [0, 0, 0, 1, 0, 0]),
        ("EMP != 2 and AGE = Y1 and SEX = M", [0, 0, 0, 0, 0, 1]),
    ],
)
def test_records_of_a_universe_are_marked(universe: str, inside: list[int]) -> None:
    columns = {
        "age": ["Y11", "Y12", "Y2", "O", "Y2", "Y12"],
        "emp": [1, 2, 3, 1, 2, 3],
        "sex": ["F", "M", "F", "M", "F", "M"],
    }
    using = coder(column(SEX, 1), universe=universe)
    used = {name: columns[name] for name in [c.column for c in using.coders]}
    found = coded(using, **used)
    assert found == {"SEX_1": [0, 1, 0, 1, 0, 1], "u0": inside}


def test_a_universe_needs_the_finest_codes() -> None:
    # Whether a Y lies in Y1 is not known, even where the tables would be content with Y.
    using = coder(column(AGE, 1), universe="AGE = Y1")
    lines = problems(using, {"age": ["Y11", "Y", "O"]})
    assert lines == ["  age: 1 record with a category of AGE that is too coarse for the tables (such as 'Y')"]


@pytest.mark.parametrize(
    ("universe", "inside"),
    [
        ("EMP in (1, 2) and EMP in (2, 3)", [0, 1, 0, 0, 1, 0]),
        ("EMP = 1 or SEX = F", [1, 0, 1, 1, 1, 0]),
        ("(EMP = 1 or SEX = F) and AGE >= Y2", [1, 0, 0, 0, 1, 0]),
    ],
)
def test_a_universe_may_join_conditions_by_and_and_by_or(universe: str, inside: list[int]) -> None:
    columns = {
        "emp": [1, 2, 3, 1, 2, 3],
        "sex": ["F", "M", "F", "M", "F", "M"],
        "age": ["Y2", "O", "Y11", "Y12", "O", "Y2"],
    }
    using = coder(universe=universe)
    assert coded(using, **{c.column: columns[c.column] for c in using.coders})["u0"] == inside


def test_a_missing_value_lies_in_a_universe_that_takes_its_category_in() -> None:
    def marks(universe: str, missing: str) -> NDArray[np.unsignedinteger]:
        known = with_missing_category(TOWN, ["EMP", "SEX"]) if missing == "category" else TOWN
        filtered = FilterColumn("u0", parse_universe(universe, known, "1"))
        using = RecordCoder(TOWN.topics, {"EMP": "emp", "SEX": "sex"}, [], [filtered], missing)
        return using(pa.record_batch({"emp": ["1", None, "2"], "sex": ["F", "F", "M"]}))[0]["u0"]

    assert marks("EMP = 1", "category").tolist() == [1, 0, 0]
    assert marks("EMP != 2", "category").tolist() == [1, 1, 0]
    assert marks("EMP >= 1", "category").tolist() == [1, 0, 1]
    assert marks("EMP = _U or SEX = M", "category").tolist() == [0, 1, 1]
    assert marks("EMP = 1", "drop").tolist() == [1, 0]


def test_whole_numbers_with_decimals_are_read_as_codes_and_noted() -> None:
    using = coder(column(EMP, 1))
    values = ["1.0", "2", "3.00", "1.0"]
    assert coded(using, emp=values)["EMP_1"] == [0, 1, 2, 0]
    assert coded(using, emp=["2.0"])["EMP_1"] == [1]
    (note,) = using.notes()
    assert note.startswith("Column emp: 4 values are whole numbers with decimals")
    assert note.endswith("for example, 1.0 was read as the code 1.")
    plain = coder(column(EMP, 1))
    assert coded(plain, emp=[1.0, 2.0])["EMP_1"] == [0, 1]
    assert plain.notes() == []


def test_a_code_that_is_written_with_decimals_stays_as_it_is() -> None:
    size = topic("SIZE", "1 1.0 2")
    using = RecordCoder({"SIZE": size}, {"SIZE": "size"}, [LevelColumn("s", "SIZE", ("1", "1.0", "2"))], [], "error")
    assert coded(using, size=["1.0", "1", "2.0"])["s"] == [1, 0, 2]
    for text in ("1.5", "2.01", ".0", "4.0"):
        assert len(problems(coder(column(EMP, 1)), {"emp": ["1", text]})) == 1
