"""The description of a release, read back: whatever is missing or wrong in it is named."""

from __future__ import annotations

import math
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from discreet.errors import ReleaseError, UnreadableFileError
from discreet.limits import MAX_JSON_BYTES, read_bounded_json
from discreet.release.record import SCHEMA
from discreet.release.release_folder import RELEASE, TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Kind = type | tuple[type, ...]

KIND = "release"
ENTRIES: dict[str, type] = {"name": str, "noise": dict, "format": str, "files": list, "programme": dict}
FILE_ENTRIES: dict[str, type] = {"id": str, "file": str, "rows": int, "bytes": int, "sha256": str}
NOISE_ENTRIES: dict[str, Kind] = {
    "method": str,
    "typical_noise": (int, float),
    "mean_noise": (int, float),
    "bound": str,
    "smallest_published": int,
    "privacy": dict,
}
"""What may be told of the noise, and is read again."""
PRIVACY_ENTRIES: dict[str, Kind] = {"epsilon": (int, float), "delta": (int, float), "condition": str}
WORDS = {str: "text", dict: "an object", list: "a list", int: "a whole number", (int, float): "a number"}
AGAIN = "Make the release again."


def read_description(folder: Path, most: int = MAX_JSON_BYTES) -> dict[str, Any]:
    """Return the content of the release.json of a folder; refuse one with more bytes than `most`."""
    try:
        content = read_bounded_json(folder / RELEASE, most)
    except (FileNotFoundError, NotADirectoryError) as error:
        todo = f"Give the folder of a release ({TABLES}/, {RELEASE})."
        raise ReleaseError.at(folder, f"holds no {RELEASE}", todo) from error
    except OSError as error:
        what = f"has a {RELEASE} that cannot be read ({error.strerror})"
        raise ReleaseError.at(folder, what, "Check the path and its permissions.") from error
    except UnreadableFileError as error:
        raise ReleaseError.at(folder, f"has a {RELEASE} that {error.what}", AGAIN) from error
    if not isinstance(content, dict) or (content.get("schema"), content.get("kind")) != (SCHEMA, KIND):
        raise ReleaseError.at(folder, f"has a {RELEASE} of another kind than {SCHEMA}", AGAIN)
    _check_entries(folder, content, ENTRIES, "")
    _check_noise(folder, content["noise"])
    _check_files(folder, content["files"])
    return content


def _check_noise(folder: Path, told: dict[str, Any]) -> None:
    _check_entries(folder, told, {name: kind for name, kind in NOISE_ENTRIES.items() if name in told}, "noise.")
    if "privacy" in told:
        _check_entries(folder, told["privacy"], PRIVACY_ENTRIES, "noise.privacy.")
    for name, least in (("typical_noise", 0), ("smallest_published", 1)):
        if not least <= told.get(name, least) < math.inf:
            raise _wrong(folder, f"noise.{name} is less than {least} or endless")
    if not math.isfinite(told.get("mean_noise", 0)):
        raise _wrong(folder, "noise.mean_noise is not finite")


def _check_files(folder: Path, entries: list[Any]) -> None:
    seen = set()
    for number, entry in enumerate(entries):
        _check_file(folder, entry, f"files[{number}]")
        if entry["id"] in seen:
            raise _wrong(folder, f"files[{number}].id is there twice")
        seen.add(entry["id"])


def _check_file(folder: Path, entry: object, where: str) -> None:
    if not isinstance(entry, dict):
        raise _wrong(folder, f"{where} is not {WORDS[dict]}")
    _check_entries(folder, entry, FILE_ENTRIES, f"{where}.")
    # A description may come from elsewhere; it must not lead out of its folder.
    path = PurePosixPath(entry["file"])
    if path.is_absolute() or ".." in path.parts:
        raise _wrong(folder, f"{where}.file is not in the release")


def _check_entries(folder: Path, content: dict[str, Any], wanted: Mapping[str, Kind], where: str) -> None:
    for name, kind in wanted.items():
        if name not in content:
            raise _wrong(folder, f"{where}{name} is missing")
        # In Python true and false are whole numbers too.
        if not isinstance(content[name], kind) or isinstance(content[name], bool):
            raise _wrong(folder, f"{where}{name} is not {WORDS[kind]}")


def _wrong(folder: Path, what: str) -> ReleaseError:
    return ReleaseError.at(folder, f"has a {RELEASE} in which {what}", AGAIN)
