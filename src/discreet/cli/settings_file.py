"""`--settings FILE`: flags in a TOML file; the command line overrides them."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from discreet.errors import SettingsFileError, UnknownNameError
from discreet.limits import bounded_toml, read_named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list of texts"}
"""Values of each type, in words."""


def with_settings(path: Path | None, given: Mapping[str, Any], kinds: Mapping[str, type]) -> dict[str, Any]:
    """Return the flags, with omitted ones from a file.

    Args:
        path: the file, if any.
        given: flags by name, None where they were left out.
        kinds: the type of every flag the file may hold.
    """
    found = dict(given)
    if path is None:
        return found
    for name, value in _read(path).items():
        flag = name.replace("-", "_")
        if flag not in kinds:
            raise UnknownNameError.among(f"setting in {path.name}", name, [kind.replace("_", "-") for kind in kinds])
        kind = kinds[flag]
        if isinstance(value, bool) != (kind is bool) or not isinstance(value, int | float if kind is float else kind):
            wanted = KINDS[kind]
            what = f"has a wrong value for {name}: it must be {wanted}."
            raise SettingsFileError.at(path, what, "Correct it.")
        if isinstance(value, list) and not all(isinstance(each, str) for each in value):
            raise SettingsFileError.at(path, f"has a wrong value for {name}: it must be {KINDS[list]}.", "Correct it.")
        if found[flag] is None:
            found[flag] = value
        elif isinstance(value, list):
            # The command line follows: of two targets with one name the last counts.
            found[flag] = [*value, *found[flag]]
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return bounded_toml(read_named(path).decode("utf-8-sig"), path)
    except OSError as error:
        raise SettingsFileError.at(path, f"cannot be read: {error.strerror}.", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise SettingsFileError.at(path, "is not text in UTF-8.", "Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsFileError.at(path, f"is not TOML: {error}.", "Correct the line.") from error
