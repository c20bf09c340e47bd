"""The office's secret: made once, kept in a file that only its owner can read, and never shown."""

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
"""More bytes than this are no secret but some other file, named by mistake."""

MOST_READ = LONGEST_SECRET + 3
"""Bytes that are read of a file; one that has as many is refused."""

LONGEST_NAME_SHOWN = 32
"""Characters of a file's name from which on it is not shown if there is no such file."""

KEYED = "keyed:"
"""How a digest begins that was made with the secret; others are of older releases."""

FEWEST_DISTINCT = 16
"""Distinct bytes of a secret below which there is a warning."""

GROUP, OTHERS = 0o070, 0o007
"""Permission bits of a file for its group, and for everybody else."""

VARIABLE = "DISCREET_SECRET"
"""The environment variable that holds the secret where no file is named."""


def new_secret() -> bytes:
    """Return 32 random bytes as 64 hexadecimal characters, the form in which they are kept and used."""
    return secrets.token_hex(32).encode()


def write_secret(path: Path, secret: bytes) -> None:
    """Write a secret and a line end to a new file that only its owner can read.

    A file that exists is never replaced: without the old secret no earlier release could be repeated.
    """
    secret = check_secret(secret, "The secret")
    _refuse_existing(path)
    try:
        # The temporary file is private from its first moment, and the finished one is the same file.
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
        todo = "Check the folder and the space left."
        raise FileWriteError.to(path, error.strerror or "the write failed", todo) from error


def read_secret(path: Path | str | None = None) -> bytes | None:
    """Return the office's secret, as the command line reads it.

    Whitespace around the secret does not belong to it.

    Args:
        path: the file of the secret; the environment variable DISCREET_SECRET if left out, and None where that is not
            set.
    """
    given = secret_as_given(path)
    return None if given is None else bare_secret(given)


def secret_as_given(path: Path | str | None) -> bytes | None:
    """Return the same with the whitespace around it, for releases that were made with these bytes."""
    if path is not None:
        place = Path(path)
        content = _content(place)
        check_secret(content, place)
        if (mode := _mode(place)) & OTHERS:
            what = f"holds the secret, and everybody on this machine can use it (mode {mode:o})."
            raise SecretError.at(place, what, f"Run: chmod 600 {place}")
        return content
    text = os.environ.get(VARIABLE)
    if text is None:
        return None
    check_secret(os.fsencode(text), f"The environment variable {VARIABLE}")
    return os.fsencode(text)


def check_secret(secret: bytes, place: Path | str) -> bytes:
    """Return a secret without the whitespace around it, or refuse one that is no bytes, too short or too long."""
    if not isinstance(secret, bytes):
        raise SecretError.at(place, "is not bytes.", "Pass the secret as read_secret returns it.")
    secret = bare_secret(secret)
    if len(secret) < SHORTEST_SECRET:
        what = "holds no secret: it is empty." if not secret else f"is too short for a secret: {_limits()}."
        raise SecretError.at(place, what, "Use the secret of earlier releases; `discreet keys new FILE` makes one.")
    if len(secret) > LONGEST_SECRET:
        what = f"is too long for a secret: {_limits()}."
        raise SecretError.at(place, what, "Check that the right file was named.")
    return secret


def secret_check(secret: bytes) -> str:
    """Return a digest by which the curator can tell two secrets apart; keys are made with other hashes."""
    return hashlib.blake2b(digest_size=8, key=secret_material(secret), person=b"discreet.check").hexdigest()


def keyed_digest(text: str, secret: bytes) -> str:
    """Return a digest of a text that nobody without the secret can compute, and so find the text by trying.

    >>> keyed_digest("sha256:00", b"a secret of the office")
    'keyed:22e906bed74d40fb173b278411b3400a'
    """
    digest = hashlib.blake2b(text.encode(), digest_size=16, key=secret_material(secret), person=b"discreet.digest")
    return f"{KEYED}{digest.hexdigest()}"


def secret_warnings(secret: bytes | None, path: Path | str | None) -> list[str]:
    """Return what is wrong with a secret that is used nonetheless: few distinct bytes, or a file open to its group.

    A secret in hexadecimal digits has as many distinct bytes as what they stand for.

    Args:
        secret: the secret, if one was read.
        path: its file, if it came from one.
    """
    found = []
    if path is not None and _mode(Path(path)) & GROUP:
        found.append(f"{path} holds the secret, and its group can read it. Run: chmod 600 {path}")
    if secret is not None and _distinct(bare_secret(secret)) < FEWEST_DISTINCT:
        found.append(
            f"The secret has fewer than {FEWEST_DISTINCT} distinct bytes and may be guessed. Make one for new data: "
            "`discreet keys new FILE`. Keep this one to repeat earlier releases."
        )
    return found


def _distinct(secret: bytes) -> int:
    try:
        return max(len(set(secret)), len(set(bytes.fromhex(secret.decode("ascii")))))
    except ValueError:
        return len(set(secret))


def _mode(path: Path) -> int:
    """Return the permission bits of a regular file; 0 for a pipe from a vault, and where the system has none."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return 0
    return stat.S_IMODE(mode) if os.name == "posix" and stat.S_ISREG(mode) else 0


def _limits() -> str:
    return f"one has from {SHORTEST_SECRET} to {LONGEST_SECRET} bytes"


def _content(path: Path) -> bytes:
    """Return what a file holds, or its beginning where that is too much already."""
    todo = "Check the path, or make a secret with `discreet keys new FILE`."
    try:
        if path.is_dir():
            raise SecretError.at(path, "is a folder, not the file of a secret.", todo)
        with path.open("rb") as file:
            content = file.read(MOST_READ)
    except OSError as error:
        what = f"cannot be read as the file of a secret: {error.strerror or 'the path is not usable'}."
        # A name as long as a secret may be the secret itself, given in place of its file.
        shown = path if len(path.name) < LONGEST_NAME_SHOWN else "What was named"
        raise SecretError.at(shown, what, todo) from error
    # What is left unread could be anything, so only a file that was read to its end is stripped.
    return content if len(content) < MOST_READ else SecretAsGiven(content)


def _refuse_existing(path: Path) -> None:
    """Refuse before any work what writing would refuse after it; the name of a broken link is taken, too."""
    try:
        check_unpublished(path)
        if path.is_symlink() or path.exists():
            raise _existing(path)
        if not path.absolute().parent.is_dir():
            raise FileWriteError.to(path, "its folder does not exist", "Make the folder, or choose another.")
    except OSError as error:
        raise FileWriteError.to(path, error.strerror or "the path is not usable", "Choose another name.") from error


def _existing(path: Path) -> SecretError:
    what = "exists already and was left as it is: a secret that is overwritten makes earlier releases unrepeatable."
    return SecretError.at(path, what, "Choose another name.")


def _move_to_new(source: Path, target: Path) -> None:
    """Give a file its name, unless another file got that name in the meantime."""
    try:
        # A link, unlike a move, fails where the name is taken.
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems know no links; between this look and the move lies the one gap that is left.
        if target.is_symlink() or target.exists():
            raise FileExistsError from None
        source.rename(target)
