"""Help texts: options in panels, summaries of commands and examples in full."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterable

ARGUMENTS, INPUT, NOISE, OUTPUT, RUN = "Arguments", "Input", "Noise", "Output", "Run"
PANELS = {
    INPUT: (
        "programme", "data", "from", "id", "key", "count", "tabulated", "encoding", "weight", "weighted-only",
        "regions", "tables", "unit", "missing", "population", "areas", "known", "exact", "truth", "other", "overlaps",
        "rule", "keep-single", "most-categories", "country", "persons", "column", "secret-file", "settings", "again",
    ),
    NOISE: (
        "variance", "bound", "threshold", "epsilon", "delta", "scale", "sigma", "law", "ptable", "spsn",
        "perturb-zeros", "stay", "floor", "equality", "monotone", "objective", "key-mode", "version-label",
        "key-space", "mechanism", "mechanisms", "budget", "non-negative", "allow-disclosure", "max-bound", "attacker",
        "hide-bound", "target", "at",
    ),
    OUTPUT: (
        "out", "out-settings", "to", "format", "labels", "zeros", "intervals", "language", "keep-exact", "plot",
        "figures", "public", "only", "replace", "details", "json", "quiet", "log",
    ),
    RUN: (
        "measures", "attacks", "public-only", "cuts", "closed-form", "records", "seed", "memory", "threads", "dry-run",
        "resume", "lock-timeout", "version", "help",
    ),
}  # fmt: skip
"""Options by panel. An option that means something else in one command has a panel of its own there."""
TERM = 28
"""Widest option that has its text on the same line."""
WIDEST = 100


def width() -> int:
    """Return the number of columns of a help text."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def panel_of(parameter: Any) -> str:  # noqa: ANN401 - a parameter of click, which typer keeps to itself
    """Return the panel of an option or argument."""
    if parameter.param_type_name == "argument":
        return ARGUMENTS
    name = parameter.opts[0].removeprefix("--")
    own: str | None = getattr(parameter, "rich_help_panel", None)
    return own or next(panel for panel, names in PANELS.items() if name in names)


def wrapped(text: str, indent: int = 0) -> list[str]:
    """Return a text in lines that break between words only."""
    space = " " * indent
    return textwrap.wrap(
        text, width(), initial_indent=space, subsequent_indent=space, break_on_hyphens=False, break_long_words=False
    )


class PanelHelp:
    """Help in panels, for commands and groups of commands."""

    def format_help_text(self, _ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - of click
        """Write the summary, and examples as lines to copy."""
        for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):  # type: ignore[attr-defined] # of click
            text = " ".join(paragraph.split())
            example = text.removeprefix("Example: ")
            lines = wrapped(text, 2) if example == text else [f"  Example: {example}"]
            formatter.write("\n" + "\n".join(lines) + "\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - of click
        """Write options by panel, then the commands of a group."""
        panels: dict[str, list[tuple[str, str]]] = {name: [] for name in (ARGUMENTS, *PANELS)}
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined] # of click
            if record := parameter.get_help_record(ctx):
                panels[panel_of(parameter)].append(record)
        panels["Commands"] = list(self.summaries())
        for name, rows in panels.items():
            if rows:
                formatter.write(f"\n{name}:\n" + "".join(_row(*row) for row in rows))

    def summaries(self) -> Iterable[tuple[str, str]]:
        """Return the commands of a group with their summaries."""
        return ()


class PanelCommand(PanelHelp, TyperCommand):
    """A command with its options in panels."""


class PanelGroup(PanelHelp, TyperGroup):
    """A group of commands with their summaries in full."""

    def summaries(self) -> Iterable[tuple[str, str]]:
        """Return the commands with the first paragraph of their help."""
        for name, command in self.commands.items():
            yield name, " ".join((command.help or "").split("\n\n")[0].split())


def _row(term: str, text: str) -> str:
    """Return an option and its text, below each other where the option is long."""
    lines = wrapped(text, TERM + 4)
    if lines and len(term) <= TERM:
        lines[0] = f"  {term:<{TERM}}  {lines[0].lstrip()}"
        return "\n".join(lines) + "\n"
    return "\n".join([f"  {term}", *lines]) + "\n"
