"""Results are frozen and print as JSON objects; those of one call fit on a screen and become tables."""

from __future__ import annotations

import builtins
import dataclasses
import json
import math
import pkgutil
import re
from html import escape
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar

import altair as alt
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import InputError, UnknownNameError
from discreet.release.release import Release
from discreet.results import CHARTS, NotebookView, Result, ResultSet
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
        dc.design(TOWN, attacker="paper", cuts=0),
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
        check_chart(each)
        assert html_rows(each._repr_html_())
    check_chart(release)
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
        with pytest.raises(UnknownNameError, match="Available: results, rows"):
            Uneven(1).to_arrow(part)


def test_a_missing_pandas_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> object:  # noqa: ANN401 - as the function it replaces
        if name == "pandas":
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        InputError, match=r"needs the package pandas, .*pip install 'discreet\[notebook\]'.*to_arrow\(\)"
    ):
        Many(3).to_pandas()
    with pytest.raises(InputError, match=r"frame\(\) needs .*pip install 'discreet\[notebook\]'.*table\(\)"):
        Release(None, {}).frame("1")
    assert Many(3).to_arrow().num_rows == 3


NASTY = "<script>alert('1 & 2')</script>"


@dataclasses.dataclass(frozen=True, repr=False)
class Nasty(ResultSet):
    """Results whose texts would be markup."""

    number: int
    warnings: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = NASTY

    @property
    def results(self) -> tuple[Result, ...]:
        return tuple(
            Result(name=f"{NASTY}{n}", value=n / 7, unit=NASTY, sentence=f"{n}: {NASTY}") for n in range(self.number)
        )


def html_rows(page: str) -> list[list[str]]:
    """Return the cells of the table in a page, still escaped."""
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", page.partition("<tbody>")[2])
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in found]


@pytest.mark.parametrize("number", [0, 1, 15, 16, 1000])
def test_a_notebook_shows_a_table_of_one_screen_without_markup_in_texts(number: int) -> None:
    found = Nasty(number)
    page = found._repr_html_()
    assert "<script" not in page
    assert escape(f"Nasty: {NASTY}") in page
    assert html_rows(page) == [
        [escape(each.name), f"{each.value:.4g}", escape(each.unit), escape(each.sentence)]
        for each in found.results[:15]
    ]
    assert (f"... {number - 15:,} more" in page) == (number > 15)


def test_a_notebook_shows_the_decision_as_tiles() -> None:
    found = dc.assess(TOWN, NOISE, records=500)
    page = found._repr_html_()
    assert escape(found.decision.headline) in page
    assert escape(found.decision.reason) in page
    tiles = re.findall(r"<div style=\"display:inline-block[^>]*>(.*?)</div>", page)
    assert tiles == [
        f"{escape(each.criterion.label)}<br><b>{escape(each.value_text)}</b><br>{escape(each.target_text)}<br>"
        f"{each.verdict.shape} {each.verdict.word}"
        for each in found.decision.checks
    ]
    assert len(html_rows(page)) == min(len(found.results), 15)


def test_a_notebook_shows_the_tables_of_a_programme_and_of_a_release(tmp_path: Path) -> None:
    release = small_release(tmp_path)
    assert html_rows(TOWN._repr_html_()) == [["1", "persons", "SEX, AGE", "39"], ["2", "persons", "SEX, GEO", "15"]]
    memory = Release(None, {**release.description, "files": []}, held={n: release.table(n) for n in release.ids})
    for each in (release, memory):
        assert html_rows(each._repr_html_()) == [
            ["1", "persons", "AREA, AGE, SEX", str(release.table("1").num_rows)],
            ["2", "persons", "AREA, SEX", str(release.table("2").num_rows)],
        ]
        assert "random noise, typically ±1.4" in each._repr_html_()


def displayed_classes() -> list[type]:
    """Return every class of the package that a notebook displays."""
    for module in pkgutil.walk_packages(dc.__path__, "discreet."):
        if not module.name.startswith("discreet.cli"):
            import_module(module.name)
    found, todo = list[type](), [NotebookView]
    while todo:
        below = todo.pop().__subclasses__()
        found += [each for each in below if each.__module__.startswith("discreet.")]
        todo += below
    return found


def test_every_result_has_a_table_and_a_chart() -> None:
    classes = displayed_classes()
    names = [each.__name__ for each in classes]
    assert len(names) == len(set(names))
    assert {"Assessment", "AttackReport", "NoiseDesign", "Utility", "Paper", "Programme", "Release", "PTable"} <= {
        *names
    }
    drawn = {entry.name: entry for entry in entry_points(group=CHARTS)}
    assert {*drawn} <= {*names}
    for each in classes:
        assert any(callable(drawn[base.__name__].load()) for base in each.__mro__ if base.__name__ in drawn), each
        assert hasattr(each, "_repr_html_") or each is dc.PTable


def check_chart(found: NotebookView) -> None:
    """Check that a chart is valid Altair, and is displayed as a drawing that needs no network."""
    chart = found.chart()
    assert isinstance(chart, alt.LayerChart | alt.ConcatChart)
    assert chart.to_dict()["title"]["text"]
    shown: Any = chart._repr_mimebundle_()
    assert set(shown) == {"image/svg+xml", "text/plain"}
    assert shown["image/svg+xml"].startswith("<svg")
    addresses = set(re.findall(r"https?://[^\"' ]+", shown["image/svg+xml"]))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_charts_of_what_needs_no_release_are_drawn() -> None:
    for each in (TOWN, NOISE, dc.assess(TOWN, NOISE), Nasty(2)):
        check_chart(each)
    with pytest.raises(InputError, match="no values to draw"):
        Many(0).chart()


def test_a_changed_chart_is_displayed_in_the_same_way_and_the_same_in_every_drawing() -> None:
    changed = TOWN.chart().properties(width=300)
    first, second = changed._repr_mimebundle_(), TOWN.chart().properties(width=300)._repr_mimebundle_()
    assert first == second != TOWN.chart()._repr_mimebundle_()


def test_a_renderer_of_the_user_has_precedence() -> None:
    with alt.renderers.enable("json"):
        shown: Any = NOISE.chart()._repr_mimebundle_()
    assert any("application/json" in each for each in (shown if isinstance(shown, tuple) else (shown,)))


def test_an_object_without_a_chart_is_refused() -> None:
    class Bare(NotebookView):
        pass

    with pytest.raises(InputError, match="Bare has no chart"):
        Bare().chart()
