"""The record of a release: how its noise was made, all that a later assessment needs.

Risk reads a record, never data: a release made by other software can be assessed by
writing its record down. The whole record is the curator's; `public()` is what a data
user may know.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, RecordFileError, UnknownNameError
from discreet.noise.catalogue import LAWS
from discreet.noise.parameters import parameters, required
from discreet.noise.ptable import KEY_MODES, PTable
from discreet.noise.settings import PTableSettings

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.base import Noise

SCHEMA = "discreet/1"
KIND = "record"
MECHANISMS = ("cell-key", "coordinates", "fresh", "eps-dp")
SHARED_NOISE = ("cell-key", "coordinates")
"""Mechanisms that give the same participants, or the same coordinates, the same noise."""
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
        key_mode: `mixed` or `plain` cell keys.
        key_version: the version label of the record keys, if any.
        data_fingerprint: a digest of the input, if any.
        made_by: program and version.
    """

    programme: str
    mechanism: str = "cell-key"
    spsn: bool = True
    law: str = "max-entropy"
    parameters: dict[str, Any]
    key_mode: str = "mixed"
    key_version: str | None = None
    data_fingerprint: str | None = None
    made_by: str | None = None

    def __post_init__(self) -> None:
        for name, kind in (("programme", str), ("spsn", bool), ("parameters", dict)):
            if not isinstance(getattr(self, name), kind):
                raise ParameterError.outside("record", name, getattr(self, name), f"of type {kind.__name__}")
        for name, known in (("mechanism", MECHANISMS), ("law", tuple(LAWS)), ("key_mode", KEY_MODES)):
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
        self.noise()

    def noise(self) -> Noise:
        """Return the law of the noise of large counts."""
        if self.law == "max-entropy":
            return self.ptable().rows[-1]
        self._check_parameters(LAWS[self.law])
        made: Noise = LAWS[self.law](**self.parameters)
        return made

    def ptable(self) -> PTable:
        """Return the p-table of a max-entropy law."""
        self._check_parameters(PTableSettings)
        return PTable.solve(PTableSettings(**self.parameters))

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

    def public(self) -> dict[str, Any]:
        """Return what a data user may know: the size of the noise, a vague bound, and what totals do.

        Exact parameters, keys and fingerprints stay with the curator: an exact
        bound helps an attacker (see the measure `bound`).
        """
        law = self.noise()
        told: dict[str, Any] = {
            "programme": self.programme,
            "method": "random noise" + (" with cell keys" if self.mechanism == "cell-key" else ""),
            "typical_noise": round(law.variance**0.5, 1),
            "same_count_same_noise": self.spsn,
            "totals": "Every count has noise of its own: totals differ a little from the sums of their parts.",
        }
        if law.bound < VAGUE_BOUNDS[-1]:
            told["bound"] = f"not more than about {next(vague for vague in VAGUE_BOUNDS if law.bound < vague)}"
        return told

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
    known = [field.name for field in fields(Record)]
    for name in content:
        if name not in known:
            raise UnknownNameError.among("entry of a record", name, known)
    missing = [name for name in ("programme", "parameters") if name not in content]
    if missing:
        raise RecordFileError.at(path, f"has no {missing[0]}.", "Add it.")
    return Record(**content)
