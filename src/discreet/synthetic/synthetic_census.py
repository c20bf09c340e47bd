"""The synthetic census of a country, generated in blocks of persons and written in batches to Parquet or CSV.

Every block is generated independently from the seed and its number. A file is written under a temporary name and moved
to its path when it is complete.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from discreet.errors import InternalError, ParameterError
from discreet.programme.eu2021.census import census, countries
from discreet.synthetic.demography import AgesAndSexes
from discreet.synthetic.employment import Work
from discreet.synthetic.households import HouseholdTopics, form_households
from discreet.synthetic.origin import Nations, Origin
from discreet.synthetic.random_choice import OLDEST, Draws
from discreet.synthetic.residence import LOCALITY_FROM, Geography, names
from discreet.whole_file import check_writable, open_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.arrays import Ints
    from discreet.programme.model import Programme, Topic
    from discreet.synthetic.households import Residents
    from discreet.synthetic.random_choice import Bytes
    from discreet.synthetic.residence import Homes

    Progress = Callable[[int, int], None]

MOST_PERSONS = 10**9
LARGEST_SEED = 2**63 - 1
BLOCK = 1 << 16
"""Persons per block: their numbers fit in 16 bits, which sort fast, and their columns fit in the processor cache."""
MOST_IDENTIFIERS = 10**10
"""Exclusive upper limit of identifiers."""
PERSON_STEP, HOUSEHOLD_STEP = 6_180_339_887, 7_320_508_077
"""Neither is divisible by 2 or 5, so that multiples below 10^10 are all different."""


@dataclass(frozen=True)
class Block:
    """The persons of one block: identifiers, grid cells, and the position of the code of each topic."""

    person: Ints
    household: Ints
    topics: dict[str, NDArray[Any]]
    cell: Ints
    households: int


class SyntheticCensus:
    """The persons of a country, by block in any order.

    Attributes:
        persons: the number of persons.
        codes: the finest codes of every topic of the tables of persons, by topic.
        ages: the position of the code of each age in years.
        geography: the areas.
    """

    def __init__(self, country: str, persons: int, seed: int) -> None:
        _check_whole("persons", persons, 1, MOST_PERSONS, "10^9")
        _check_whole("seed", seed, 0, LARGEST_SEED, "2^63 - 1")
        programme = census(country)
        topics = _topics_of_persons(programme)
        self._name = (country, seed)
        self.persons = persons
        self.geography = Geography(country, topics["GEO"], persons, seed)
        self.codes = {name: topic.levels[-1].codes or () for name, topic in topics.items()}
        leaves = {name: {code: place for place, code in enumerate(codes)} for name, codes in self.codes.items()}
        self.ages = _places_of_ages(topics["AGE"])
        self._sexes = _places(leaves["SEX"], 2)
        self._localities = _places(leaves["LOC"], len(LOCALITY_FROM))
        self._living = HouseholdTopics(leaves)
        self._work = Work(leaves, self.geography)
        nations = Nations(country, topics["POB"], topics["COC"], seed)
        self._origin = Origin(leaves, nations, self.geography.parts)
        self._offset = Draws(country, seed, "identifiers").below(2**32, 2).tolist()

    @property
    def blocks(self) -> int:
        """Return the number of blocks."""
        return -(-self.persons // BLOCK)

    def block(self, number: int) -> Block:
        """Return one block: `BLOCK` persons, or the remaining ones in the last block."""
        persons = min(BLOCK, self.persons - number * BLOCK)
        draws = Draws(*self._name, number)
        residents = form_households(AgesAndSexes.draw(persons, draws), draws)
        rows = number * BLOCK + np.arange(persons)
        homes = self.geography.settle(residents, draws)
        topics = self._topics(residents, homes, draws)
        return Block(
            person=(rows * PERSON_STEP + self._offset[0]) % MOST_IDENTIFIERS,
            household=((number * BLOCK + residents.first) * HOUSEHOLD_STEP + self._offset[1]) % MOST_IDENTIFIERS,
            topics={name: topics[name] for name in self.codes},
            cell=homes.cell,
            households=residents.households,
        )

    def _topics(self, residents: Residents, homes: Homes, draws: Draws) -> dict[str, NDArray[Any]]:
        made: dict[str, NDArray[Any]] = {
            "GEO": homes.area,
            "LOC": self._localities.take(homes.size_class),
            "SEX": self._sexes.take(residents.sex),
            "AGE": self.ages.take(residents.age),
        }
        made |= self._living.draw(residents, draws)
        made |= self._origin.draw(residents, draws)
        made |= self._work.draw(residents, homes.area, draws)
        if set(made) != set(self.codes):
            raise InternalError(
                f"The topics of the synthetic census differ from the programme: {set(made) ^ set(self.codes)}."
            )
        return made


def _check_whole(name: str, value: int, least: int, most: int, most_text: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ParameterError.outside("Synthetic census", name, value, f"a whole number from {least} to {most_text}")


def _topics_of_persons(programme: Programme) -> dict[str, Topic]:
    used = {breakdown.topic for table in programme.of("persons") for breakdown in table.breakdowns}
    return {name: topic for name, topic in programme.topics.items() if name in used}


def _places(leaves: Mapping[str, int], categories: int) -> Bytes:
    """Return the positions of the codes 1, 2, 3, .. of a topic."""
    return np.array([leaves[str(number)] for number in range(1, categories + 1)], dtype=np.uint8)


def _places_of_ages(age: Topic) -> Bytes:
    """Return the position of the code of each age in years, matched by label."""
    codes = age.levels[-1].codes or ()
    labels = {c.code: c.labels["en"] for c in (age.tree.categories if age.tree else ())}
    by_label = {labels[code]: place for place, code in enumerate(codes)}
    return np.array([by_label[str(year)] for year in range(OLDEST)] + [by_label[f"{OLDEST}+"]], dtype=np.uint8)


METADATA = "discreet.synthetic"
"""The metadata key of a Parquet file under which it states that the data are synthetic."""
IDENTIFIERS = ("PERSON_ID", "HOUSEHOLD_ID")


@contextmanager
def open_file(path: Path, schema: pa.Schema, sentence: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield the function that writes the next batch; the file appears after the last batch.

    An interrupted run leaves an existing file unchanged. A symbolic link is preserved.
    """
    check_ending(path)
    with open_whole(path) as file, _WRITERS[_ending(path)](file, schema, sentence) as write:
        yield write


def check_ending(path: Path) -> None:
    """Raise an error for a file name without a known extension."""
    if _ending(path) not in _WRITERS:
        what = f"{path.name} must end in {' or '.join(_WRITERS)}, which determines the format."
        raise ParameterError(f"{what} Choose another name.", parameter="out")


def _ending(path: Path) -> str:
    return path.suffix.lower()


@contextmanager
def _parquet(file: BinaryIO, schema: pa.Schema, sentence: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    import pyarrow.parquet as pq

    topics = [name for name in schema.names if name not in IDENTIFIERS]
    described = schema.with_metadata({METADATA: sentence})
    with pq.ParquetWriter(
        file,
        described,
        compression="zstd",
        compression_level=1,
        use_dictionary=topics,
        # Minimum and maximum codes of thousands of persons do not help readers and take a third of the time.
        write_statistics=list(IDENTIFIERS),
    ) as writer:
        yield writer.write_batch


@contextmanager
def _csv(file: BinaryIO, schema: pa.Schema, _sentence: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    plain = pa.schema([(name, pa.int64() if name in IDENTIFIERS else pa.string()) for name in schema.names])
    options = arrow_csv.WriteOptions(quoting_style="none")
    # Write the header separately: the writer would quote the names but not the values.
    file.write((",".join(schema.names) + "\n").encode())
    options.include_header = False
    with arrow_csv.CSVWriter(file, plain, write_options=options) as writer:
        yield lambda batch: writer.write_batch(batch.cast(plain))


_WRITERS = {".parquet": _parquet, ".csv": _csv}


CELL = "GRID"
"""The column with the cells of the 1 km2 grid."""
TOGETHER = 8
"""Number of blocks per batch, which is one row group of a Parquet file."""


@dataclass(frozen=True)
class SyntheticFile:
    """A file that `synth` has written.

    Attributes:
        written: the path of the file.
        persons: the number of persons.
        households: the number of private households.
        sentence: a statement that the persons are synthetic, with country, number and seed.
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
) -> SyntheticFile:
    """Write a synthetic census: one synthetic person per row, with a code for every topic of the tables of persons.

    Args:
        out: a file ending in .parquet or .csv.
        country: the two-letter code of Eurostat, as in `eu2021:LU`.
        persons: the number of persons, from 1 to 10^9.
        seed: a whole number from 0; the same seed gives the same file.
        replace: whether to overwrite an existing file.
        progress: called after every block with the number of persons so far and in total.
    """
    path = Path(out)
    check_ending(path)
    check_writable(path, replace=replace)
    made = SyntheticCensus(country, persons, seed)
    sentence = (
        f"Synthetic census of {countries()[country]['name']} ({country}): {persons:,} synthetic persons, seed {seed}. "
        "It contains no real persons."
    )
    households = _write(path, made, sentence, progress)
    return SyntheticFile(path, persons, households, sentence)


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
    """Return blocks as one batch; columns of codes are dictionary-encoded."""
    import pyarrow as pa

    schema = _schema(made)
    columns = [np.concatenate([getattr(block, which) for block in blocks]) for which in ("person", "household")]
    arrays = [pa.array(column) for column in columns]
    for name, codes in made.codes.items():
        places = pa.array(np.concatenate([block.topics[name] for block in blocks]), schema.field(name).type.index_type)
        # All positions are valid, so that the check is unnecessary.
        arrays.append(pa.DictionaryArray.from_arrays(places, pa.array(codes, pa.string()), safe=False))
    # Each row group has its own dictionary of cells: that of a whole country would be too long.
    cells = pa.array(np.concatenate([block.cell for block in blocks])).dictionary_encode()
    arrays.append(pa.DictionaryArray.from_arrays(cells.indices, names(cells.dictionary.to_pylist())))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
