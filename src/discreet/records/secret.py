"""The office's secret: created once, stored in a file that only its owner can read, and never displayed."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
from pathlib import Path

from discreet.errors import FileWriteError, SecretError
from discreet.noise.key_lookup import SHORTEST_SECRET, SecretAsGiven, bare_secret, secret_material
from discreet.whole_file import check_unpublished, sync

LONGEST_SECRET = 4096
"""Maximum number of bytes of a secret; a larger file is probably another file, specified by mistake."""

MOST_READ = LONGEST_SECRET + 3
"""Number of bytes that are read; a file with this many bytes or more is refused."""

LONGEST_NAME_SHOWN = 32
"""Length of a file name from which on messages about a missing file omit it."""

KEYED = "keyed:"
"""Prefix of digests that are keyed with the secret; digests of older releases do not have it."""

FEWEST_DISTINCT = 16
"""Minimum number of distinct bytes of a secret without a warning."""

GROUP, OTHERS = 0o070, 0o007
"""Permission bits of a file for its group, and for all other users."""

VARIABLE = "DISCREET_SECRET"
"""The environment variable with the secret, used if no file is specified."""


def new_secret() -> bytes:
    """Return 32 random bytes as 64 hexadecimal characters, the form in which the secret is stored and used."""
    return secrets.token_hex(32).encode()


def write_secret(path: Path, secret: bytes) -> None:
    """Write a secret and a line end to a new file that only its owner can read.

    An existing file is never overwritten: without the old secret, earlier releases could not be repeated.
    """
    secret = check_secret(secret, "The secret")
    _refuse_existing(path)
    try:
        # mkstemp creates the file with mode 600, and the finished file is the same file.
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.absolute().parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secret + b"\n")
            sync(Path(name))
            _move_to_new(Path(name), path)
            sync(path.absolute().parent)
        finally:
            Path(name).unlink(missing_ok=True)
    except FileExistsError as error:
        raise _existing(path) from error
    except OSError as error:
        todo = "Check the folder and the free space."
        raise FileWriteError.to(path, error.strerror or "the write failed", todo) from error


def read_secret(path: Path | str | None = None) -> bytes | None:
    """Return the office's secret without surrounding whitespace, or None.

    Args:
        path: the file of the secret; by default the environment variable DISCREET_SECRET is read.
    """
    given = secret_as_given(path)
    return None if given is None else bare_secret(given)


def secret_as_given(path: Path | str | None) -> bytes | None:
    """Return the secret with surrounding whitespace, for releases that were made with these bytes."""
    if path is not None:
        place = Path(path)
        content = _content(place)
        check_secret(content, place)
        if (mode := _mode(place)) & OTHERS:
            what = f"contains the secret, but all users of this machine have access to it (mode {mode:o})."
            raise SecretError.at(place, what, f"Run: chmod 600 {place}")
        return content
    text = os.environ.get(VARIABLE)
    if text is None:
        return None
    check_secret(os.fsencode(text), f"The environment variable {VARIABLE}")
    return os.fsencode(text)


def check_secret(secret: bytes, place: Path | str) -> bytes:
    """Return a secret without surrounding whitespace, or refuse one that is not bytes, too short or too long."""
    if not isinstance(secret, bytes):
        raise SecretError.at(place, "is not bytes.", "Pass the secret as read_secret returns it.")
    secret = bare_secret(secret)
    if len(secret) < SHORTEST_SECRET:
        what = "contains no secret: it is empty." if not secret else f"is too short for a secret: {_limits()}."
        raise SecretError.at(
            place, what, "Use the secret of earlier releases, or create one: `discreet keys new FILE`."
        )
    if len(secret) > LONGEST_SECRET:
        what = f"is too long for a secret: {_limits()}."
        raise SecretError.at(place, what, "Check the path of the file.")
    return secret


def secret_check(secret: bytes) -> str:
    """Return a digest that identifies a secret; it is independent of the hashes for keys."""
    return hashlib.blake2b(digest_size=8, key=secret_material(secret), person=b"discreet.check").hexdigest()


def keyed_digest(text: str, secret: bytes) -> str:
    """Return a keyed digest of a text; without the secret, an attacker cannot find the text by exhaustive search.

    >>> keyed_digest("sha256:00", b"a secret of the office")
    'keyed:22e906bed74d40fb173b278411b3400a'
    """
    digest = hashlib.blake2b(text.encode(), digest_size=16, key=secret_material(secret), person=b"discreet.digest")
    return f"{KEYED}{digest.hexdigest()}"


def secret_warnings(secret: bytes | None, path: Path | str | None) -> list[str]:
    """Return warnings about a valid secret: few distinct bytes, or a file that is accessible to its group.

    For a secret in hexadecimal digits, the encoded bytes are counted.

    Args:
        secret: the secret, or None.
        path: the file of the secret; None if it was not read from a file.
    """
    found = []
    if path is not None and _mode(Path(path)) & GROUP:
        found.append(f"{path} contains the secret, but its group has access to it. Run: chmod 600 {path}")
    if secret is not None and _distinct(bare_secret(secret)) < FEWEST_DISTINCT:
        found.append(
            f"The secret has fewer than {FEWEST_DISTINCT} distinct bytes and may be guessed. Create a new one for new "
            "data: `discreet keys new FILE`. Keep the old one to repeat earlier releases."
        )
    return found


def _distinct(secret: bytes) -> int:
    try:
        return max(len(set(secret)), len(set(bytes.fromhex(secret.decode("ascii")))))
    except ValueError:
        return len(set(secret))


def _mode(path: Path) -> int:
    """Return the permission bits of a regular file; 0 for a pipe, or if the system has no permission bits."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return 0
    return stat.S_IMODE(mode) if os.name == "posix" and stat.S_ISREG(mode) else 0


def _limits() -> str:
    return f"it must have {SHORTEST_SECRET} to {LONGEST_SECRET} bytes"


def _content(path: Path) -> bytes:
    """Return the content of a file, or its beginning if it is too long for a secret."""
    todo = "Check the path, or create a secret with `discreet keys new FILE`."
    try:
        if path.is_dir():
            raise SecretError.at(path, "is a folder, not the file of a secret.", todo)
        with path.open("rb") as file:
            content = file.read(MOST_READ)
    except OSError as error:
        what = f"cannot be read as the file of a secret: {error.strerror or 'the path is not usable'}."
        # A long name may be the secret itself, specified instead of its file.
        shown = path if len(path.name) < LONGEST_NAME_SHOWN else "The specified path"
        raise SecretError.at(shown, what, todo) from error
    # Strip whitespace only from a file that was read completely.
    return content if len(content) < MOST_READ else SecretAsGiven(content)


def _refuse_existing(path: Path) -> None:
    """Refuse a path that exists already (even as a broken link), is in a published folder, or has no folder."""
    try:
        check_unpublished(path)
        if path.is_symlink() or path.exists():
            raise _existing(path)
        if not path.absolute().parent.is_dir():
            raise FileWriteError.to(path, "its folder does not exist", "Create the folder, or choose another.")
    except OSError as error:
        raise FileWriteError.to(path, error.strerror or "the path is not usable", "Choose another name.") from error


def _existing(path: Path) -> SecretError:
    what = "exists already and was not changed: without the old secret, earlier releases cannot be repeated."
    return SecretError.at(path, what, "Choose another name.")


def _move_to_new(source: Path, target: Path) -> None:
    """Rename a file, unless the new name has been created in the meantime."""
    try:
        # Linking, unlike renaming, fails if the name exists.
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no links. A race between this check and the rename remains.
        if target.is_symlink() or target.exists():
            raise FileExistsError from None
        source.rename(target)
