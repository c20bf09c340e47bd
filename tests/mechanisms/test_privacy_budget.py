"""Privacy budgets: however they are split, what a person can change spends what was given and no more."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError, ParameterError, UnknownNameError
from discreet.mechanisms.privacy_budget import Budget, read_budget
from discreet.tabulation.static_output import output_of
from tests.each import each
from tests.protection.town import AGE, SEX, TOWN
from tests.quick import up_to
from tests.tabulation.small_data import by, programme, programmes

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.tabulation.static_output import StaticOutput

# Table 1 shows sexes and the total, table 2 sexes and the total by three depths of age.
SMALL = output_of(programme([SEX, AGE], [by(SEX)], [by(AGE), by(SEX)]))


def spent(budget: Budget, output: StaticOutput, *, spsn: bool) -> float:
    """Return the sum over all noisy counts that one person changes, each once."""
    split = budget.split(output, spsn=spsn)
    counts: dict[Any, float] = {}
    for (table, shown), epsilon in split.items():
        key = shown if spsn else (table, shown)
        # A count that is drawn once has one epsilon, whatever table asks for it.
        assert counts.setdefault(key, epsilon) == epsilon
    return math.fsum(counts.values())


def check_within(budget: Budget, output: StaticOutput, whole: float, *, spsn: bool) -> None:
    """Check that a budget is spent, but for the last digits of every count, and not exceeded by any."""
    found = spent(budget, output, spsn=spsn)
    assert found <= whole
    assert found == pytest.approx(whole, rel=1e-14)


@settings(max_examples=up_to(60))
@given(st.data())
@pytest.mark.parametrize("spsn", [True, False])
def test_the_sum_over_all_counts_is_the_budget(spsn: bool, data: st.DataObject) -> None:
    output = output_of(data.draw(programmes()))
    share = st.floats(0.01, 100)
    shares = {table: data.draw(share) for table in output.statistics}
    whole = data.draw(share)
    for budget in (Budget(whole), Budget(whole, weights=shares), Budget(whole, weights={"*": 1.0})):
        check_within(budget, output, whole, spsn=spsn)
    check_within(Budget(per_table=shares), output, math.fsum(shares.values()), spsn=spsn)


def test_an_even_split_gives_every_count_the_same() -> None:
    for spsn, counts in ((True, 6), (False, 8)):
        assert set(Budget(3.0).split(SMALL, spsn=spsn).values()) == {3 / counts}


def test_not_a_bit_more_than_the_budget_is_spent() -> None:
    # 5 / 6 as a double lies above five sixths: six of them would spend more than was given.
    assert Fraction(5 / 6) > Fraction(5, 6)
    (each,) = set(Budget(5.0).split(SMALL, spsn=True).values())
    assert 5 * (1 - Fraction(1, 2**52)) < 6 * Fraction(each) <= 5


def test_a_table_splits_what_it_has_evenly_over_its_statistics() -> None:
    budget = Budget(4.0, weights={"1": 1, "2": 3})
    assert budget.of_tables(SMALL) == {"1": 1.0, "2": 3.0}
    alone = budget.split(SMALL, spsn=False)
    assert {epsilon for (table, _), epsilon in alone.items() if table == "1"} == {1 / 2}
    assert {epsilon for (table, _), epsilon in alone.items() if table == "2"} == {3 / 6}
    # What both tables show may spend what both allow.
    shared = {shown for shown, tables in SMALL.tables_of.items() if tables == 2}
    together = budget.split(SMALL, spsn=True)
    assert {epsilon for (_, shown), epsilon in together.items() if shown in shared} == {1 / 2 + 3 / 6}
    assert {epsilon for (_, shown), epsilon in together.items() if shown not in shared} == {3 / 6}


def test_an_epsilon_for_every_table_is_taken_as_it_is() -> None:
    assert Budget(per_table={"1": 0.2, "2": 5}).of_tables(SMALL) == {"1": 0.2, "2": 5}


def test_a_table_of_its_own_goes_before_patterns_and_these_go_in_order() -> None:
    output = output_of(TOWN)
    found = Budget(per_table={"[12]": 1.0, "*": 2.0, "2": 3.0}).of_tables(output)
    assert found == {"1": 1.0, "2": 3.0, "3": 2.0, "4": 2.0, "5": 2.0}


# --- What is refused ---


@each(
    ("given_budget", "message"),
    [
        ({}, "The budget is missing. Give --epsilon, or an epsilon per table."),
        ({"weights": {"*": 1}}, "The budget is missing. Give --epsilon, or an epsilon per table."),
        (
            {"epsilon": 1.0, "per_table": {"*": 1}},
            "sum of the epsilons of the tables. Leave out --epsilon",
        ),
        (
            {"weights": {"*": 1}, "per_table": {"*": 1}},
            "sum of the epsilons of the tables. Leave out --epsilon",
        ),
        ({"epsilon": 0.0}, "privacy budget: epsilon must be a positive number, not 0.0"),
        ({"epsilon": math.nan}, "privacy budget: epsilon must be a positive number, not nan"),
        ({"epsilon": math.inf}, "privacy budget: epsilon must be a positive number, not inf"),
        ({"epsilon": 1.0, "weights": {"1": 0}}, "privacy budget: 1 must be a positive number, not 0"),
        ({"per_table": {"1.*": -2}}, "privacy budget: 1.* must be a positive number, not -2"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(given_budget: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        Budget(**given_budget)


def test_every_table_and_no_other_must_have_its_share() -> None:
    with pytest.raises(
        ParameterError,
        match=re.escape("The budget has no entry for table 2. Add a line for it, or a line with the pattern *."),
    ) as caught:
        Budget(1.0, weights={"1": 1}).split(SMALL, spsn=True)
    assert caught.value.parameter == "budget"
    with pytest.raises(UnknownNameError, match=r"There is no table in the budget '3'\. Available: 1, 2\."):
        Budget(per_table={"*": 1, "3": 1}).split(SMALL, spsn=True)


# --- Files ---


@pytest.mark.parametrize(
    ("text", "epsilon", "budget"),
    [
        ("table,weight\n1,2\n*,1\n", 3.0, Budget(3.0, weights={"1": 2, "*": 1})),
        ("\ufefftable,epsilon\n1,0.5\n2,1e-1\n", None, Budget(per_table={"1": 0.5, "2": 0.1})),
        ('epsilon,table\r\n0.5,"H,1"\r\n', None, Budget(per_table={"H,1": 0.5})),
    ],
)
def test_a_file_has_a_weight_or_an_epsilon_for_every_table(
    text: str, epsilon: float | None, budget: Budget, tmp_path: Path
) -> None:
    (tmp_path / "budget.csv").write_text(text, encoding="utf-8", newline="")
    assert read_budget(tmp_path / "budget.csv", epsilon) == budget


COLUMNS = "has the wrong columns. It needs table and weight, or table and epsilon, and one line per table or pattern."


@each(
    ("content", "epsilon", "message"),
    [
        (None, 1.0, "budget.csv cannot be read (No such file or directory). Give a CSV file."),
        (b"\xff\xfe", 1.0, "budget.csv cannot be read (not a CSV text). Give a CSV file."),
        (b'table,weight\n"1,2\n', 1.0, "budget.csv cannot be read (not a CSV text). Give a CSV file."),
        (b"", 1.0, f"budget.csv {COLUMNS}"),
        (b"table,weight\n", 1.0, f"budget.csv {COLUMNS}"),
        (b"table,share\n1,2\n", 1.0, f"budget.csv {COLUMNS}"),
        (b"table,weight,epsilon\n1,2,3\n", 1.0, f"budget.csv {COLUMNS}"),
        (b"table,weight\n1,2,3\n", 1.0, f"budget.csv {COLUMNS}"),
        (b"table,weight\n1,2\n2,3,4\n", 1.0, f"budget.csv {COLUMNS}"),
        (
            b"table,weight\n1,2\n2,much\n",
            1.0,
            "budget.csv, line 3: 'much' is not a number. Write a number such",
        ),
        (b"table,weight\n1,2\n2\n", 1.0, "budget.csv, line 3: the number is missing. Write a number such as 0.5."),
        (b"table,weight\n1,\n", 1.0, "budget.csv, line 2: the number is missing."),
        (b"table,weight\n1,2\n1,3\n", 1.0, "budget.csv has two lines for 1. Remove one."),
        (b"table,weight\n1,nan\n", 1.0, "privacy budget: 1 must be a positive number, not nan"),
        (b"table,weight\n1,0\n", 1.0, "privacy budget: 1 must be a positive number, not 0.0"),
        (b"table,weight\n1,2\n", None, "The budget is missing. Give --epsilon, or an epsilon per table."),
        (b"table,epsilon\n1,2\n", 1.0, "sum of the epsilons of the tables. Leave out --epsilon"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    content: bytes | None, epsilon: float | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "budget.csv").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)):
        read_budget(tmp_path / "budget.csv", epsilon)
