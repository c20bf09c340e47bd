"""The TOML format of discreet: the p-table with its key space and its settings."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, PTableFileError, UnknownNameError
from discreet.limits import bounded_toml
from discreet.noise.formats.ptable_format import KeyInterval, PTableFormat, assemble, register
from discreet.noise.parameters import required
from discreet.noise.ptable_settings import PTableSettings

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.ptable import PTable

SCHEMA = "discreet/1"
KIND = "p-table"


@register
class PTableToml(PTableFormat):
    """All attributes of a PTable; one `[[rows]]` per true count."""

    name = "toml"
    layout = f'schema = "{SCHEMA}", kind = "{KIND}", key_space, repeat, [settings], [[rows]] i, v, p, upper'
    suffixes = (".toml",)

    def recognises(self, text: str) -> bool:
        """Return whether the text contains our schema."""
        return f'kind = "{KIND}"' in text or "[[rows]]" in text

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table."""
        try:
            content = bounded_toml(text, path)
        except ValueError as error:
            raise PTableFileError.at(path, "", f"is not TOML: {error}.", "Correct the line.") from error
        if (content.get("schema"), content.get("kind")) != (SCHEMA, KIND):
            raise PTableFileError.at(path, "the head", f'is not of schema "{SCHEMA}", kind "{KIND}".', "Correct it.")
        key_space, repeat = (_whole(path, "the head", content, name) for name in ("key_space", "repeat"))
        rows = content.get("rows", [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise PTableFileError.at(path, "", "rows must be written as [[rows]].", "Start every row with [[rows]].")
        pieces = [piece for row in rows for piece in _pieces(path, row)]
        try:
            settings = _settings(content.get("settings"))
            table = assemble(pieces, path, key_space=key_space, repeat=repeat, settings=settings)
        except (ParameterError, UnknownNameError) as error:
            raise PTableFileError.at(path, "", str(error), "Correct the entry.") from error
        _check_settings_fit(path, table)
        return table

    def write(self, ptable: PTable, path: Path) -> str:  # noqa: ARG002 - the same call for every format
        """Return the table as TOML; floats are written so that reading gives the same double."""
        lines = [f'schema = "{SCHEMA}"', f'kind = "{KIND}"', f"key_space = {ptable.key_space}"]
        lines += [f"repeat = {ptable.repeat}"]
        if ptable.settings:
            lines += ["", "[settings]"]
            lines += [f"{name} = {_value(value)}" for name, value in asdict(ptable.settings).items()]
        for row, grid in zip(ptable.rows, ptable.rounded, strict=True):
            lines += ["", "[[rows]]", f"i = {row.count}"]
            columns = {"v": grid.values, "p": row.probabilities, "upper": grid.upper}
            lines += [f"{name} = [{', '.join(_value(x) for x in column)}]" for name, column in columns.items()]
        return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    """Return a TOML value; numbers are written as the shortest text that gives the same number."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)


def _settings(table: object) -> PTableSettings | None:
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ParameterError("settings must be a table, [settings].", parameter="settings")
    known = {field.name: field for field in fields(PTableSettings)}
    for name, value in table.items():
        if name not in known:
            raise UnknownNameError.among("setting", name, known)
        if known[name].type in {"bool", "str"} and type(value).__name__ != known[name].type:
            raise ParameterError(f"{name} must be a {known[name].type}, not {value!r}.", parameter=name)
    missing = [name for name in required(PTableSettings) if name not in table]
    if missing:
        raise ParameterError(f"settings lack {' and '.join(missing)}.", parameter=missing[0])
    return PTableSettings(**table)


def _check_settings_fit(path: Path, table: PTable) -> None:
    """Raise an error for rows that contradict the settings in the file."""
    settings = table.settings
    if settings is None:
        return
    if len(table.rows) - 1 != settings.last_row or table.bound > settings.bound:
        rows = f"has rows up to {len(table.rows) - 1} and noise up to {table.bound}"
        what = f"{rows}, but its settings give {settings.last_row} and {settings.bound}."
        raise PTableFileError.at(path, "", what, "Add the missing rows, or remove [settings].")
    worst = max(table.rows, key=lambda row: row.second_moment)
    if worst.second_moment > settings.variance * (1 + 1e-6):
        size = f"{worst.second_moment:.6g} about 0, above the {settings.variance:g} of its settings."
        what = f"row i = {worst.count} has variance {size}"
        raise PTableFileError.at(path, "", what, "Correct the row or [settings].")


def _pieces(path: Path, row: dict[str, Any]) -> list[KeyInterval]:
    i = _whole(path, "a row", row, "i")
    where = f"row i = {i}"
    v, p, upper = (row.get(name) for name in ("v", "p", "upper"))
    if not (isinstance(v, list) and isinstance(p, list) and isinstance(upper, list) and len(v) == len(p) == len(upper)):
        raise PTableFileError.at(path, where, "v, p and upper must be lists of one length.", "Correct the row.")
    if not all(type(number) is int for number in [*v, *upper]) or not all(type(x) in {int, float} for x in p):
        raise PTableFileError.at(path, where, "v and upper must be whole numbers, p numbers.", "Correct the row.")
    lower = [0, *upper[:-1]]
    return [KeyInterval(where, i, *piece) for piece in zip(v, map(float, p), lower, upper, strict=True)]


def _whole(path: Path, where: str, table: dict[str, Any], name: str) -> int:
    number = table.get(name)
    if type(number) is not int:
        raise PTableFileError.at(path, where, f"{name} must be a whole number.", f"Add or correct {name}.")
    return number
