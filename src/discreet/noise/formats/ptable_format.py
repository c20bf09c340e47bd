"""The interface of p-table file formats, and the assembly of key intervals into p-table rows.

`assemble` builds the rows from the lines of a file; its errors state the line and the row of an inconsistency.

All formats, also those of users, register by name with a decorator. An entry point of the group `discreet.formats`
names a module; importing it runs its `@register` decorators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, TypeVar

from discreet.errors import PTableFileError
from discreet.noise.ptable import PTable, PTableRow
from discreet.noise.rounded import LARGEST_KEY_SPACE, RoundedRow
from discreet.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from discreet.noise.ptable_settings import PTableSettings

LARGEST_NOISE = 10_000
DECIMALS = 10**8
"""The grid of the R package ptable and of all tools that use its files: eight decimals."""


@dataclass(frozen=True)
class KeyInterval:
    """One interval of keys [lower, upper) of row i that adds v; p is its probability in the file."""

    where: str
    i: int
    v: int
    p: float
    lower: int
    upper: int


def assemble(
    pieces: Sequence[KeyInterval],
    path: Path,
    *,
    key_space: int | None = None,
    repeat: int = 1,
    settings: PTableSettings | None = None,
) -> PTable:
    """Return the p-table of the pieces; raise an error for the first inconsistency."""
    if not pieces:
        raise PTableFileError.at(path, "", "has a header but no rows.", "Write it again with `discreet ptable --out`.")
    space = max(piece.upper for piece in pieces) if key_space is None else key_space
    _check_size(path, pieces, space)
    rows: list[PTableRow] = []
    for i, group in groupby(pieces, key=lambda piece: piece.i):
        row = list(group)
        if i != len(rows):
            raise _unexpected_row(path, row[0], expected=len(rows))
        _check_intervals(path, row, space)
        _check_probabilities(path, row, space)
        grid = RoundedRow(tuple(piece.v for piece in row), tuple(piece.upper - piece.lower for piece in row))
        rows.append(PTableRow(i, grid.values, tuple(piece.p for piece in row), grid))
    return PTable(tuple(rows), space, repeat, settings)


def _check_size(path: Path, pieces: Sequence[KeyInterval], space: int) -> None:
    """Raise an error for noise and key spaces above the maximum, before arrays are allocated."""
    if not 2 <= space <= LARGEST_KEY_SPACE:
        what = f"the key space is {space}."
        raise PTableFileError.at(path, "", what, f"It must be from 2 to {LARGEST_KEY_SPACE}.")
    for piece in pieces:
        if abs(piece.v) > LARGEST_NOISE:
            what = f"row i = {piece.i}: a noise of {piece.v} is too large."
            raise PTableFileError.at(path, piece.where, what, f"The maximum is {LARGEST_NOISE}.")
        if not piece.p >= 0:
            what = f"row i = {piece.i}, v = {piece.v}: p is {piece.p}."
            raise PTableFileError.at(path, piece.where, what, "Probabilities must not be negative.")


def _unexpected_row(path: Path, piece: KeyInterval, expected: int) -> PTableFileError:
    if piece.i < expected:
        what = f"row i = {piece.i} comes after row {expected - 1}."
        return PTableFileError.at(path, piece.where, what, "Sort the file by i; the lines of a row must be adjacent.")
    what = f"row i = {expected} is missing; the next row is {piece.i}."
    return PTableFileError.at(path, piece.where, what, "Add it; every count from 0 to the last row needs a row.")


def _check_intervals(path: Path, row: list[KeyInterval], space: int) -> None:
    end = 0
    for piece in row:
        if piece.upper < piece.lower:
            what = (
                f"row i = {piece.i}, v = {piece.v}: the interval ends at {piece.upper}, below its start {piece.lower}."
            )
            raise PTableFileError.at(path, piece.where, what, "Intervals must be [lower, upper) in ascending order.")
        if piece.lower != end:
            kind = "overlaps the interval before it" if piece.lower < end else "leaves keys without noise before it"
            what = f"row i = {piece.i}, v = {piece.v}: the interval from {piece.lower} {kind}, which ends at {end}."
            raise PTableFileError.at(path, piece.where, what, f"The interval must start at {end}.")
        end = piece.upper
    if end != space:
        what = f"row i = {row[0].i} ends at key {end}, but the key space ends at {space}."
        raise PTableFileError.at(path, row[-1].where, what, "Every row must cover the whole key space.")


def _check_probabilities(path: Path, row: list[KeyInterval], space: int) -> None:
    total = sum(piece.p for piece in row)
    # Each printed probability has an error of at most half a unit of its eighth decimal.
    if not abs(total - 1) <= len(row) * 1e-8:
        what = f"row i = {row[0].i}: the probabilities sum to {total:.8f}, not to 1."
        raise PTableFileError.at(path, row[0].where, what, "Correct column p of that row.")
    for piece in row:
        width = (piece.upper - piece.lower) / space
        # Rounding changes a share by one key, and the correction of the mean by a few more.
        if not abs(piece.p - width) <= 4 / space + 1e-7:
            what = f"row i = {piece.i}, v = {piece.v}: p is {piece.p:.8f}, but its keys are a share of {width:.8f}."
            raise PTableFileError.at(path, piece.where, what, "Make p and the interval agree.")


def check_target(path: Path, where: str, i: int, j: int, v: int) -> None:
    """Raise an error for a line whose published count is not the true count plus the noise."""
    if j != i + v:
        what = f"j = {j} is not i + v = {i} + {v}."
        raise PTableFileError.at(path, where, what, "Correct i, j or v.")


def check_portable(ptable: PTable, path: Path, format_name: str) -> None:
    """Raise an error for a table with perturbed zeros or rows that apply in turn, which other tools do not support."""
    if ptable.perturbs_zeros:
        raise PTableFileError.at(
            path,
            "",
            f"the format {format_name} does not support perturbed zeros: the tools that read it do not change empty "
            "cells, or give all of them the same noise.",
            "Do not perturb zeros, or write csv or toml.",
        )
    refuse_turns(ptable, path, format_name)


def refuse_turns(ptable: PTable, path: Path, format_name: str) -> None:
    """Raise an error for a table with several rows that apply to large counts in turn."""
    if ptable.repeat != 1:
        raise PTableFileError.at(
            path,
            "",
            f"the format {format_name} applies the last row to all larger counts, but this table uses {ptable.repeat} "
            "rows in turn.",
            "Write toml or ons.",
        )


FORMATS: Registry[PTableFormat] = Registry("discreet.formats", "p-table format")


class PTableFormat(ABC):
    """A layout of p-table files.

    Attributes:
        name: the name on the command line.
        layout: what a file looks like, in a few words, for error messages.
        suffixes: file endings that belong to this format alone.
        grids: key spaces the format can hold; empty means any.
    """

    name: ClassVar[str]
    layout: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = ()
    grids: ClassVar[tuple[int, ...]] = ()

    @abstractmethod
    def recognises(self, text: str) -> bool:
        """Return whether a file's text is in this format, well formed or not."""

    @abstractmethod
    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table in the text; the path is for error messages."""

    @abstractmethod
    def write(self, ptable: PTable, path: Path) -> str:
        """Return the text of a p-table on one of the format's grids."""


_Format = TypeVar("_Format", bound=type[PTableFormat])


def register(format_class: _Format) -> _Format:
    """Register a format under its name (a class decorator)."""
    FORMATS.register(format_class.name)(format_class())
    return format_class
