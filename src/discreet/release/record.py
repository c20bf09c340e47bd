"""The record of a release: how its noise was made, with everything that a later assessment needs.

Risk measures read a record and published counts, never microdata: a release of other software can be assessed by
writing its record. The whole record is the curator's; `public()` is what a data user may know.
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

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.programme.model import Programme

SCHEMA = "discreet/1"
KIND = "record"
KINDS: dict[str, Any] = {
    **dict.fromkeys(("programme",), str),
    **dict.fromkeys(("warnings",), list),
    **dict.fromkeys(("definition", "contents", "run"), dict | None),
    **dict.fromkeys(("records",), int | None),
    **dict.fromkeys(("data_fingerprint", "missing", "secret_check", "release_digest", "made_by"), str | None),
}
"""What the entries on programme, data and run must be."""


@dataclass(frozen=True, kw_only=True)
class Record(NoiseRecord):
    """How a release was made: its noise, its programme, its data and the run.

    Attributes:
        programme: the table programme, as `eu2021:LU` or the path of its file.
        definition: the programme as it was published, in its JSON form; taken from `programme` if left out.
        data_fingerprint: a digest of the input, keyed with the secret; None where there is no secret.
        missing: what was done with records without a value.
        records: how many records were counted; the curator's alone.
        secret_check: tells whether a secret is the one that was used; None where none was.
        contents: a digest of the true counts of every table, by its id, keyed with the secret; tells the same persons
            in another file. None where there is no secret.
        release_digest: the digest of the release.json that was published with it.
        run: where the data were and how they were read, to make the release again; the curator's alone.
        made_by: program and version.
        warnings: what the curator was told about the p-table.
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
    made_by: str | None = None
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_kinds(self, KINDS)
        super().__post_init__()

    def published(self) -> Programme:
        """Return the programme that was published, or that is meant."""
        return programme_from_json(self.definition) if self.definition else load_programme(self.programme)

    def public(self) -> dict[str, Any]:
        """Return what a data user may know: the programme, and the noise as far as it may be told.

        Where the programme's file lies on the curator's machine is nobody's business: its name is told.
        """
        return {"programme": self._public_name, **self.public_noise()}

    @property
    def _public_name(self) -> str:
        return self.definition["name"] if self.definition else self.programme

    def to_json(self) -> str:
        """Return the record as text."""
        content = {"schema": SCHEMA, "kind": KIND, "programme": self.programme, **asdict(self)}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def record_from_json(text: str | bytes, path: Path) -> Record:
    """Return the record in a JSON text, or refuse what is missing or unknown by name."""
    try:
        content = bounded_json(text, path)
    except UnreadableFileError as error:
        raise RecordFileError.at(path, f"{error.what}.", "Give a record.json.") from error
    if not isinstance(content, dict) or (content.pop("schema", None), content.pop("kind", None)) != (SCHEMA, KIND):
        raise RecordFileError.at(path, f"is not a record of schema {SCHEMA}.", "Give a record.json.")
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
    todo = "Give the curator's folder of a release."
    try:
        return record_from_json(read_bounded(path, MAX_RELEASE_BYTES), path)
    except UnreadableFileError as error:
        raise RecordFileError.at(path, f"{error.what}.", todo) from error
    except OSError as error:
        raise RecordFileError.at(path, f"cannot be read: {error.strerror}.", todo) from error
