"""Limits for reading untrusted files: file type, size, nesting depth and length of numbers."""

from __future__ import annotations

import errno
import gzip
import io
import json
import math
import os
import stat
import tomllib
from typing import TYPE_CHECKING, Any

from discreet.errors import UnreadableFileError

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET
    from pathlib import Path

MAX_JSON_BYTES = 1 << 26
"""Maximum size of a JSON file that the user did not name, such as the record of another release in the same folder."""
MAX_RELEASE_BYTES = 1 << 30
"""Maximum size of record.json and of release.json. A record needs about 120 bytes for every area, and twice as many
if missing values have a category."""
MAX_TEXT_BYTES = 1 << 26
"""Maximum size of other text files, such as programmes and p-tables. The ONS p-table with 4,096 keys has 36 MB."""
MAX_DEPTH = 100
"""Maximum nesting depth of objects, lists and elements."""
MAX_DIGITS = 100
"""Maximum number of characters of one number."""
STEP = 1 << 16
"""Bytes per read call beyond the size that the file system reports."""
MAX_THREADS = 1024
"""Maximum number of threads of a run."""


def read_bounded(path: Path, most: float = MAX_JSON_BYTES) -> bytes:
    """Return the bytes of a regular file.

    Other kinds of files are refused: reading a pipe would block until something writes to it, and a device may be
    endless.

    Args:
        path: the file.
        most: the maximum size in bytes; `math.inf` for no limit.

    Raises:
        OSError: if the system cannot read the file.
        UnreadableFileError: if it is not a regular file, or is larger than `most`.
    """
    _check_regular(path, path.stat(), most)
    # The path may have been replaced in the meantime: open without blocking, and check again.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        _check_regular(path, status, most)
        content = file.read(status.st_size + 1)
        # The file may also grow during reading, or have more bytes than its status states.
        while len(content) <= most and (more := file.read(STEP)):
            content += more
    if len(content) > most:
        raise _too_large(path, most)
    return content


def bounded_json(content: bytes | str, path: Path) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON text.

    Args:
        content: the text, or its bytes in UTF-8.
        path: the path of the file, for messages.

    Raises:
        UnreadableFileError: if the content is not JSON in UTF-8, is nested too deeply, or has a number that is too long
            or too large.
    """

    def number(digits: str) -> int | float:
        if len(digits) > MAX_DIGITS:
            raise _too_long(path)
        value = int(digits) if digits.lstrip("-").isdecimal() else float(digits)
        if math.isinf(value):
            raise UnreadableFileError.at(path, "has a number that is too large")
        return value

    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        found = json.loads(text, parse_int=number, parse_float=number)
    except UnicodeDecodeError as error:
        raise UnreadableFileError.at(path, "is not text in UTF-8") from error
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError as error:
        raise UnreadableFileError.at(path, f"is not JSON ({error})") from error
    check_depth(found, path)
    return found


def read_bounded_json(path: Path, most: float = MAX_JSON_BYTES) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of a JSON file; see `read_bounded` and `bounded_json`."""
    return bounded_json(read_bounded(path, most), path)


def read_named(path: Path, most: int = MAX_TEXT_BYTES) -> bytes:
    """Return the bytes of a file that the user names; it may be a pipe.

    Raises:
        OSError: if the system cannot read the file.
        UnreadableFileError: if the file is larger than `most`.
    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(path, most)
    return content


def unzipped(content: bytes, path: Path, most: int = MAX_TEXT_BYTES) -> bytes:
    """Return decompressed gzip content, or refuse more than `most` bytes: a small file can expand beyond any memory."""
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise _too_large(path, most)
    return found


def bounded_toml(text: str, path: Path) -> dict[str, Any]:
    """Return the content of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: if the text is not TOML.
        UnreadableFileError: if the text is nested too deeply, or has a number that is too long or too large.
    """

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value) and "inf" not in digits:
            raise UnreadableFileError.at(path, "has a number that is too large")
        return value

    try:
        found = tomllib.loads(text, parse_float=number)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise _too_deep(path) from error
    except ValueError as error:
        # Python refuses whole numbers of several thousand digits.
        raise _too_long(path) from error
    _check_content(found, path)
    return found


def bounded_yaml(text: str, path: Path) -> Any:  # noqa: ANN401 - any YAML value
    """Return the value of a YAML text; anchors and tags are refused.

    The YAML library recurses without checking the stack, so the depth is checked before it builds any object. Anchors
    let a small text expand to a large object, and tags cause arbitrary errors. No p-table uses either.

    Raises:
        yaml.YAMLError, ValueError: if the text is not YAML.
        UnreadableFileError: if the text is nested too deeply, has anchors or tags, or a number that is too long.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _too_deep(path)
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise UnreadableFileError.at(path, "has an anchor or a tag of YAML")
    found = yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe
    _check_content(found, path)
    return found


def bounded_xml(content: bytes, path: Path) -> ET.Element:
    """Return the root of an XML document; a document type is refused, because it could define entities.

    Raises:
        xml.etree.ElementTree.ParseError: if the content is not XML.
        UnreadableFileError: if the document is nested too deeply, has a document type or an unknown encoding.
    """
    import xml.etree.ElementTree as ET

    class Bounded(ET.TreeBuilder):
        depth = 0

        def start(self, tag: str, attrs: dict[str, str], /) -> ET.Element:
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise _too_deep(path)
            return super().start(tag, attrs)

        def end(self, tag: str, /) -> ET.Element:
            self.depth -= 1
            return super().end(tag)

        def doctype(self, _name: str, _public: str | None, _system: str | None) -> None:
            raise UnreadableFileError.at(path, "has a document type")

    try:
        return ET.fromstring(content, parser=ET.XMLParser(target=Bounded()))  # noqa: S314 - document types are refused, so there are no entities
    except (LookupError, ValueError) as error:
        raise UnreadableFileError.at(path, "has an unknown encoding") from error


def _check_content(content: object, path: Path) -> None:
    """Refuse content that is nested too deeply, and whole numbers of more than MAX_DIGITS digits."""
    check_depth(content, path)
    waiting = [content]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, int) and abs(item) >= 10**MAX_DIGITS:
            raise _too_long(path)


def check_depth(content: object, path: Path) -> None:
    """Refuse objects and lists that are nested too deeply, before any function recurses into them."""
    layer = [content]
    for _ in range(MAX_DEPTH):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not layer:
            return
    raise _too_deep(path)


def _check_regular(path: Path, status: os.stat_result, most: float) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFileError.at(path, "is not a regular file")
    if status.st_size > most:
        raise _too_large(path, most)


def _too_large(path: Path, most: float) -> UnreadableFileError:
    return UnreadableFileError.at(path, f"has more than {most:,} bytes")


def _too_deep(path: Path) -> UnreadableFileError:
    return UnreadableFileError.at(path, f"has more than {MAX_DEPTH} levels of nested objects or lists")


def _too_long(path: Path) -> UnreadableFileError:
    return UnreadableFileError.at(path, f"has a number of more than {MAX_DIGITS} digits")
