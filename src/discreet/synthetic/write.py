"""The synthetic census of a country, written to a file block by block."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.programme.eu2021.census import countries
from discreet.synthetic.blocks import SyntheticCensus
from discreet.synthetic.files import IDENTIFIERS, check_ending, open_file
from discreet.synthetic.grid import names
from discreet.whole_file import check_writable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from discreet.synthetic.blocks import Block

    Progress = Callable[[int, int], None]

CELL = "GRID"
"""The column of the cells of the 1 km2 grid."""
TOGETHER = 8
"""Blocks that are written at a time, as one row group of a Parquet file."""


@dataclass(frozen=True)
class Synthetic:
    """What was written.

    Attributes:
        written: the file.
        persons: how many it holds.
        households: how many private households they live in.
        sentence: that they are made up, of which country, how many and from which seed.
    """

    written: Path
    persons: int
    households: int
    sentence: str


def synth(
    out: str | Path,
    *,
    country: str,
    persons: int,
    seed: int,
    replace: bool = False,
    progress: Progress | None = None,
) -> Synthetic:
    """Write a synthetic census: one made-up person per row, with a code for every topic of the tables of persons.

    Args:
        out: a file ending in .parquet or .csv.
        country: the two-letter code as Eurostat writes it, as in `eu2021:LU`.
        persons: how many, from 1 to 10^9.
        seed: a whole number from 0; the same one gives the same file.
        replace: overwrite a file that exists.
        progress: called after every block with the persons made so far and the number of all persons.
    """
    path = Path(out)
    check_ending(path)
    check_writable(path, replace=replace)
    made = SyntheticCensus(country, persons, seed)
    sentence = (
        f"Synthetic census of {countries()[country]['name']} ({country}): {persons:,} made-up persons, seed {seed}. "
        "Nobody in it is real."
    )
    households = _write(path, made, sentence, progress)
    return Synthetic(path, persons, households, sentence)


def _write(path: Path, made: SyntheticCensus, sentence: str, progress: Progress | None) -> int:
    """Write all blocks and return the number of households."""
    households = done = 0
    waiting: list[Block] = []
    with open_file(path, _schema(made), sentence) as write:
        for number in range(made.blocks):
            waiting.append(made.block(number))
            households += waiting[-1].households
            done += len(waiting[-1].person)
            if len(waiting) == TOGETHER or number == made.blocks - 1:
                write(_batch(waiting, made))
                waiting.clear()
            if progress:
                progress(done, made.persons)
    return households


def _schema(made: SyntheticCensus) -> pa.Schema:
    import pyarrow as pa

    codes = {
        name: pa.dictionary(pa.int16() if len(codes) < 1 << 15 else pa.int32(), pa.string())
        for name, codes in made.codes.items()
    }
    cells = {CELL: pa.dictionary(pa.int32(), pa.string())}
    return pa.schema(dict.fromkeys(IDENTIFIERS, pa.int64()) | codes | cells)


def _batch(blocks: Sequence[Block], made: SyntheticCensus) -> pa.RecordBatch:
    """Return blocks as one batch; a column of codes is a list of places in the list of codes."""
    import pyarrow as pa

    schema = _schema(made)
    columns = [np.concatenate([getattr(block, which) for block in blocks]) for which in ("person", "household")]
    arrays = [pa.array(column) for column in columns]
    for name, codes in made.codes.items():
        places = pa.array(np.concatenate([block.topics[name] for block in blocks]), schema.field(name).type.index_type)
        # Every place is one of a code, which need not be looked at again.
        arrays.append(pa.DictionaryArray.from_arrays(places, pa.array(codes, pa.string()), safe=False))
    # A row group has a list of its own of the cells in it: that of a whole country would be too long for each.
    cells = pa.array(np.concatenate([block.cell for block in blocks])).dictionary_encode()
    arrays.append(pa.DictionaryArray.from_arrays(cells.indices, names(cells.dictionary.to_pylist())))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
