"""Fast rendering of cells as lines of text: a text per code of every variable, then the values."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from discreet.arrays import Ints
    from discreet.release.formats.published_table import CodedCells, PublishedTable

MOST_JOINED = 1 << 14
"""Maximum number of precomputed texts for combinations of codes."""


class CellLines:
    """Renders cells as lines with the same structure.

    Args:
        texts: for every variable the text of each of its codes, including the separator after it.
        values: for every measure its name and the text after its value; the last text ends the line.
        start: the beginning of every line.
    """

    def __init__(self, texts: Sequence[Sequence[str]], values: Sequence[tuple[str, str]], start: str = "") -> None:
        self._texts, self._values, self._start = [list(each) for each in texts], list(values), start

    @cached_property
    def _joined(self) -> list[tuple[list[int], pa.Array]]:
        """Return groups of variables, with the precomputed texts of all combinations of their codes."""
        import pyarrow as pa

        groups: list[tuple[list[int], list[str]]] = [([], [self._start])]
        for place, texts in enumerate(self._texts):
            places, known = groups[-1]
            if len(known) * len(texts) <= MOST_JOINED or not places:
                groups[-1] = [*places, place], [first + second for first, second in product(known, texts)]
            else:
                groups.append(([place], texts))
        return [(places, pa.array(texts)) for places, texts in groups]

    def render(self, cells: CodedCells) -> bytes:
        """Return the lines of these cells."""
        import pyarrow as pa
        import pyarrow.compute as pc

        size = len(next(iter(cells.values.values())))
        parts: list[pa.Array | str] = []
        for places, texts in self._joined:
            numbers: Ints = np.zeros(size, dtype=np.int32)
            for place in places:
                numbers = numbers * len(self._texts[place]) + cells.numbers[place].astype(np.int32)
            parts.append(pa.DictionaryArray.from_arrays(pa.array(numbers), texts).cast(pa.string()))
        for measure, after in self._values:
            parts += [pa.array(cells.values[measure]).cast(pa.string()), after]
        lines = pc.binary_join_element_wise(*parts, "")
        # The lines are contiguous in memory, as in the file.
        text: bytes = lines.buffers()[2].to_pybytes()
        return text

    def write(self, table: PublishedTable, path: Path, head: str, foot: str = "") -> None:
        """Write a file with a header, the lines of all cells and a footer."""
        with path.open("wb") as file:
            file.write(head.encode())
            for cells in table.batches():
                file.write(self.render(cells))
            file.write(foot.encode())
