"""What every chart is: a message, words for who cannot see it, a specification for a page, a figure for papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Spec: TypeAlias = "dict[str, Any]"
"""A chart in the grammar of Vega-Lite, its data included."""


class Chart(Protocol):
    """One picture with one message, its data held in plain fields."""

    @property
    def name(self) -> str:
        """Return a short name, unique within a page; files are called by it."""

    @property
    def title(self) -> str:
        """Return the message."""

    @property
    def alternative(self) -> str:
        """Return what is drawn, in words."""

    def spec(self) -> Spec:
        """Return the specification from which a browser draws it; as wide as its place."""

    def figure(self) -> Figure:
        """Return the same, drawn for a paper, with the message as its title."""
