"""The text of a universe, read from left to right into conditions; `universe` gives them their meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = "EMP = 1 and (AGE > Y0-14 or STUDENT = 1)"
DEEPEST_BRACKETS = 50

BLANKS = re.compile(r"\s*")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
TOPIC = re.compile(r"[^\s,()'\"=!<>]+")
# Not = at the start: it would make a code of the second sign in `EMP == 1`.
CODE = re.compile(r"[^\s,()'\"=][^\s,()]*")
# A word must end where it ends: `in(1)` but not `in1`.
WORD_END = r"(?![^\s('\"])"
AND, OR = (re.compile(word + WORD_END, re.IGNORECASE) for word in ("and", "or"))
# Two signs before one: `<` is the beginning of `<=`.
ONE = {sign: re.compile(sign) for sign in ("=", "!=", "<=", ">=", "<", ">")}
LIST = {
    "=": re.compile("in" + WORD_END, re.IGNORECASE),
    "!=": re.compile(r"not\s+in" + WORD_END, re.IGNORECASE),
}
COMMA, OPENING, CLOSING = re.compile(","), re.compile(r"\("), re.compile(r"\)")


@dataclass(frozen=True)
class Clause:
    """One condition as it is written; `in` is the sign = and `not in` the sign !=, with several codes."""

    topic: str
    sign: str
    codes: tuple[str, ...]

    def clauses(self) -> Iterator[Clause]:
        """Yield the condition."""
        yield self


@dataclass(frozen=True)
class Joined:
    """Parts joined by `or` (either) or by `and`."""

    either: bool
    parts: tuple[Clause | Joined, ...]

    def clauses(self) -> Iterator[Clause]:
        """Yield all conditions in the order they are written."""
        for part in self.parts:
            yield from part.clauses()

    def conjuncts(self) -> Iterator[Clause | Joined]:
        """Yield the parts that must all hold."""
        for part in self.parts if not self.either else ():
            yield from part.conjuncts() if isinstance(part, Joined) and not part.either else (part,)
        if self.either:
            yield self


class UniverseText:
    """A universe as it is written, read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def expression(self) -> Clause | Joined:
        """Return the whole text as conditions."""
        found = self._joined(0)
        if self.at < len(self.text):
            raise self._expected("the word and, the word or, or nothing more")
        return found

    def _joined(self, depth: int) -> Clause | Joined:
        """Read parts joined by `or`, each of them parts joined by `and`."""
        if depth > DEEPEST_BRACKETS:
            raise self._expected(f"at most {DEEPEST_BRACKETS} brackets one inside the other")
        either = []
        while True:
            parts = [self._part(depth)]
            while self._take(AND) is not None:
                parts.append(self._part(depth))
            either.append(parts[0] if len(parts) == 1 else Joined(either=False, parts=tuple(parts)))
            if self._take(OR) is None:
                return either[0] if len(either) == 1 else Joined(either=True, parts=tuple(either))

    def _part(self, depth: int) -> Clause | Joined:
        if self._take(OPENING) is None:
            return self._clause()
        found = self._joined(depth + 1)
        if self._take(CLOSING) is None:
            raise self._expected("a closing bracket, the word and, or the word or")
        return found

    def _clause(self) -> Clause:
        topic = self._name(TOPIC, "a topic")
        for sign, pattern in ONE.items():
            if self._take(pattern) is not None:
                return Clause(topic, sign, (self._name(CODE, "a code"),))
        for sign, pattern in LIST.items():
            if self._take(pattern) is not None:
                return Clause(topic, sign, self._codes())
        raise self._expected(f"=, !=, <, <=, >, >=, in or not in after {topic!r}")

    def _codes(self) -> tuple[str, ...]:
        bracketed = self._take(OPENING) is not None
        found = [self._name(CODE, "a code")]
        while self._take(COMMA) is not None:
            found.append(self._name(CODE, "a code"))
        if bracketed and self._take(CLOSING) is None:
            raise self._expected("a comma or a closing bracket")
        return tuple(found)

    def _name(self, bare: re.Pattern[str], what: str) -> str:
        """Read a name in quotation marks or as it stands."""
        quoted = self._take(QUOTED)
        if quoted is not None:
            return quoted[1:-1]
        found = self._take(bare)
        if found is None:
            opened = self.text[self.at : self.at + 1] in {"'", '"'}
            raise self._expected(f"{what} whose quotation mark is closed" if opened else what)
        return found

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        """Read what matches at this place, with the blanks around it, or nothing."""
        self._skip()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        self._skip()
        return found[0]

    def _skip(self) -> None:
        blanks = BLANKS.match(self.text, self.at)
        self.at = blanks.end() if blanks else self.at

    def _expected(self, what: str) -> ProgrammeError:
        rest = self.text[self.at :]
        place = f"at position {self.at + 1}, before {rest!r}," if rest else "at its end"
        return ProgrammeError(
            f"{self.text!r} cannot be read: {place} there should be {what}. Write it like this: {EXAMPLE}.",
            topic="",
        )
