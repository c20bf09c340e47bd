"""The universe of a table: which records it counts, as conditions on topics.

    EMP = 1 and AGE not in (Y0-14, '65 and over')

Conditions are joined by `and`; a record must satisfy all of them. A condition is one of

    TOPIC = CODE            TOPIC in (CODE, CODE, ..)       TOPIC in CODE, CODE
    TOPIC != CODE           TOPIC not in (CODE, CODE, ..)   TOPIC not in CODE, CODE

TOPIC is a topic of the programme, not a column of the data. A CODE may be any category
of it: one with others below it stands for all of these. Codes and topics may stand in
single or double quotation marks, and must where they hold blanks, commas or parentheses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from discreet.programme.model import Programme, Topic

EXAMPLE = "EMP = 1 and AGE not in (Y0-14, '65 and over')"

BLANKS = re.compile(r"\s*")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
TOPIC = re.compile(r"[^\s,()'\"=!]+")
# Not = at the start: it would make a code of the second sign in `EMP == 1`.
CODE = re.compile(r"[^\s,()'\"=][^\s,()]*")
# A word must end where it ends: `in(1)` but not `in1`.
AND = re.compile(r"and(?![^\s('\"])", re.IGNORECASE)
# What the operator is, and whether it takes the codes out.
ONE = {re.compile(r"="): False, re.compile(r"!="): True}
LIST = {
    re.compile(r"in(?![^\s('\"])", re.IGNORECASE): False,
    re.compile(r"not\s+in(?![^\s('\"])", re.IGNORECASE): True,
}
COMMA, OPENING, CLOSING = re.compile(","), re.compile(r"\("), re.compile(r"\)")


@dataclass(frozen=True)
class Condition:
    """The finest codes of one topic that a record may have."""

    topic: str
    codes: frozenset[str]


def parse_universe(text: str, programme: Programme, table: str) -> tuple[Condition, ...]:
    """Return the conditions of a universe, one per topic in the order of their first mention.

    Args:
        text: the universe; the empty text is everyone, as in `Table.population`.
        programme: where the topics and their categories stand.
        table: the id of the table, for messages.
    """
    if not text:
        return ()
    allowed: dict[str, frozenset[str]] = {}
    for clause in _Reading(text, table).clauses():
        codes = _satisfying(clause, programme, table)
        allowed[clause.topic] = allowed.get(clause.topic, codes) & codes
        if not allowed[clause.topic]:
            raise ProgrammeError(
                f"Universe of table {table}: no record can be in it, for {text!r} leaves no category of topic "
                f"{clause.topic}. Correct the conditions on {clause.topic}.",
                topic=clause.topic,
            )
    return tuple(Condition(topic, codes) for topic, codes in allowed.items())


def topics_named(text: str) -> frozenset[str]:
    """Return the topics that a universe names, whether they exist or not; none where it cannot be read."""
    try:
        return frozenset(clause.topic for clause in _Reading(text, "").clauses())
    except ProgrammeError:
        return frozenset()


@dataclass(frozen=True)
class _Clause:
    """One condition as it is written."""

    topic: str
    codes: tuple[str, ...]
    negated: bool


class _Reading:
    """A universe, read from left to right."""

    def __init__(self, text: str, table: str) -> None:
        self.text = text
        self.table = table
        self.at = 0

    def clauses(self) -> list[_Clause]:
        """Return all conditions in the order they are written."""
        found = [self._clause()]
        while self._take(AND) is not None:
            found.append(self._clause())
        if self.at < len(self.text):
            raise self._expected("the word and, or nothing more")
        return found

    def _clause(self) -> _Clause:
        topic = self._name(TOPIC, "a topic")
        for sign, negated in ONE.items():
            if self._take(sign) is not None:
                return _Clause(topic, (self._name(CODE, "a code"),), negated)
        for word, negated in LIST.items():
            if self._take(word) is not None:
                return _Clause(topic, self._codes(), negated)
        raise self._expected(f"=, !=, in or not in after {topic!r}")

    def _codes(self) -> tuple[str, ...]:
        bracketed = self._take(OPENING) is not None
        found = [self._name(CODE, "a code")]
        while self._take(COMMA) is not None:
            found.append(self._name(CODE, "a code"))
        if bracketed and self._take(CLOSING) is None:
            raise self._expected("a comma or a closing parenthesis")
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
            f"Universe of table {self.table}: {self.text!r} cannot be read: {place} there should be {what}. "
            f"Write it like this: {EXAMPLE}.",
            topic="",
        )


def _satisfying(clause: _Clause, programme: Programme, table: str) -> frozenset[str]:
    """Return the finest codes of the topic that satisfy a condition."""
    if clause.topic not in programme.topics:
        raise _unknown("topic", clause.topic, programme.topics, table)
    paths = _paths(programme.topics[clause.topic], table)
    known = dict.fromkeys(code for path in paths.values() for code in path)
    for code in clause.codes:
        if code not in known:
            raise _unknown(f"category of topic {clause.topic} with the code", code, known, table)
    inside = {leaf for leaf, path in paths.items() if not set(path).isdisjoint(clause.codes)}
    return frozenset(paths.keys() - inside if clause.negated else inside)


def _paths(topic: Topic, table: str) -> dict[str, tuple[str, ...]]:
    """Return for every finest code the codes that contain it, itself among them."""
    if topic.tree:
        return {leaf: topic.tree.path(leaf) for leaf in topic.tree.leaves}
    codes = topic.levels[-1].codes
    if codes is None:
        raise ProgrammeError(
            f"Universe of table {table}: topic {topic.name} has no list of categories, only their number. "
            "Give its categories in the programme, or leave it out of the universe.",
            topic=topic.name,
        )
    return {code: (code,) for code in codes}


def _unknown(kind: str, name: str, available: Iterable[str], table: str) -> UnknownNameError:
    found = UnknownNameError.among(kind, name, available)
    return UnknownNameError(f"Universe of table {table}: {found}", name=found.name, available=found.available)
