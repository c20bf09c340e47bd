"""Results are frozen and print as JSON objects; those of one call fit on a screen and become tables."""

from __future__ import annotations

import builtins
import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import InputError, UnknownNameError
from discreet.results import Result, ResultSet
from tests.accuracy.small_release import PEOPLE, small_release
from tests.programme.small import programme

if TYPE_CHECKING:
    from pathlib import Path


def test_a_result_is_frozen_and_becomes_json() -> None:
    result = Result(name="n", value=1.5, unit="1", sentence="One and a half.", assumptions=("a",))
    assert result.to_json() == {
        "name": "n",
        "value": 1.5,
        "unit": "1",
        "sentence": "One and a half.",
        "worst": None,
        "assumptions": ("a",),
        "equation": "",
    }
    unlimited = dataclasses.replace(result, value=float("inf"))
    assert unlimited.to_json()["value"] is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 2  # type: ignore[misc]


TOWN = programme([["SEX", "AGE"], ["SEX", "GEO"]], {"SEX": [2], "AGE": [3, 9], "GEO": [4]})
NOISE = dc.PTable.max_entropy(variance=3, bound=5)


@dataclasses.dataclass(frozen=True, repr=False)
class Many(ResultSet):
    """As many results as asked for, with names, units and a title as long as any."""

    number: int
    warnings: ClassVar[tuple[str, ...]] = ("One.", "Two.")
    title: ClassVar[str] = "All the words of a long sentence. " * 50

    @property
    def results(self) -> tuple[Result, ...]:
        return tuple(
            Result(name=f"{n}_" * 30, value=-1.23456e-300 * n, unit="persons squared and cubed", sentence="Some.")
            for n in range(self.number)
        )


def check_one_screen(found: object) -> None:
    lines = repr(found).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def check_tables(found: ResultSet) -> None:
    """Check that all is there in every form, and the same."""
    content = found.to_dict()
    told = json.loads(json.dumps(content))
    assert told["results"] == [json.loads(json.dumps(each.to_json())) for each in found.results]
    assert told["warnings"] == list(found.warnings)
    table = found.to_arrow()
    assert table.select([*told["results"][0]]).to_pylist() == told["results"]
    assert found.to_pandas()["name"].tolist() == [each.name for each in found.results]


@pytest.mark.parametrize("number", [0, 1, 15, 16, 10_000])
def test_any_number_of_results_fits_on_a_screen(number: int) -> None:
    found = Many(number)
    check_one_screen(found)
    assert repr(found).startswith("Many: All the words")
    assert ("more; " in repr(found)) == (number > 15)
    assert ".to_pandas() for all, print() for sentences, .warnings (2)" in repr(found)
    assert found.to_arrow().num_rows == number
    assert found.to_arrow().schema.field("value").type == pa.float64()


def test_an_assessment_is_shown_in_short_and_given_in_full() -> None:
    found = dc.assess(TOWN, NOISE, exact="SEX1", records=500)
    check_one_screen(found)
    assert repr(found).startswith(f"Assessment: {TOWN.name}; cell-key, max-entropy, variance 3, bound 5.")
    assert "averaging_success" in repr(found)
    check_tables(found)
    rows = found.to_arrow("averaging")
    assert rows.to_pylist() == found.averaging()
    assert found.to_pandas("averaging")["statistic"].tolist() == [row["statistic"] for row in found.averaging()]
    with pytest.raises(UnknownNameError, match=r"There is no table 'averagin'\. Did you mean averaging\?"):
        found.to_arrow("averagin")


def test_a_design_is_shown_in_short_and_given_in_full() -> None:
    found = dc.design(TOWN, attacker="paper", cuts=0)
    check_one_screen(found)
    assert found.answer in repr(found)
    check_tables(found)
    assert found.to_arrow("region").num_rows == found.question.max_bound


@pytest.mark.slow
def test_everything_about_a_release_is_shown_in_short_and_given_in_full(tmp_path: Path) -> None:
    release = small_release(tmp_path)
    persons = pa.table(dict(zip(("AREA", "SEX", "AGE"), zip(*PEOPLE, strict=True), strict=True)))
    found: list[ResultSet] = [
        dc.attack(release, budget=100),
        dc.utility(release),
        dc.verify(tmp_path / "release"),
        dc.compare(persons, release.programme, ["coordinates", "geometric"], attacks=()),
        dc.report(release, tmp_path / "page.html", budget=100),
        dc.small_areas(dc.load_areas("lau:2016:MT"), NOISE),
    ]
    for each in found:
        check_one_screen(each)
        check_tables(each)
    mechanism = dc.CellKey(NOISE, secret=b"a secret of the office")
    areas, composed = dc.load_areas("lau:2016:FR"), dc.compose(dc.Uniform(bound=3), 5)
    for other in (release, release.programme, mechanism, NOISE, areas, composed):
        assert len(repr(other)) < 1000


def test_records_that_differ_in_their_keys_become_one_table() -> None:
    class Uneven(Many):
        def to_json(self) -> dict[str, Any]:
            return {"rows": [{"a": 1}, {"a": 2, "b": [1.5, math.inf]}], "text": ["no", "records"], "none": []}

    assert Uneven(1).to_arrow("rows").to_pylist() == [{"a": 1, "b": None}, {"a": 2, "b": [1.5, math.inf]}]
    for part in ("text", "none"):
        with pytest.raises(UnknownNameError, match="There are: results, rows"):
            Uneven(1).to_arrow(part)


def test_a_missing_pandas_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> object:  # noqa: ANN401 - as the function it replaces
        if name == "pandas":
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"needs the package pandas, .*pip install pandas.*to_arrow\(\)"):
        Many(3).to_pandas()
    assert Many(3).to_arrow().num_rows == 3
