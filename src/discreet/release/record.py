"""The record of a release: the parameters of its noise, and everything that a later assessment needs.

Risk measures read a record and published counts, never microdata. A release of other software can therefore be assessed
by writing its record. The record is confidential; `public()` returns the part that data users may know.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from discreet.errors import RecordFileError, UnknownNameError, UnreadableFileError
from discreet.limits import MAX_RELEASE_BYTES, bounded_json, read_bounded
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_json import programme_from_json
from discreet.release.noise_record import NoiseRecord, check_kinds
from discreet.verdicts import Policy

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.programme.model import Programme

SCHEMA = "discreet/1"
KIND = "record"
KINDS: dict[str, Any] = {
    **dict.fromkeys(("programme",), str),
    **dict.fromkeys(("warnings",), list),
    **dict.fromkeys(("definition", "contents", "run", "targets"), dict | None),
    **dict.fromkeys(("records",), int | None),
    **dict.fromkeys(("data_fingerprint", "missing", "secret_check", "release_digest", "made_by"), str | None),
}
"""Types of the entries on programme, data and run."""


@dataclass(frozen=True, kw_only=True)
class Record(NoiseRecord):
    """The noise, programme, data and run of a release.

    Attributes:
        programme: the table programme, such as `eu2021:LU`, or the path of its file.
        definition: the published programme in JSON form; by default that of `programme`.
        data_fingerprint: a digest of the data, keyed with the secret; None without a secret.
        missing: the treatment of missing values.
        records: the number of counted records; confidential.
        secret_check: a digest that identifies the secret; None without a secret.
        contents: digests of the true counts of every table by id, keyed with the secret, which identify the same
            persons in another file; None without a secret.
        release_digest: the digest of the published release.json.
        run: the location of the data and the settings for reading them, to repeat the release; confidential.
        targets: the office's targets by name; `assess` and `report` compare results with them.
        made_by: the program and its version.
        warnings: the warnings about the noise.
    """

    programme: str
    definition: dict[str, Any] | None = field(default=None, repr=False)
    data_fingerprint: str | None = None
    missing: str | None = None
    records: int | None = None
    secret_check: str | None = None
    contents: dict[str, str] | None = field(default=None, repr=False)
    release_digest: str | None = None
    run: dict[str, Any] | None = field(default=None, repr=False)
    targets: dict[str, float] | None = None
    made_by: str | None = None
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_kinds(self, KINDS)
        # Refuses a misspelt target, which would be ignored otherwise.
        Policy(self.targets or {})
        super().__post_init__()

    def published(self) -> Programme:
        """Return the published programme, or without a definition the programme with this name."""
        return programme_from_json(self.definition) if self.definition else load_programme(self.programme)

    def public(self) -> dict[str, Any]:
        """Return the part that data users may know: the name of the programme, and the disclosed noise.

        The path of the programme file on the curator's machine is not disclosed.
        """
        return {"programme": self._public_name, **self.public_noise()}

    @property
    def _public_name(self) -> str:
        return self.definition["name"] if self.definition else self.programme

    def to_json(self) -> str:
        """Return the record as JSON text."""
        content = {"schema": SCHEMA, "kind": KIND, "programme": self.programme, **asdict(self)}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def record_from_json(text: str | bytes, path: Path) -> Record:
    """Return the record in a JSON text, or refuse missing and unknown entries."""
    try:
        content = bounded_json(text, path)
    except UnreadableFileError as error:
        raise RecordFileError.at(path, f"{error.what}.", "Specify a record.json.") from error
    if not isinstance(content, dict) or (content.pop("schema", None), content.pop("kind", None)) != (SCHEMA, KIND):
        raise RecordFileError.at(path, f"is not a record of schema {SCHEMA}.", "Specify a record.json.")
    known = [entry.name for entry in fields(Record)]
    for name in content:
        if name not in known:
            raise UnknownNameError.among("entry of a record", name, known)
    missing = [name for name in ("programme", "parameters") if name not in content]
    if missing:
        raise RecordFileError.at(path, f"has no {missing[0]}.", "Add it.")
    return Record(**content)


def read_record(path: Path) -> Record:
    """Return the record in a file."""
    todo = "Specify the curator's folder of a release."
    try:
        return record_from_json(read_bounded(path, MAX_RELEASE_BYTES), path)
    except UnreadableFileError as error:
        raise RecordFileError.at(path, f"{error.what}.", todo) from error
    except OSError as error:
        raise RecordFileError.at(path, f"cannot be read: {error.strerror}.", todo) from error
