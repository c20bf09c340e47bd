"""Mechanisms by name: each with what it takes, and a word about what it does not take."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InputError, ParameterError, SecretError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.mechanism_by_name import mechanism_named
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.formats.ptable_files import write_ptable
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.noise.truncated import truncated_laplace_for
from discreet.noise.uniform import Uniform
from tests.each import each
from tests.protection.town import SECRET

PTABLE = PTable.max_entropy(variance=3, bound=5)
ABOVE_ONE = PTable.max_entropy(variance=3, bound=5, threshold=1)
ZEROS = PTable.max_entropy(variance=3, bound=5, perturb_zeros=True)
LAW = TwoSidedGeometric(epsilon=0.5)
SOLVED: dict[str, Any] = {"variance": 3, "bound": 5}


def named(name: str, secret: bytes | None = SECRET, **given: Any) -> Any:  # noqa: ANN401 - one of several mechanisms
    """Return a mechanism; flags that are not given are None, as on the command line."""
    flags: dict[str, Any] = dict.fromkeys(("variance", "bound", "threshold", "epsilon", "delta", "scale", "sigma"))
    return mechanism_named(name, secret=lambda: secret, **(flags | given))


@each(
    ("name", "given", "made"),
    [
        ("cell-key", SOLVED, CellKey(PTABLE, secret=SECRET)),
        ("cell-key", {**SOLVED, "threshold": 1}, CellKey(ABOVE_ONE, secret=SECRET)),
        ("cell-key", {**SOLVED, "mode": "plain", "version": "2"}, CellKey(PTABLE, SECRET, mode="plain", version="2")),
        ("cell-key", {**SOLVED, "perturb_zeros": True}, CellKey(ZEROS, secret=SECRET)),
        ("cell-key", {"epsilon": 0.5, "perturb_zeros": True}, CellKey(LAW, SECRET, perturb_zeros=True)),
        ("cell-key", {**SOLVED, "spsn": True}, CellKey(PTABLE, secret=SECRET)),
        ("coordinates", {"epsilon": 0.5}, Coordinates(LAW, SECRET)),
        ("coordinates", {**SOLVED, "law": "max-entropy", "version": "b"}, Coordinates(PTABLE, SECRET, version="b")),
        ("coordinates", {**SOLVED, "perturb_zeros": True}, Coordinates(ZEROS, SECRET)),
        ("coordinates", {"law": "uniform", "bound": 4, "perturb_zeros": True},
         Coordinates(Uniform(bound=4), SECRET, perturb_zeros=True)),
        ("fresh", {"law": "truncated-laplace", "epsilon": 0.5, "delta": 8e-3}, Fresh(truncated_laplace_for(0.5, 8e-3))),
        ("fresh", {**SOLVED, "spsn": False}, Fresh(PTABLE)),
        ("fresh", {"epsilon": 0.5, "perturb_zeros": True}, Fresh(LAW, perturb_zeros=True)),
        ("eps-dp", {"epsilon": 2.0}, EpsDP(Budget(2.0))),
        ("eps-dp", {"epsilon": 2.0, "law": "geometric", "spsn": True}, EpsDP(Budget(2.0))),
        ("eps-dp", {"epsilon": 2.0, "spsn": False}, EpsDP(Budget(2.0), spsn=False)),
        ("exact", {}, Exact()),
    ],
)  # fmt: skip
def test_a_mechanism_is_what_its_name_and_flags_say(name: str, given: dict[str, Any], made: object) -> None:
    assert named(name, **given) == made


def test_files_are_read(tmp_path: Path) -> None:
    write_ptable(PTABLE, tmp_path / "p.toml")
    assert isinstance(named("fresh", ptable=tmp_path / "p.toml").noise, PTable)
    (tmp_path / "budget.csv").write_text("table,weight\n*,1\n")
    assert named("eps-dp", epsilon=2.0, budget=tmp_path / "budget.csv") == EpsDP(Budget(2.0, weights={"*": 1.0}))
    (tmp_path / "budget.csv").write_text("table,epsilon\n*,1\n")
    assert named("eps-dp", budget=tmp_path / "budget.csv") == EpsDP(Budget(per_table={"*": 1.0}))


@pytest.mark.parametrize("name", ["fresh", "eps-dp", "exact"])
def test_the_secret_is_not_read_where_it_is_not_needed(name: str) -> None:
    def refuse() -> bytes:
        raise AssertionError

    mechanism_named(name, secret=refuse, epsilon=1.0)


MISSING = "The secret is missing. Give --secret-file or set DISCREET_SECRET."
NEVER = "The mechanism fresh never gives the same participants the same noise. Leave --spsn out, or choose --mechanism"
ALWAYS = "always gives the same participants the same noise. Leave --no-spsn out, or choose --mechanism fresh."
BUDGET = Path("budget.csv")


@each(
    ("name", "given", "kind", "message"),
    [
        ("cellkey", SOLVED, UnknownNameError, "There is no mechanism 'cellkey'. Did you mean cell-key"),
        ("cell-key", {}, ParameterError, "The noise distribution max-entropy needs --variance and --bound"),
        ("cell-key", {**SOLVED, "secret": None}, SecretError, MISSING),
        ("coordinates", {**SOLVED, "secret": None}, SecretError, MISSING),
        ("coordinates", {**SOLVED, "mode": "plain"}, ParameterError, "--key-mode is for the mechanism cell-key"),
        ("fresh", {**SOLVED, "version": "2"}, ParameterError, "--version-label is for the mechanism cell-key or coord"),
        ("eps-dp", {"epsilon": 1, "perturb_zeros": True}, ParameterError, "--perturb-zeros is for the mechanism"),
        (
            "cell-key",
            {**SOLVED, "version": "2", "ready_keys": True},
            ParameterError,
            "--version-label has no effect on ready-made keys (--key).",
        ),
        ("cell-key", {**SOLVED, "secret": None, "mode": "plain", "from_ids": True}, SecretError, MISSING),
        ("cell-key", {"epsilon": 1, "secret": None, "mode": "plain", "perturb_zeros": True}, SecretError, MISSING),
        ("fresh", {**SOLVED, "spsn": True}, ParameterError, f"{NEVER} cell-key."),
        ("cell-key", {**SOLVED, "spsn": False}, ParameterError, f"The mechanism cell-key {ALWAYS}"),
        ("coordinates", {**SOLVED, "spsn": False}, ParameterError, f"The mechanism coordinates {ALWAYS}"),
        ("exact", {"spsn": False}, ParameterError, f"The mechanism exact {ALWAYS}"),
        ("cell-key", {**SOLVED, "budget": BUDGET}, ParameterError, "is for the mechanism eps-dp, not for cell-key."),
        ("fresh", {**SOLVED, "budget": BUDGET}, ParameterError, "--budget is for the mechanism eps-dp, not for fresh."),
        ("eps-dp", {}, ParameterError, "The budget is missing. Give --epsilon, or an epsilon per table."),
        ("eps-dp", {"epsilon": -1.0}, ParameterError, "privacy budget: epsilon must be a positive number, not -1.0"),
        ("eps-dp", {"epsilon": 1, "variance": 3}, ParameterError, "the whole output. Remove --variance."),
        ("eps-dp", {"epsilon": 1, "delta": 0.1}, ParameterError, "for the whole output. Remove --delta."),
        ("eps-dp", {"epsilon": 1, "law": "laplace"}, ParameterError, "Remove --law laplace."),
        ("eps-dp", {"epsilon": 1, "ptable": Path("p.toml")}, ParameterError, "Remove --ptable."),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(
    name: str, given: dict[str, Any], kind: type[InputError], message: str
) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        named(name, **given)


def test_plain_keys_that_the_data_bring_along_need_no_secret() -> None:
    assert named("cell-key", secret=None, mode="plain", **SOLVED) == CellKey(PTABLE, mode="plain")
