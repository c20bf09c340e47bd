"""Errors: two families, values as attributes, suggestions."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import errors


def test_every_error_belongs_to_one_of_two_families() -> None:
    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.DiscreetError)]
    for error in found:
        assert error is errors.DiscreetError or issubclass(error, errors.InputError | errors.InternalError)
    assert not issubclass(errors.InternalError, errors.InputError)


def test_errors_carry_their_values() -> None:
    error = errors.UnknownNameError.among("law", "laplac", ["laplace", "uniform"])
    assert (error.name, error.available) == ("laplac", ("laplace", "uniform"))
    assert str(error) == "There is no law 'laplac'. Did you mean laplace? Available: laplace, uniform."
    assert errors.InfeasibleError.in_row(2, "Why.", "Do.").row == 2
    assert errors.PTableFileError.at(Path("a/b.csv"), "line 2", "broken.", "Mend.").path == Path("a/b.csv")
    assert errors.ParameterError.outside("Law", "scale", -1, "a positive number").parameter == "scale"


def test_nothing_near_gives_no_suggestion() -> None:
    assert "Did you mean" not in str(errors.UnknownNameError.among("law", "xyz", ["laplace"]))


@pytest.mark.parametrize("name", ["SecretError", "FileExistsAlreadyError", "InfeasibleError"])
def test_mistakes_are_input_errors(name: str) -> None:
    assert issubclass(getattr(errors, name), errors.InputError)


def test_a_name_in_other_letters_is_the_nearest() -> None:
    error = errors.UnknownNameError.among("topic", "sex", ["AGE", "SEX", "next"])
    assert str(error) == "There is no topic 'sex'. Did you mean SEX? Available: AGE, SEX, next."
