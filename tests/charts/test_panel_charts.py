"""The data behind the picture of a comparison, and that it is written whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.charts import panel_charts as compare_module
from discreet.charts.chart import ACCENT, GREY, save_png
from discreet.charts.panel_charts import ComparePanel, compare_chart, draw_comparison
from discreet.errors import FileWriteError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from discreet.charts.panel_charts import CompareChart

SAID = "an attacker names {} of persons alone"
RISK = ComparePanel("Persons alone", "share of the cells of one person", (0.551, 0.784), said=SAID, is_risk=True)
ERROR = ComparePanel("At worst", "persons that a count is off", (5.0, 1234.0), "{:,.0f}")
NAMES = ["cell-key", "geometric"]


def drawn(chart: CompareChart, path: Path, monkeypatch: pytest.MonkeyPatch) -> Figure:
    """Return the figure that is written."""
    kept: list[Figure] = []

    def keep(figure: Figure, where: Path) -> None:
        kept.append(figure)
        save_png(figure, where)

    monkeypatch.setattr(compare_module, "save_png", keep)
    draw_comparison(chart, path)
    return kept[0]


# --- Data ---


def test_the_title_is_made_from_the_data() -> None:
    chart = compare_chart("equal-risk", NAMES, [RISK, ERROR])
    assert chart.title == (
        "At equal risk an attacker names 55% to 78% of persons alone; the worst count is 5 (cell-key) to "
        "1,234 (geometric) off"
    )
    assert chart.names == ("cell-key", "geometric")
    assert chart.panels == (RISK, ERROR)


def test_the_title_names_who_is_best_and_worst_in_whatever_order() -> None:
    turned = ComparePanel("At worst", "persons", (9.0, 4.0, 7.0), "{:,.0f}")
    risk = ComparePanel("An attacker is right", "", (0.3, 0.1, 0.2), said="she is right in {}", is_risk=True)
    title = compare_chart("equal-variance", ["a", "b", "c"], [risk, turned]).title
    assert title == "At equal variance she is right in 10% to 30%; the worst count is 4 (b) to 9 (a) off"


def test_what_is_equal_is_said_once() -> None:
    same = [ComparePanel("An attacker is right", "", (0.641, 0.6411)), ComparePanel("At worst", "", (5.0, 5.0), "{:g}")]
    title = compare_chart("equal-risk", NAMES, same).title
    assert title == "At equal risk 64%; the worst count is 5 off under each"


# --- Picture ---


def test_the_picture_is_a_whole_png(tmp_path: Path) -> None:
    path = tmp_path / "c.png"
    path.write_bytes(b"an older picture")
    draw_comparison(compare_chart("equal-risk", NAMES, [RISK, ERROR]), path)
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert content[-8:-4] == b"IEND"
    assert list(tmp_path.iterdir()) == [path]


def test_a_picture_that_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.png"
    path.write_bytes(b"an older picture")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("drawing failed")

    monkeypatch.setattr(compare_module, "_draw", fail)
    with pytest.raises(RuntimeError, match="drawing failed"):
        draw_comparison(compare_chart("equal-risk", NAMES, [RISK, ERROR]), path)
    assert path.read_bytes() == b"an older picture"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    with pytest.raises(FileWriteError, match="folder does not exist"):
        draw_comparison(compare_chart("equal-risk", NAMES, [RISK, ERROR]), tmp_path / "none" / "c.png")


def test_every_value_has_a_bar_with_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = drawn(compare_chart("equal-risk", NAMES, [RISK, ERROR]), tmp_path / "c.png", monkeypatch)
    assert len(figure.axes) == 2
    for axes, panel, colour, numbers in zip(
        figure.axes, (RISK, ERROR), (ACCENT, GREY), (["55%", "78%"], ["5", "1,234"]), strict=True
    ):
        bars = [patch for patch in axes.patches if patch.get_width()]  # type: ignore[attr-defined]
        assert [bar.get_width() for bar in bars] == list(panel.values)  # type: ignore[attr-defined]
        assert {bar.get_facecolor() for bar in bars} == {tuple(_rgba(colour))}
        assert [text.get_text() for text in axes.texts] == numbers
        assert axes.get_title(loc="left") == panel.title
        assert axes.get_xlabel() == panel.label
        assert axes.get_xlim()[1] > max(panel.values)
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == NAMES
    # The first mechanism stands on top.
    assert first.get_ylim()[0] > first.get_ylim()[1]


def _rgba(colour: str) -> tuple[float, ...]:
    return (*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)), 1.0)


@pytest.mark.parametrize("panels", [2, 3, 4])
def test_a_long_title_is_not_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, panels: int) -> None:
    names = ["coordinates:truncated-gaussian", "fresh:discrete-gaussian"]
    chart = compare_chart("equal-variance", names, [RISK] * (panels - 1) + [ERROR])
    figure = drawn(chart, tmp_path / "c.png", monkeypatch)
    figure.draw_without_rendering()
    (title,) = (text for text in figure.texts if text.get_text().startswith("At equal"))
    assert " ".join(title.get_text().split()) == chart.title
    extent = title.get_window_extent()
    assert extent.x0 >= 0
    assert extent.x1 <= figure.bbox.x1
    # And nothing is drawn over it.
    assert all(axes.get_tightbbox().y1 <= extent.y0 + 1 for axes in figure.axes)  # type: ignore[union-attr]


def test_one_mechanism_and_nothing_learnt_can_be_drawn(tmp_path: Path) -> None:
    none = [ComparePanel("An attacker names", "share", (0.0,)), ComparePanel("At worst", "persons", (0.0,), "{:g}")]
    chart = compare_chart("equal-variance", ["fresh"], none)
    assert chart.title == "At equal variance 0%; the worst count is 0 off under each"
    draw_comparison(chart, tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 1000
