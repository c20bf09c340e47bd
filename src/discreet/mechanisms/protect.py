"""Protect: from records to a published release, the function behind `discreet protect`."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.engines.duckdb import DuckDB
from discreet.errors import ParameterError
from discreet.mechanisms.countable import check_countable
from discreet.mechanisms.making import Making
from discreet.mechanisms.reading import Identity, load
from discreet.microdata.sources import open_source
from discreet.programme.choose import choose_tables
from discreet.programme.json_form import programme_to_json
from discreet.programme.load import load_programme
from discreet.programme.model import Programme
from discreet.release.record import Record
from discreet.release.release import Release, Summary
from discreet.release.shelf import FolderShelf, MemoryShelf, Shelf
from discreet.release.tables import check_format

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.engines.base import Engine
    from discreet.mechanisms.base import Mechanism


def protect(
    data: object,
    programme: Programme | str | Path,
    mechanism: Mechanism,
    *,
    out: Path | str | None = None,
    id: str | None = None,  # noqa: A002 - the user's word for it
    key: str | None = None,
    tables: Sequence[str] | None = None,
    unit: str | None = None,
    missing: str = "error",
    keep_exact: bool = False,
    replace: bool = False,
    form: str = "parquet",
    progress: Callable[[str, int, int | None], None] | None = None,
    engine: Engine | None = None,
) -> Release:
    """Count every table of a programme, add the mechanism's noise, and publish.

    Args:
        data: a Parquet or CSV file, several, a pattern, an Arrow table or a data frame; one row per person.
        programme: a Programme, or its name as in `eu2021:LU`.
        mechanism: which noise goes where, such as CellKey.
        out: the folder to make; without it the release is kept in memory.
        id: the column with a stable id, to make record keys from.
        key: a column with ready-made record keys instead.
        tables: ids or patterns of the tables to make, all of the unit by default.
        unit: what a row of the data is; the unit of most tables by default.
        missing: what to do with records that lack a value: `error`, `category` or `drop`.
        keep_exact: whether to keep true counts for the curator.
        replace: whether an existing release may be replaced.
        form: `parquet` or `csv`.
        progress: called with stage, done and total.
        engine: where to count; DuckDB in this process, for this run alone, by default.
    """
    check_format(form)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    chosen = choose_tables(spec, tables, unit)
    check_countable(chosen)
    identity = Identity(id, key)
    _check_keys(mechanism, identity)
    source = open_source(data)
    tell = progress or _tell_nobody
    begin = time.perf_counter()
    shelf: Shelf = MemoryShelf() if out is None else FolderShelf(Path(out), form, replace=replace, exact=keep_exact)
    with shelf, nullcontext(engine) if engine else DuckDB() as place, ThreadPoolExecutor(max_workers=1) as beside:
        hashing = beside.submit(source.fingerprint)
        loaded = load(source, chosen, mechanism, identity, place, missing=missing, tell=tell)
        fingerprint = hashing.result()
        reading = time.perf_counter() - begin
        made = Making(loaded, place, mechanism, keep_exact, f"{mechanism.version} {fingerprint}", tell).run(shelf)
        source.check_unchanged()
        record = Record(
            programme=spec.name if isinstance(programme, Programme) else str(programme),
            data_fingerprint=fingerprint,
            definition=programme_to_json(loaded.programme),
            missing=missing,
            records=loaded.records,
            made_by=f"discreet {version('discreet')}",
            **mechanism.described(),
        )
        summary = Summary(
            records=loaded.records,
            dropped=loaded.dropped,
            topics=len(loaded.programme.topics),
            statistics=made.statistics,
            cells=made.cells,
            seconds={"reading": reading, **made.seconds, "all": time.perf_counter() - begin},
        )
        return shelf.finish(record, summary)


def _tell_nobody(stage: str, done: int, total: int | None) -> None:
    pass


def _check_keys(mechanism: Mechanism, identity: Identity) -> None:
    if mechanism.needs_keys and not identity.columns:
        raise ParameterError(
            f"The mechanism {mechanism.name} needs a key for every record. Name the column with a stable id (--id), or "
            "one with ready-made keys (--key).",
            parameter="id",
        )
    if identity.id is not None and mechanism.needs_keys and mechanism.secret is None:
        raise ParameterError(
            "Keys made from an id need the office's secret. Give it (--secret-file or DISCREET_SECRET), or name a "
            "column with ready-made keys (--key).",
            parameter="id",
        )
