"""The record of a release: how its noise was made, all that a later assessment needs.

Risk reads a record, never data: a release made by other software can be assessed by
writing its record down. The whole record is the curator's; `public()` is what a data
user may know.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, RecordFileError, UnknownNameError
from discreet.noise.catalogue import LAWS
from discreet.noise.formats.own_toml import OwnToml
from discreet.noise.parameters import parameters, required
from discreet.noise.ptable import KEY_MODES, KEY_SPACE, PTable
from discreet.noise.settings import PTableSettings
from discreet.programme.json_form import programme_from_json
from discreet.programme.load import load_programme

if TYPE_CHECKING:
    from discreet.noise.base import Noise
    from discreet.programme.model import Programme

SCHEMA = "discreet/1"
KIND = "record"
MECHANISMS = ("cell-key", "coordinates", "fresh", "eps-dp", "exact")
SHARED_NOISE = ("cell-key", "coordinates", "exact")
"""Mechanisms that give the same participants, or the same coordinates, the same noise."""
WITHOUT_LAW = ("p-table", "none")
"""What stands for a law where there is none by name: a p-table from a file, and no noise at all."""
UNBOUNDED = ("geometric", "laplace")
VAGUE_BOUNDS = (5, 10, 20, 50, 100)
"""What may be told of a bound: the next larger of these."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """How the noise of a release was made.

    Attributes:
        programme: the table programme, as `eu2021:LU` or the path of its file.
        mechanism: who gets which noise.
        spsn: whether the same participants get the same noise in every table.
        law: the name of the law of noise.
        parameters: the law's parameters by name; for max-entropy also the p-table's settings.
        ptable_text: for the law `p-table`, the table whole, in our TOML format.
        key_mode: `mixed` or `plain` cell keys.
        key_space: the number of keys K.
        key_version: the version label of the record keys, if any.
        data_fingerprint: a digest of the input, if any.
        definition: the programme as it was published, in its JSON form; taken from `programme` if left out.
        missing: what was done with records without a value.
        records: how many records were counted; the curator's alone.
        made_by: program and version.
    """

    programme: str
    mechanism: str = "cell-key"
    spsn: bool = True
    law: str = "max-entropy"
    parameters: dict[str, Any]
    ptable_text: str | None = None
    key_mode: str = "mixed"
    key_space: int | None = None
    key_version: str | None = None
    data_fingerprint: str | None = None
    definition: dict[str, Any] | None = field(default=None, repr=False)
    missing: str | None = None
    records: int | None = None
    made_by: str | None = None

    def __post_init__(self) -> None:
        for name, kind in (("programme", str), ("spsn", bool), ("parameters", dict)):
            if not isinstance(getattr(self, name), kind):
                raise ParameterError.outside("record", name, getattr(self, name), f"of type {kind.__name__}")
        for name, known in (("mechanism", MECHANISMS), ("law", (*LAWS, *WITHOUT_LAW)), ("key_mode", KEY_MODES)):
            if getattr(self, name) not in known:
                raise UnknownNameError.among(name, str(getattr(self, name)), known)
        if self.mechanism != "eps-dp" and self.spsn != (self.mechanism in SHARED_NOISE):
            raise ParameterError(
                f"The mechanism {self.mechanism} {'gives' if self.mechanism in SHARED_NOISE else 'does not give'} the "
                f"same participants the same noise; spsn cannot be {str(self.spsn).lower()}. Correct one of them.",
                parameter="spsn",
            )
        if self.mechanism == "eps-dp" and self.law not in UNBOUNDED:
            raise ParameterError(
                f"The mechanism eps-dp needs an unbounded law ({', '.join(UNBOUNDED)}), not {self.law}.",
                parameter="law",
            )
        if (self.mechanism == "exact") != (self.law == "none"):
            raise ParameterError("The law none is for the mechanism exact, and only for it.", parameter="law")
        if self.law != "none":
            self.noise()

    @property
    def has_ptable(self) -> bool:
        """Say whether every true count has its own law."""
        return self.law in {"max-entropy", "p-table"}

    def published(self) -> Programme:
        """Return the programme that was published, or that is meant."""
        return programme_from_json(self.definition) if self.definition else load_programme(self.programme)

    def noise(self) -> Noise:
        """Return the law of the noise of large counts."""
        if self.law == "none":
            what = "This release is exact: it has no noise to assess."
            raise ParameterError(f"{what} Publish it nowhere, and assess one with noise.", parameter="law")
        if self.has_ptable:
            return self.ptable().large
        self._check_parameters(LAWS[self.law])
        made: Noise = LAWS[self.law](**self.parameters)
        return made

    def ptable(self) -> PTable:
        """Return the p-table, solved again from its settings or as it was given."""
        if self.law == "p-table":
            return OwnToml().read(self.ptable_text or "", Path("record.json"))
        self._check_parameters(PTableSettings)
        return PTable.solve(PTableSettings(**self.parameters), self.key_space or KEY_SPACE)

    def _check_parameters(self, taker: type) -> None:
        """Refuse parameters that the law does not know, and a law without those it needs."""
        known, declared = [field.name for field in fields(taker)], parameters(taker)
        unknown = [name for name in self.parameters if name not in known]
        if unknown:
            raise UnknownNameError.among(f"parameter of the law {self.law}", unknown[0], known)
        missing = [name for name in required(taker) if name not in self.parameters]
        if missing:
            raise ParameterError(
                f"The law {self.law} needs {' and '.join(missing)}. Give --{missing[0]}: "
                f"{declared[missing[0]].help() if missing[0] in declared else missing[0]}.",
                parameter=missing[0],
            )

    @property
    def variance(self) -> float:
        """Return the variance of one noise term on a large count."""
        return self.noise().variance

    @property
    def bound(self) -> float:
        """Return the largest absolute noise of any count; in a p-table from a file small counts may have more."""
        return self.ptable().bound if self.has_ptable else self.noise().bound

    def public(self) -> dict[str, Any]:
        """Return what a data user may know: the size of the noise, a vague bound, and what totals do.

        Exact parameters, keys and fingerprints stay with the curator: an exact
        bound helps an attacker (see the measure `bound`).
        """
        if self.law == "none":
            return {"programme": self._public_name, "method": "none: these are true counts, not for publication"}
        law, bound = self.noise(), self.bound
        told: dict[str, Any] = {
            # Its name: where the file lies on the curator's machine is nobody's business.
            "programme": self._public_name,
            "method": "random noise" + (" with cell keys" if self.mechanism == "cell-key" else ""),
            "typical_noise": round(law.variance**0.5, 1),
            "same_count_same_noise": self.spsn,
            "totals": "Every count has noise of its own: totals differ a little from the sums of their parts.",
        }
        if bound < VAGUE_BOUNDS[-1]:
            told["bound"] = f"not more than about {next(vague for vague in VAGUE_BOUNDS if bound < vague)}"
        return told

    @property
    def _public_name(self) -> str:
        return self.definition["name"] if self.definition else self.programme

    def to_json(self) -> str:
        """Return the record as text."""
        return json.dumps({"schema": SCHEMA, "kind": KIND, **asdict(self)}, indent=2, ensure_ascii=False) + "\n"


def record_from_json(text: str, path: Path) -> Record:
    """Return the record in a JSON text, or refuse what is missing or unknown by name."""
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise RecordFileError.at(path, f"is not JSON: {error}.", "Give a record.json.") from error
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
