"""Structured mutations of valid files: tokens, lines, brackets and numbers of a text, bytes and numbers of a binary."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
NUMBERS = ("0", "-1", "1e400", "nan", "inf", "0x7f", "1.5", "9" * 30, "9" * 400, "9" * 5_000, "1_0", "²", "٣", "")
SNIPPETS = (
    "[" * 2_000,
    "{" * 2_000,
    "(" * 2_000,
    "- " * 2_000,
    "<a>" * 2_000,
    '"',
    "'",
    "\x00",
    "\ufeff",
    "\u2028",
    "&a *a",
    "!!int x",
    "<<: x",
    "[[a]]",
    "null",
    "true",
    "1979-05-27",
    "\r",
    "#",
    ";",
    ",,",
)
WORDS = (bytes(4), b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\x01")


def mutated(seed: bytes, number: int) -> bytes:
    """Return a file with one to four mutations, the same for the same number."""
    chance = random.Random(number)  # noqa: S311 - no secret
    try:
        text = seed.decode()
    except UnicodeDecodeError:
        for _ in range(chance.randint(1, 4)):
            seed = chance.choice(OF_BYTES)(seed, chance)
        return seed
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(OF_TEXT)(text, chance)
    return text.encode(errors="surrogatepass")


def _tokens(change: Callable[[list[str], int, random.Random], None]) -> Callable[[str, random.Random], str]:
    def apply(text: str, chance: random.Random) -> str:
        found = TOKEN.findall(text) or [""]
        change(found, chance.randrange(len(found)), chance)
        return "".join(found)

    return apply


def _number(found: list[str], _place: int, chance: random.Random) -> None:
    places = [place for place, token in enumerate(found) if token[0:1].isdigit()]
    if places:
        found[chance.choice(places)] = chance.choice(NUMBERS)


def _drop(found: list[str], place: int, _chance: random.Random) -> None:
    del found[place]


def _double(found: list[str], place: int, _chance: random.Random) -> None:
    found.insert(place, found[place])


def _other(found: list[str], place: int, chance: random.Random) -> None:
    found[place] = chance.choice(found)


def _insert(found: list[str], place: int, chance: random.Random) -> None:
    found.insert(place, chance.choice(SNIPPETS))


def _lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    how = chance.randrange(3)
    if how == 0:
        del lines[one]
    elif how == 1:
        lines.insert(one, lines[other])
    else:
        lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


OF_TEXT = (*map(_tokens, (_number, _number, _drop, _double, _other, _insert)), _lines, _cut)


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data or b"x")
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _word(data: bytes, chance: random.Random) -> bytes:
    place, word = chance.randrange(len(data) + 1), chance.choice(WORDS)
    return data[:place] + word + data[place + len(word) :]


def _piece(data: bytes, chance: random.Random) -> bytes:
    begin, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:begin] + (data[end:] if chance.random() < 0.5 else data[begin:end] * 2 + data[end:])


OF_BYTES = (_flip, _flip, _word, _word, _piece, lambda data, chance: data[: chance.randrange(len(data) + 1)])
