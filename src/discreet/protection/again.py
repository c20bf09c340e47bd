"""A run made again from the record of a release: the same programme, the same noise, the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, RecordFileError, SecretError
from discreet.mechanisms.cell_key import EARLIER_BITS, CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.exact import Exact
from discreet.noise.mixing import SecretAsGiven, bare_secret
from discreet.programme.programme_json import programme_from_json
from discreet.protection.pipeline import protect
from discreet.records.secret import secret_check
from discreet.release.locks import LOCK_TIMEOUT
from discreet.release.record import REPEATABLE, Record, read_record
from discreet.release.release_folder import RECORD, curator_folder
from discreet.release.table_files import FORMATS

if TYPE_CHECKING:
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.progress import Progress
    from discreet.release.release import Release

COLUMNS = ("id", "key", "count", "weight")
FLAGS = ("tabulated", "keep_exact")


def protect_again(
    curator: Path | str,
    *,
    data: object = None,
    secret: bytes | None = None,
    out: Path | str | None = None,
    keep_exact: bool | None = None,
    replace: bool = False,
    resume: bool = False,
    lock_timeout: float = LOCK_TIMEOUT,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> Release:
    """Make a release again from its record.

    Args:
        curator: the curator's folder of a release, or its record.json.
        data: where the data are now; where they were if left out. Other data are refused.
        secret: the office's secret, which no record holds.
        out: the folder to make; without it the release is kept in memory.
        keep_exact: whether to keep true counts for the curator; as then if left out.
        replace: whether an existing release may be replaced.
        resume: whether to go on from the tables that a killed run of the same kind left finished.
        lock_timeout: seconds to wait for another run at work in the same folder.
        progress: called with stage, done and total.
        engine: where to count.
    """
    path = Path(curator)
    place = path / RECORD if path.is_dir() else path
    if path.is_dir() and not place.exists():
        # The public folder is meant as well: the record lies beside it.
        place = curator_folder(path) / RECORD
    record = read_record(place)
    run = _run_of(record, place)
    found = data if data is not None else run.get("data")
    if found is None:
        raise RecordFileError.at(
            place, "does not say where the data were: they came from a program.", "Name them: discreet protect DATA."
        )
    return protect(
        found,
        programme_from_json(run["definition"] or record.definition or {}),
        mechanism_of(record, secret),
        out=out,
        **{name: run[name] for name in (*COLUMNS, "tabulated", "form")},
        encoding=run.get("encoding"),
        weighted_only=run.get("weighted_only", False),
        keep_exact=run["keep_exact"] if keep_exact is None else keep_exact,
        fingerprint=record.data_fingerprint or "",
        missing=record.missing or "error",
        non_negative=record.non_negative,
        replace=replace,
        resume=resume,
        # It was published once with consent, or before that was asked for.
        allow_disclosure=True,
        lock_timeout=lock_timeout,
        progress=progress,
        engine=engine,
    )


def mechanism_of(record: Record, secret: bytes | None) -> Mechanism:
    """Return the mechanism that a record tells of, or refuse another secret than the one it was made with."""
    if record.mechanism not in REPEATABLE:
        spent = " and spend its epsilon again" if record.mechanism == "eps-dp" else ""
        raise ParameterError(
            f"The mechanism {record.mechanism} draws new noise in every run, so that its release cannot be made again: "
            f"a second one would let users weigh the two against each other{spent}. Keep a copy of the first; run "
            "protect anew if a second is meant.",
            parameter="again",
        )
    if record.secret_check is not None:
        if secret is None:
            raise SecretError(
                "The secret is missing: give --secret-file or set DISCREET_SECRET, the one that this release was "
                "made with."
            )
        secret = _matching(secret, record.secret_check)
    if record.mechanism == "exact":
        return Exact()
    noise = record.ptable() if record.has_ptable else record.noise()
    zeros = record.perturb_zeros and not record.has_ptable
    label = "1" if record.key_version is None else record.key_version
    if record.mechanism == "coordinates":
        return Coordinates(noise, secret, version=label, perturb_zeros=zeros, labelled_total=record.labelled_total)
    bits = record.key_bits or EARLIER_BITS
    return CellKey(noise, secret=secret, mode=record.key_mode, version=label, perturb_zeros=zeros, key_bits=bits)


def _matching(secret: bytes, check: str) -> bytes:
    """Return the secret in the form in which it made a release, or refuse another one.

    Some releases were made with the bytes of a secret's file, the line end among them.
    """
    forms = (secret, SecretAsGiven(secret), SecretAsGiven(bare_secret(secret) + b"\n"))
    found = next((form for form in forms if secret_check(form) == check), None)
    if found is None:
        raise SecretError(
            "This is not the secret that the release was made with. Give that one: another makes other noise."
        )
    return found


def _run_of(record: Record, path: Path) -> dict[str, Any]:
    """Return how the data were read, or refuse a record that does not tell, or tells it wrongly."""
    run = record.run
    if not run:
        raise RecordFileError.at(
            path, "does not tell how its data were read, so that the run cannot be made again.", "Run protect anew."
        )
    right = {
        "data": isinstance(run.get("data", ()), list | None),
        "definition": isinstance(run.get("definition", ()), dict | None),
        "form": run.get("form") in FORMATS,
        "encoding": isinstance(run.get("encoding"), str | None),
        "weighted_only": isinstance(run.get("weighted_only", False), bool),
        **{name: isinstance(run.get(name, ()), str | None) for name in COLUMNS},
        **{name: isinstance(run.get(name), bool) for name in FLAGS},
    }
    wrong = next((name for name, holds in right.items() if not holds), None)
    if wrong:
        raise RecordFileError.at(path, f"has a run without a usable {wrong}.", "Take it from a copy.")
    return run
