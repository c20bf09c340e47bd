"""Files of persons: Parquet or CSV, written batch by batch beside their place and moved there when they are whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from discreet.errors import ParameterError
from discreet.whole_file import open_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

METADATA = "discreet.synthetic"
"""The key of the sentence in a Parquet file that says that it is synthetic."""
IDENTIFIERS = ("PERSON_ID", "HOUSEHOLD_ID")


@contextmanager
def open_file(path: Path, schema: pa.Schema, sentence: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Give the function that writes the next batch; the file is there when the last one is written.

    A run that is ended before leaves what was there, and a symbolic link stays one.
    """
    check_ending(path)
    with open_whole(path) as file, _WRITERS[_ending(path)](file, schema, sentence) as write:
        yield write


def check_ending(path: Path) -> None:
    """Refuse a file whose ending stands for no format."""
    if _ending(path) not in _WRITERS:
        what = f"{path.name} must end in {' or '.join(_WRITERS)}, which says how it is written."
        raise ParameterError(f"{what} Choose another name.", parameter="out")


def _ending(path: Path) -> str:
    return path.suffix.lower()


@contextmanager
def _parquet(file: BinaryIO, schema: pa.Schema, sentence: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    import pyarrow.parquet as pq

    topics = [name for name in schema.names if name not in IDENTIFIERS]
    told = schema.with_metadata({METADATA: sentence})
    with pq.ParquetWriter(
        file,
        told,
        compression="zstd",
        compression_level=1,
        use_dictionary=topics,
        # The least and largest code of thousands of persons would help no reader, and takes a third of the time.
        write_statistics=list(IDENTIFIERS),
    ) as writer:
        yield writer.write_batch


@contextmanager
def _csv(file: BinaryIO, schema: pa.Schema, _sentence: str) -> Iterator[Callable[[pa.RecordBatch], None]]:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    plain = pa.schema([(name, pa.int64() if name in IDENTIFIERS else pa.string()) for name in schema.names])
    options = arrow_csv.WriteOptions(quoting_style="none")
    # The header by hand: the writer would put its names in quotes, the values without.
    file.write((",".join(schema.names) + "\n").encode())
    options.include_header = False
    with arrow_csv.CSVWriter(file, plain, write_options=options) as writer:
        yield lambda batch: writer.write_batch(batch.cast(plain))


_WRITERS = {".parquet": _parquet, ".csv": _csv}
