"""Protect: make a release from records; the function behind `discreet protect`."""

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
from discreet.protection.earlier_releases import EarlierReleases, find_earlier_releases, joint_disclosure_warnings
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
from discreet.verdicts import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.noise.by_count import NoiseByCount
    from discreet.progress import Progress
    from discreet.protection.record_loading import LoadedRecords


HASH_ITERATIONS = 200_000
"""Hash iterations for the digest of a run without a secret; they take about a tenth of a second."""
NOT_CHECKED = (
    "Not checked whether these are the data of the repeated release: it was made without a secret, so its record has "
    "no fingerprint of the data. Compare the tables (discreet verify)."
)
VARIANCE_TOLERANCE = 1e-6
"""Relative tolerance on the requested variance."""
MEAN_WEIGHTS = (
    "Each pair of value and weighted discloses the mean weight of a cell, up to the rounding of weighted (at most "
    "0.5). An attacker who knows weights may learn from it which persons are in the cell. Publish only weighted counts "
    "(--weighted-only) if weights differ between persons."
)


def protect(
    data: object,
    programme: Programme | str | Path,
    mechanism: Mechanism,
    *,
    out: Path | str | None = None,
    id: str | None = None,  # noqa: A002 - the name of the option
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
    targets: Policy | Mapping[str, float] | Iterable[str] | None = None,
    lock_timeout: float = LOCK_TIMEOUT,
    form: str = "parquet",
    fingerprint: str | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Release:
    """Count every table of a programme, add the mechanism's noise, and publish.

    The warnings of the command line are in `summary.warnings` of the release. If a folder is written, each of them is
    also issued as a Python warning of the category ReleaseWarning.

    Args:
        data: a Parquet or CSV file, several files, a pattern, a table of a database such as `census.duckdb#persons`,
            an Arrow table or a data frame; one row per person.
        programme: a Programme, or its name, such as `eu2021:LU`.
        mechanism: the noise mechanism, such as CellKey.
        out: the folder to write; without it the release is kept in memory.
        id: the column with a stable id, from which record keys are derived.
        key: the column with ready-made record keys, instead of `id`.
        count: the column with the count of each row, for pre-tabulated data.
        weight: the column with the weight of each row; the tables then have an additional column `weighted`.
        weighted_only: whether the tables contain only the column `weighted`, without `value`.
        tabulated: whether the data are a folder of pre-tabulated tables: one file per table, named after its id.
        encoding: the encoding of CSV files, such as `latin-1`; UTF-8 by default.
        regions: a CSV file that maps areas to user-defined regions; tables by area are then published by region, too.
        tables: ids or patterns of the tables to publish; by default all tables of the unit.
        unit: the unit that a row of the data represents; by default the unit of most tables.
        missing: the treatment of records with missing values: `error`, `category` or `drop`.
        non_negative: whether negative values are published as 0; this biases small counts upwards.
        keep_exact: whether to store the true counts for the curator.
        replace: whether an existing release may be replaced.
        resume: whether to reuse the finished tables of an interrupted run with the same settings.
        allow_disclosure: whether to publish with noise that discloses true counts; this is refused by default.
        targets: the targets of the office by name, kept in the record; `assess` and `report` judge by them.
        lock_timeout: the time in seconds to wait for another run in the same folder.
        form: the file format of the tables: `parquet` or `csv`.
        fingerprint: the required fingerprint of the data of a repeated release, empty if it is unknown; None for a
            new release.
        progress: a function that is called with stage, done and total.
        engine: the engine that counts; by default a DuckDB instance in this process, for this run only.
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
        policy=Policy.of(targets),
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
    """The settings of one run of `protect`, and its steps: check, read, count, add noise, write.

    Attributes:
        data: the data source.
        name: the programme as the user named it, for the record.
        programme: the programme with the selected tables.
        mechanism: the noise mechanism.
        columns: the columns of ids, keys, counts and weights.
        out: the folder to write; None keeps the release in memory.
        progress: a function that is called with stage, done and total.

    The other attributes are the arguments of `protect`.
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
    policy: Policy
    replace: bool
    resume: bool
    lock_timeout: float
    fingerprint: str | None
    progress: Progress

    def check(self, *, allow_disclosure: bool) -> None:
        """Refuse invalid settings before any record is read."""
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
        """Make the release and return it."""
        asked = (self.data, self.programme, self.columns, self.missing)
        given = open_input(*asked, tabulated=self.tabulated, encoding=self.encoding)
        earlier = find_earlier_releases(self.out) if self.out else EarlierReleases()
        begin = time.perf_counter()
        with (
            closing(given),
            self._writer() as writer,
            nullcontext(engine) if engine else DuckDB() as place,
            ThreadPoolExecutor(max_workers=1) as background,
        ):
            hashing = background.submit(given.fingerprint)
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
            joint = joint_disclosure_warnings(record, writer.written, earlier, mechanism.secret)
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
        """Return the record of the release, without the digests of the tables."""
        record = Record(
            programme=self.name,
            data_fingerprint=keyed_digest(fingerprint, mechanism.secret) if mechanism.secret else None,
            definition=programme_to_json(loaded.programme),
            missing=self.missing,
            records=loaded.records,
            non_negative=self.non_negative,
            secret_check=secret_check(mechanism.secret) if mechanism.secret else None,
            run={
                "data": _data_paths(self.data),
                **vars(self.columns),
                "tabulated": self.tabulated,
                "encoding": self.encoding,
                "weighted_only": self.weighted_only,
                "keep_exact": self.keep_exact,
                "form": self.form,
                # The original programme, if a category for missing values was added to it.
                "definition": None if loaded.programme is self.programme else programme_to_json(self.programme),
            },
            targets=dict(self.policy.chosen) or None,
            made_by=f"discreet {version('discreet')}",
            **_described(mechanism, self.columns),
        )
        return dataclasses.replace(record, warnings=record.noise_warnings())

    def _warnings(self, record: Record) -> Iterator[str]:
        """Yield the warnings about the noise, the weights and the data."""
        yield from _variance_warning(record)
        yield from record.warnings
        if self.columns.weight and not self.weighted_only:
            yield MEAN_WEIGHTS
        if self.fingerprint == "":
            yield NOT_CHECKED


def _described(mechanism: Mechanism, roles: RecordColumns) -> dict[str, Any]:
    """Return the description of the mechanism; ready-made keys have no key version and no digest length."""
    found = mechanism.described()
    return {**found, "key_version": None, "key_bits": None} if roles.key and "key_version" in found else found


def _noise_of(mechanism: Mechanism) -> NoiseByCount | None:
    """Return the noise by true count if the mechanism uses the same in all tables; None otherwise."""
    noise = getattr(mechanism, "noise", None)
    if isinstance(noise, Noise):
        return noise_by_count(noise, perturb_zeros=mechanism.perturbs_zeros)
    return noise


def _check_room(mechanism: Mechanism) -> None:
    """Refuse a variance that is infeasible for the bound; repeated releases are not checked."""
    noise = _noise_of(mechanism)
    if noise is not None and noise.settings and not noise.settings.equality:
        check_room(noise.settings.variance, noise.settings.bound)


def check_protects(mechanism: Mechanism) -> None:
    """Refuse noise for which published counts disclose true counts.

    The noise of a privacy budget is unknown until the budget is split over the tables: its record has a warning
    instead.
    """
    noise = _noise_of(mechanism)
    if noise is not None:
        check_disclosure(noise, plain=getattr(mechanism, "mode", None) == "plain")


def _variance_warning(record: Record) -> Iterator[str]:
    """Yield a warning if the variance is smaller than requested because the bound is too small."""
    requested = record.parameters.get("variance")
    if record.law == "max-entropy" and requested and record.variance < requested * (1 - VARIANCE_TOLERANCE):
        yield (
            f"The requested variance is {requested:g}, but with bound {record.bound:g} no count has a variance above "
            f"{record.variance:.3g}. Choose a larger bound."
        )


def _digest(record: Record, fingerprint: str) -> str:
    """Return a digest that is equal for two runs with the same tables, independent of the location of the data.

    Without a secret the fingerprint of the data is hashed many times, to slow down guessing the data.
    """
    alike = dataclasses.replace(record, run={**(record.run or {}), "data": None}).to_json().encode()
    if record.data_fingerprint is None:
        return hashlib.pbkdf2_hmac("sha256", fingerprint.encode(), alike, HASH_ITERATIONS).hex()
    return hashlib.sha256(alike).hexdigest()


def _check_same(wanted: str, found: str, secret: bytes | None) -> None:
    # Records of older releases contain the unkeyed fingerprint.
    if wanted != found and not (secret and wanted == keyed_digest(found, secret)):
        what = "The fingerprint of the data differs from that of the release to be repeated."
        raise ParameterError(f"{what} Specify the original data, or make a new release.", parameter="data")


def _data_paths(data: object) -> list[str] | None:
    """Return the paths of the data; None if they were passed in memory."""
    given = data if isinstance(data, list | tuple) else [data]
    if not all(isinstance(item, str | PathLike) for item in given):
        return None
    # Paths become absolute, because a run may be repeated from another folder; addresses of databases are kept.
    return [str(item) if "://" in str(item) else str(Path(str(item)).absolute()) for item in given]


def _check_keys(mechanism: Mechanism, roles: RecordColumns) -> None:
    if mechanism.needs_keys and not (roles.id or roles.key):
        raise ParameterError(
            f"The mechanism {mechanism.name} needs a key for every record. Specify a column with a stable id (--id) or "
            "with ready-made keys (--key). If there is neither, use --mechanism coordinates.",
            parameter="id",
        )
    if roles.id is not None and mechanism.needs_keys and mechanism.secret is None:
        raise ParameterError(
            "Deriving keys from an id needs the office's secret. Specify the secret (--secret-file or "
            "DISCREET_SECRET), or a column with ready-made keys (--key).",
            parameter="id",
        )


def _check_weight(mechanism: Mechanism, roles: RecordColumns, *, weighted_only: bool) -> None:
    if weighted_only and roles.weight is None:
        raise ParameterError(
            "Weighted counts need weights. Specify their column with --weight, or remove --weighted-only.",
            parameter="weighted_only",
        )
    if roles.weight is not None and mechanism.perturbs_zeros:
        raise ParameterError(
            "Weights cannot be combined with noise on empty cells: a weighted count is the noisy count times the mean "
            "weight of its cell, and an empty cell has no mean weight. Remove --weight, or keep zeros unperturbed.",
            parameter="weight",
        )


def _check_resume(mechanism: Mechanism, *, resume: bool) -> None:
    if resume and mechanism.name == "eps-dp" and mechanism.spsn:
        raise ParameterError(
            "The run cannot be resumed: its tables share noise that is drawn once and not stored. Remove --resume, or "
            "draw independent noise for every table (--no-spsn).",
            parameter="resume",
        )
