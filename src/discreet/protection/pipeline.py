"""Protect: from records to a published release, the function behind `discreet protect`."""

from __future__ import annotations

import dataclasses
import hashlib
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.engines.duckdb import DuckDB
from discreet.errors import ParameterError, ReleaseWarning
from discreet.noise.by_count import noise_by_count
from discreet.noise.distribution import Noise
from discreet.noise.max_entropy import check_room
from discreet.noise.published_counts import check_disclosure
from discreet.programme.model import Programme
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_json import programme_to_json
from discreet.programme.regions import with_regions
from discreet.programme.selection import choose_tables
from discreet.progress import silent
from discreet.protection.data_input import open_input
from discreet.protection.earlier_releases import EarlierReleases, releases_beside, warnings_about
from discreet.protection.programme_checks import check_countable
from discreet.protection.table_publishing import TablePublisher
from discreet.records.record_columns import RecordColumns
from discreet.records.secret import keyed_digest, secret_check
from discreet.release.record import Record
from discreet.release.release import Release, RunSummary
from discreet.release.release_writer import FolderWriter, MemoryWriter, ReleaseWriter
from discreet.release.run_journal import LOCK_TIMEOUT
from discreet.release.table_files import check_format
from discreet.tabulation.cell_batch import check_size
from discreet.tabulation.plan import plan
from discreet.tabulation.static_output import output_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.noise.by_count import NoiseByCount
    from discreet.progress import Progress
    from discreet.protection.record_loading import LoadedRecords


ROUNDS = 200_000
"""Of the digest of a run without a secret: about a tenth of a second."""
NOT_CHECKED = (
    "Whether these are the data of the release that is made again was not checked: without a secret its record has no "
    "fingerprint of them. Compare the tables (discreet verify)."
)
SLACK = 1e-6
"""Of a variance that was asked for, what does not matter."""
MEAN_WEIGHTS = (
    "Each pair of value and weighted tells the mean weight of a cell, to half a person in all. Whoever knows weights "
    "may learn from it who is there: publish weighted counts alone (--weighted-only) if weights differ from person to "
    "person."
)


def protect(
    data: object,
    programme: Programme | str | Path,
    mechanism: Mechanism,
    *,
    out: Path | str | None = None,
    id: str | None = None,  # noqa: A002 - the user's word for it
    key: str | None = None,
    count: str | None = None,
    weight: str | None = None,
    weighted_only: bool = False,
    tabulated: bool = False,
    encoding: str | None = None,
    regions: Path | str | None = None,
    tables: Sequence[str] | None = None,
    unit: str | None = None,
    missing: str = "error",
    non_negative: bool = False,
    keep_exact: bool = False,
    replace: bool = False,
    resume: bool = False,
    allow_disclosure: bool = False,
    lock_timeout: float = LOCK_TIMEOUT,
    form: str = "parquet",
    fingerprint: str | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Release:
    """Count every table of a programme, add the mechanism's noise, and publish.

    The warnings of the command line are in `summary.warnings` of the release. Where a folder is made, each of them is a
    Python warning of the category ReleaseWarning, too.

    Args:
        data: a Parquet or CSV file, several, a pattern, a table of a database such as `census.duckdb#persons`, an
            Arrow table or a data frame; one row per person.
        programme: a Programme, or its name as in `eu2021:LU`.
        mechanism: which noise goes where, such as CellKey.
        out: the folder to make; without it the release is kept in memory.
        id: the column with a stable id, to make record keys from.
        key: a column with ready-made record keys instead.
        count: in data that are tabulated already, the column that says how many persons a row stands for.
        weight: a column with the weight of a row; tables then have a column `weighted` too.
        weighted_only: whether tables have the column `weighted` alone, without `value`.
        tabulated: whether the data are a folder with one file per table, called by its id, counted already.
        encoding: of CSV files, such as `latin-1`; UTF-8 by default.
        regions: a CSV file that maps areas to regions of your own; tables by area are made by region too.
        tables: ids or patterns of the tables to make, all of the unit by default.
        unit: what a row of the data is; the unit of most tables by default.
        missing: what to do with records that lack a value: `error`, `category` or `drop`.
        non_negative: whether what would be negative is published as 0, which makes small counts too high on average.
        keep_exact: whether to keep true counts for the curator.
        replace: whether an existing release may be replaced.
        resume: whether to go on from the tables that a killed run of the same kind left finished.
        allow_disclosure: whether to publish with noise that reveals true counts, which is refused otherwise.
        lock_timeout: seconds to wait for another run at work in the same folder.
        form: `parquet` or `csv`.
        fingerprint: that the data of a release that is made again must have, empty where it is not known; any new
            release leaves it out.
        progress: called with stage, done and total.
        engine: where to count; DuckDB in this process, for this run alone, by default.
    """
    check_format(form)
    spec = programme if isinstance(programme, Programme) else load_programme(programme)
    job = ProtectionJob(
        data=data,
        name=spec.name if isinstance(programme, Programme) else str(programme),
        programme=choose_tables(with_regions(spec, Path(regions)) if regions else spec, tables, unit),
        mechanism=mechanism,
        columns=RecordColumns(id, key, count, weight),
        out=Path(out) if out else None,
        form=form,
        missing=missing,
        tabulated=tabulated,
        encoding=encoding,
        weighted_only=weighted_only,
        non_negative=non_negative,
        keep_exact=keep_exact,
        replace=replace,
        resume=resume,
        lock_timeout=lock_timeout,
        fingerprint=fingerprint,
        progress=progress or silent,
    )
    job.check(allow_disclosure=allow_disclosure)
    release = job.run(engine)
    if out is not None:
        for sentence in release.summary.warnings if release.summary else ():
            warnings.warn(sentence, ReleaseWarning, stacklevel=2)
    return release


@dataclass(frozen=True, kw_only=True, eq=False)
class ProtectionJob:
    """What one run of `protect` was asked for: check, read, count, add noise, write.

    Attributes:
        data: where the records come from.
        name: the programme as it was asked for, for the record.
        programme: its chosen tables.
        mechanism: which noise goes where.
        columns: the columns of ids, keys, counts and weights.
        out: the folder to make; None keeps the release in memory.
        progress: called with stage, done and total.

    All others are the arguments of `protect`.
    """

    data: object
    name: str
    programme: Programme
    mechanism: Mechanism
    columns: RecordColumns
    out: Path | None
    form: str
    missing: str
    tabulated: bool
    encoding: str | None
    weighted_only: bool
    non_negative: bool
    keep_exact: bool
    replace: bool
    resume: bool
    lock_timeout: float
    fingerprint: str | None
    progress: Progress

    def check(self, *, allow_disclosure: bool) -> None:
        """Refuse what can be refused before any record is read."""
        check_countable(self.programme)
        if self.mechanism.perturbs_zeros:
            for population in self.programme.populations.values():
                check_size(plan(self.programme, population))
        _check_keys(self.mechanism, self.columns)
        _check_weight(self.mechanism, self.columns, weighted_only=self.weighted_only)
        _check_resume(self.mechanism, resume=self.resume)
        if self.fingerprint is None:
            _check_room(self.mechanism)
        if not allow_disclosure:
            check_protects(self.mechanism)

    def run(self, engine: Engine | None) -> Release:
        """Return the release, complete, in its place."""
        asked = (self.data, self.programme, self.columns, self.missing)
        given = open_input(*asked, tabulated=self.tabulated, encoding=self.encoding)
        earlier = releases_beside(self.out) if self.out else EarlierReleases()
        begin = time.perf_counter()
        with (
            closing(given),
            self._writer() as writer,
            nullcontext(engine) if engine else DuckDB() as place,
            ThreadPoolExecutor(max_workers=1) as beside,
        ):
            hashing = beside.submit(given.fingerprint)
            if self.fingerprint:
                _check_same(self.fingerprint, hashing.result(), self.mechanism.secret)
            loaded = given.load(self.programme, self.mechanism, place, self.progress)
            found = hashing.result()
            seconds = {"reading": time.perf_counter() - begin}
            output = output_of(loaded.programme)
            mechanism = self.mechanism.ready_for(output)
            record = self._record(loaded, mechanism, found)
            done = writer.begin(_digest(record, found), mechanism.secret)
            publisher = TablePublisher(
                loaded,
                place,
                mechanism,
                self.columns,
                self.keep_exact,
                self.non_negative,
                self.progress,
                done,
                self.weighted_only,
            )
            seconds |= publisher.run(writer)
            given.check_unchanged()
            contents = dict(sorted(writer.contents.items())) if mechanism.secret else None
            record = dataclasses.replace(record, contents=contents)
            joint = warnings_about(record, writer.written, earlier, mechanism.secret)
            summary = RunSummary(
                records=loaded.records,
                dropped=loaded.dropped,
                topics=len(loaded.programme.topics),
                statistics=output.sensitivity(spsn=True),
                cells=output.cells,
                resumed=len(done),
                seconds={**seconds, "all": time.perf_counter() - begin},
                margins=loaded.margins,
                warnings=(*loaded.notes, *self._warnings(record), *joint),
            )
            return writer.finish(record, summary, loaded.programme)

    def _writer(self) -> ReleaseWriter:
        if self.out is None:
            return MemoryWriter()
        return FolderWriter(
            self.out, self.form, replace=self.replace, resume=self.resume, lock_timeout=self.lock_timeout
        )

    def _record(self, loaded: LoadedRecords, mechanism: Mechanism, fingerprint: str) -> Record:
        """Return how the noise is made, as far as it is known before the tables are."""
        record = Record(
            programme=self.name,
            data_fingerprint=keyed_digest(fingerprint, mechanism.secret) if mechanism.secret else None,
            definition=programme_to_json(loaded.programme),
            missing=self.missing,
            records=loaded.records,
            non_negative=self.non_negative,
            secret_check=secret_check(mechanism.secret) if mechanism.secret else None,
            run={
                "data": _where(self.data),
                **vars(self.columns),
                "tabulated": self.tabulated,
                "encoding": self.encoding,
                "weighted_only": self.weighted_only,
                "keep_exact": self.keep_exact,
                "form": self.form,
                # The programme as it was asked for, where missing values have added a category to it.
                "definition": None if loaded.programme is self.programme else programme_to_json(self.programme),
            },
            made_by=f"discreet {version('discreet')}",
            **_described(mechanism, self.columns),
        )
        return dataclasses.replace(record, warnings=record.noise_warnings())

    def _warnings(self, record: Record) -> Iterator[str]:
        """Give the warnings about the noise and about the weights."""
        yield from _short_of(record)
        yield from record.warnings
        if self.columns.weight and not self.weighted_only:
            yield MEAN_WEIGHTS
        if self.fingerprint == "":
            yield NOT_CHECKED


def _described(mechanism: Mechanism, roles: RecordColumns) -> dict[str, Any]:
    """Return what the mechanism says of itself; keys that the data bring along have no version or digest of ours."""
    told = mechanism.described()
    return {**told, "key_version": None, "key_bits": None} if roles.key and "key_version" in told else told


def _noise_of(mechanism: Mechanism) -> NoiseByCount | None:
    """Return the noise of every true count, where the mechanism has the same in all tables."""
    noise = getattr(mechanism, "noise", None)
    if isinstance(noise, Noise):
        return noise_by_count(noise, perturb_zeros=mechanism.perturbs_zeros)
    return noise


def _check_room(mechanism: Mechanism) -> None:
    """Refuse a variance that the bound does not allow, before any work; a release that exists can be made again."""
    noise = _noise_of(mechanism)
    if noise is not None and noise.settings and not noise.settings.equality:
        check_room(noise.settings.variance, noise.settings.bound)


def check_protects(mechanism: Mechanism) -> None:
    """Refuse noise under which published counts reveal true ones.

    A privacy budget has none before it is split over the tables: its record has a warning instead.
    """
    noise = _noise_of(mechanism)
    if noise is not None:
        check_disclosure(noise, plain=getattr(mechanism, "mode", None) == "plain")


def _short_of(record: Record) -> Iterator[str]:
    """Give a sentence if counts have less noise than was asked for: a small bound leaves no room for it."""
    asked = record.parameters.get("variance")
    if record.law == "max-entropy" and asked and record.variance < asked * (1 - SLACK):
        yield (
            f"Variance {asked:g} was asked for, and within bound {record.bound:g} no count has more than "
            f"{record.variance:.3g}. Choose a larger bound."
        )


def _digest(record: Record, fingerprint: str) -> str:
    """Return what two runs have in common that make the same tables, wherever their data are.

    Without a secret the fingerprint of the data goes through many rounds: trying data takes long.
    """
    alike = dataclasses.replace(record, run={**(record.run or {}), "data": None}).to_json().encode()
    if record.data_fingerprint is None:
        return hashlib.pbkdf2_hmac("sha256", fingerprint.encode(), alike, ROUNDS).hex()
    return hashlib.sha256(alike).hexdigest()


def _check_same(wanted: str, found: str, secret: bytes | None) -> None:
    # Records of older releases have the fingerprint itself.
    if wanted != found and not (secret and wanted == keyed_digest(found, secret)):
        what = "These are not the data of the release that is to be made again: their fingerprint is another."
        raise ParameterError(f"{what} Give those, or run protect anew.", parameter="data")


def _where(data: object) -> list[str] | None:
    """Return the paths of the data, None where they were handed over in memory."""
    given = data if isinstance(data, list | tuple) else [data]
    if not all(isinstance(item, str | PathLike) for item in given):
        return None
    # An address stays as it is; a path may be used from another folder.
    return [str(item) if "://" in str(item) else str(Path(str(item)).absolute()) for item in given]


def _check_keys(mechanism: Mechanism, roles: RecordColumns) -> None:
    if mechanism.needs_keys and not (roles.id or roles.key):
        raise ParameterError(
            f"The mechanism {mechanism.name} needs a key for every record. Name the column with a stable id (--id), or "
            "one with ready-made keys (--key); without either choose --mechanism coordinates.",
            parameter="id",
        )
    if roles.id is not None and mechanism.needs_keys and mechanism.secret is None:
        raise ParameterError(
            "Keys made from an id need the office's secret. Give it (--secret-file or DISCREET_SECRET), or name a "
            "column with ready-made keys (--key).",
            parameter="id",
        )


def _check_weight(mechanism: Mechanism, roles: RecordColumns, *, weighted_only: bool) -> None:
    if weighted_only and roles.weight is None:
        raise ParameterError(
            "Weighted counts need weights. Name their column with --weight, or leave --weighted-only out.",
            parameter="weighted_only",
        )
    if roles.weight is not None and mechanism.perturbs_zeros:
        raise ParameterError(
            "A weighted count is the noisy count times the mean weight of its cell, and an empty cell has none. Leave "
            "--weight out, or leave zeros as they are.",
            parameter="weight",
        )


def _check_resume(mechanism: Mechanism, *, resume: bool) -> None:
    if resume and mechanism.name == "eps-dp" and mechanism.spsn:
        raise ParameterError(
            "Tables that share noise which is drawn once and written down nowhere cannot be continued. Leave --resume "
            "out, or give every table noise of its own (--no-spsn).",
            parameter="resume",
        )
