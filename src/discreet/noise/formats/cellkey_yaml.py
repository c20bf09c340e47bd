"""The yaml in which R cellKey stores the parameters of count variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.errors import PTableFileError
from discreet.limits import bounded_yaml
from discreet.noise.formats.ptable_format import (
    DECIMALS,
    KeyInterval,
    PTableFormat,
    assemble,
    check_portable,
    check_target,
    register,
)

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.noise.ptable import PTable

COLUMNS = ("i", "j", "p", "v", "lb", "ub")
CELLKEY_VERSION = "1.0.3"
"""The version of cellKey with this layout."""


@register
class CellKeyYaml(PTableFormat):
    """`params: ptable:` with one list per column, then type, version and ptype."""

    name = "cellkey"
    layout = "yaml with params: ptable: i, j, p, v, lb, ub"
    suffixes = (".yaml", ".yml")
    grids = (DECIMALS,)

    def recognises(self, text: str) -> bool:
        """Return whether the text starts like cellKey's parameters."""
        return text.lstrip().startswith("params:")

    def read(self, text: str, path: Path) -> PTable:
        """Return the p-table; its key space is 10^8."""
        content = _parse(text, path)
        if content.get("type", "cnts") != "cnts":
            raise PTableFileError.at(path, "", "is not for counts (type).", "Give parameters of ck_params_cnts().")
        columns = _columns(content, path)
        pieces = []
        for number, fields in enumerate(zip(*(columns[name] for name in COLUMNS), strict=True), start=1):
            where = f"entry {number}"
            i, j, v = (_whole(path, where, name, fields[COLUMNS.index(name)]) for name in ("i", "j", "v"))
            p, lower, upper = (_steps(path, where, name, fields[COLUMNS.index(name)]) for name in ("p", "lb", "ub"))
            check_target(path, where, i, j, v)
            pieces.append(KeyInterval(where, i, v, p / DECIMALS, lower, upper))
        return assemble(pieces, path, key_space=DECIMALS)

    def write(self, ptable: PTable, path: Path) -> str:
        """Return the yaml as cellKey writes it."""
        check_portable(ptable, path, self.name)
        records = ptable.records()
        columns: dict[str, list[str]] = {name: [_number(record[name]) for record in records] for name in ("i", "j")}
        columns["p"] = [_share(record["upper"] - record["lower"]) for record in records]
        columns["v"] = [_number(record["v"]) for record in records]
        columns["lb"] = [_share(record["lower"]) for record in records]
        columns["ub"] = [_share(record["upper"]) for record in records]
        columns["type"] = ["all"] * len(records)
        lines = ["params:", "  ptable:"]
        for name, column in columns.items():
            lines += [f"    {name}:", *(f"    - {text}" for text in column)]
        lines += ["type: cnts", f"version: {CELLKEY_VERSION}", "ptype: params_cnts"]
        return "\n".join(lines) + "\n"


def _parse(text: str, path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = bounded_yaml(text, path)
    except (yaml.YAMLError, ValueError) as error:
        what = f"is not yaml: {str(error).splitlines()[0]}."
        raise PTableFileError.at(path, "", what, "Write it again with ck_params_cnts(path=).") from error
    if not isinstance(content, dict):
        raise PTableFileError.at(path, "", "contains no mapping.", "Write it again with ck_params_cnts(path=).")
    return content


def _columns(content: dict[str, Any], path: Path) -> dict[str, list[Any]]:
    params = content.get("params")
    table = params.get("ptable") if isinstance(params, dict) else None
    if not isinstance(table, dict):
        raise PTableFileError.at(path, "", "has no params: ptable:.", "Write it again with ck_params_cnts(path=).")
    for name in COLUMNS:
        column = table.get(name)
        if not isinstance(column, list) or len(column) != len(table["i"]):
            what = f"column {name} is missing or has a different length from i."
            raise PTableFileError.at(path, "params: ptable:", what, "All columns need one entry per interval.")
    return table


def _whole(path: Path, where: str, name: str, value: object) -> int:
    if not isinstance(value, int | float) or not abs(value) <= 10**15 or value != int(value):
        raise PTableFileError.at(path, where, f"{name} is {value!r}, not a whole number.", "Correct the entry.")
    return int(value)


def _steps(path: Path, where: str, name: str, value: object) -> int:
    """Return a share as steps of 10^-8, with a tolerance for rounding of the last digit of a double."""
    if (
        not isinstance(value, int | float)
        or not 0 <= value <= 1
        or abs(value * DECIMALS - round(value * DECIMALS)) > 1e-4
    ):
        what = f"{name} is {value!r}, not a share with eight decimals."
        raise PTableFileError.at(path, where, what, "Correct the entry.")
    return round(value * DECIMALS)


def _number(value: float) -> str:
    """Return a number as R's yaml prints a double; an exponent needs a decimal point to be read as a number."""
    text = repr(float(value))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _share(steps: float) -> str:
    return _number(steps / DECIMALS)
