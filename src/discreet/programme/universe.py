"""The universe of a table: the records that it counts, given by conditions on topics.

    EMP = 1 and (AGE >= Y15-29 or STUDENT = 1)

A condition is one of

    TOPIC = CODE            TOPIC in (CODE, CODE, ..)       TOPIC in CODE, CODE
    TOPIC != CODE           TOPIC not in (CODE, CODE, ..)   TOPIC not in CODE, CODE
    TOPIC < CODE            TOPIC <= CODE                   TOPIC > CODE            TOPIC >= CODE

Conditions are joined by `and` and `or`; `and` binds more closely, brackets come first.
TOPIC is a topic of the programme, not a column of the data. A CODE may be any category
of the topic: a category with others below it denotes all of these. Codes and topics may
be quoted with single or double quotation marks, and must be if they contain blanks,
commas or brackets.

Comparisons use the order of the finest codes: numeric if all of them are numbers,
otherwise the order of declaration in the programme. A category with others below it
ranges from the first to the last of these. Codes that begin with `_`, such as `_U` for
a missing value, have no rank in this order and satisfy no comparison.

A universe is stored as a product of factors (`Universe.factors`): `AGE = Y and SEX = F` has
a factor for AGE and one for SEX; `AGE = Y or SEX = F` has one factor for both topics.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ProgrammeError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from discreet.arrays import Flags
    from discreet.programme.model import Programme, Table, Topic

EXAMPLE = "EMP = 1 and (AGE > Y0-14 or STUDENT = 1)"
DEEPEST_BRACKETS = 50

BLANKS = re.compile(r"\s*")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
TOPIC = re.compile(r"[^\s,()'\"=!<>]+")
# Not = at the start: otherwise the second sign in `EMP == 1` would be read as a code.
CODE = re.compile(r"[^\s,()'\"=][^\s,()]*")
# A keyword must end at a boundary: `in(1)` but not `in1`.
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
    """One condition; `in` is stored as the sign = and `not in` as the sign !=, with several codes."""

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
        """Yield all conditions in their order in the text."""
        for part in self.parts:
            yield from part.clauses()

    def conjuncts(self) -> Iterator[Clause | Joined]:
        """Yield the parts that must all hold."""
        for part in self.parts if not self.either else ():
            yield from part.conjuncts() if isinstance(part, Joined) and not part.either else (part,)
        if self.either:
            yield self


class UniverseText:
    """The text of a universe, parsed from left to right."""

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
            raise self._expected(f"at most {DEEPEST_BRACKETS} nested brackets")
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
        """Read a name with or without quotation marks."""
        quoted = self._take(QUOTED)
        if quoted is not None:
            return quoted[1:-1]
        found = self._take(bare)
        if found is None:
            opened = self.text[self.at : self.at + 1] in {"'", '"'}
            raise self._expected(f"{what} with a closing quotation mark" if opened else what)
        return found

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        """Read a match at this position with the blanks around it; return None without a match."""
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
            f"{self.text!r} cannot be read: {place} expected {what}. Example: {EXAMPLE}.",
            topic="",
        )


MOST_MEMBERS = 10**7
"""The largest array of combinations of codes that a universe may need."""
MOST_JOINED = 10
"""The largest number of topics that `or` may join."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, eq=False)
class Factor:
    """The condition of a universe on a group of topics.

    Attributes:
        topics: the names of the topics.
        allowed: an array with an axis per topic over its `finest_codes`; true for combinations in the universe.
    """

    topics: tuple[str, ...]
    allowed: Flags


@dataclass(frozen=True, eq=False)
class Universe:
    """The records that a table counts; a record is in it if it is in every factor.

    Topics of one data column have the same code for a record. The first one in the text represents all of them.

    Attributes:
        topics: the topics in the conditions, in the order of first appearance.
        factors: independent conditions; every topic is in one of them.
    """

    topics: tuple[str, ...] = ()
    factors: tuple[Factor, ...] = ()

    @cached_property
    def members(self) -> Flags:
        """Return which combinations of finest codes are in the universe, one axis per topic in the order of topics."""
        size = prod(factor.allowed.size for factor in self.factors)
        if size > MOST_MEMBERS:
            raise _too_large(self.topics, size)
        found = reduce(np.logical_and.outer, (factor.allowed for factor in self.factors), np.ones((), dtype=bool))
        order = [topic for factor in self.factors for topic in factor.topics]
        return found.transpose([order.index(topic) for topic in self.topics])

    def implies(self, factor: Factor) -> bool:
        """Return whether every member of the universe satisfies a factor of another universe."""
        possible = np.ones((), dtype=bool)
        for own in self.factors:
            summed_over = tuple(axis for axis, topic in enumerate(own.topics) if topic not in factor.topics)
            common = [topic for topic in own.topics if topic in factor.topics]
            order = sorted(range(len(common)), key=lambda axis: factor.topics.index(common[axis]))
            shape = [
                size if topic in common else 1 for topic, size in zip(factor.topics, factor.allowed.shape, strict=True)
            ]
            possible = possible & np.any(own.allowed, axis=summed_over).transpose(order).reshape(shape)
        return not bool((possible & ~factor.allowed).any())


def universe_of(programme: Programme, table: Table) -> Universe:
    """Return the universe of a table; without conditions it has no topics and contains all records."""
    return parse_universe(table.universe or "", programme, table.id)


def finest_codes(topic: Topic) -> tuple[str, ...]:
    """Return the finest codes of a topic: those without others below them, in the order of declaration."""
    if topic.tree:
        return topic.tree.leaves
    codes = topic.levels[-1].codes
    if codes is None:
        raise ProgrammeError(
            f"topic {topic.name} has no list of categories, only their number. "
            "Give its categories in the programme, or remove it from the universe.",
            topic=topic.name,
        )
    return codes


def parse_universe(text: str, programme: Programme, table: str) -> Universe:
    """Return the universe that a text describes.

    Args:
        text: the universe; the empty text selects all records, as in `Table.population`.
        programme: the programme with the topics and their categories.
        table: the id of the table, for messages.
    """
    if not text:
        return Universe()
    try:
        return _universe(UniverseText(text).expression(), text, programme)
    except UnknownNameError as error:
        what = f"Universe of table {table}: {error}"
        raise UnknownNameError(what, name=error.name, available=error.available) from error
    except ProgrammeError as error:
        raise ProgrammeError(f"Universe of table {table}: {error}", topic=error.topic) from error


def topics_named(text: str) -> frozenset[str]:
    """Return the topics in a universe, whether they exist or not; the empty set if the text cannot be parsed."""
    try:
        return frozenset(clause.topic for clause in UniverseText(text).expression().clauses())
    except ProgrammeError:
        return frozenset()


def narrowed_universe(universe: str | None, condition: str) -> str:
    """Return the text of a universe with one more condition.

    >>> narrowed_universe("SEX = F or AGE = Y", "EMP = 1")
    '(SEX = F or AGE = Y) and EMP = 1'
    """
    if not universe:
        return condition
    try:
        top = UniverseText(universe).expression()
    except ProgrammeError:  # the text with one more condition cannot be parsed either
        return f"{universe} and {condition}"
    return f"({universe}) and {condition}" if isinstance(top, Joined) and top.either else f"{universe} and {condition}"


def factored(topics: Sequence[str], allowed: Flags) -> list[Factor]:
    """Return a set of combinations of codes as the product of as many factors as possible, which is unique.

    A set is the product of its projections on two groups of topics if their sizes multiply to its own.
    """
    every = range(len(topics))
    for size in range(1, len(topics) // 2 + 1):
        for group in combinations(every, size):
            rest = tuple(axis for axis in every if axis not in group)
            first, second = np.any(allowed, axis=rest), np.any(allowed, axis=group)
            if first.sum() * second.sum() == allowed.sum():
                return [
                    *factored([topics[axis] for axis in group], first),
                    *factored([topics[axis] for axis in rest], second),
                ]
    return [Factor(tuple(topics), allowed)]


def _universe(expression: Clause | Joined, text: str, programme: Programme) -> Universe:
    first: dict[str, str] = {}
    for clause in expression.clauses():
        if clause.topic not in programme.topics:
            raise UnknownNameError.among("topic", clause.topic, programme.topics)
        first.setdefault(_column(programme.topics[clause.topic]), clause.topic)
    groups: list[tuple[set[str], list[Clause | Joined]]] = []
    for part in expression.conjuncts() if isinstance(expression, Joined) else (expression,):
        columns, parts = {_column(programme.topics[clause.topic]) for clause in part.clauses()}, [part]
        for group in [group for group in groups if not group[0].isdisjoint(columns)]:
            groups.remove(group)
            columns, parts = columns | group[0], [*group[1], *parts]
        groups.append((columns, parts))
    factors: list[Factor] = []
    for columns, parts in groups:
        axes = [column for column in first if column in columns]
        factors += _factors([programme.topics[first[column]] for column in axes], axes, parts, text, programme)
    return Universe(tuple(first.values()), tuple(factors))


def _factors(
    topics: list[Topic], columns: list[str], parts: list[Clause | Joined], text: str, programme: Programme
) -> list[Factor]:
    """Return the factors of conditions on some topics, which must all hold."""
    codes = [finest_codes(topic) for topic in topics]
    names = [topic.name for topic in topics]
    size = prod(map(len, codes))
    if size > MOST_MEMBERS or len(names) > MOST_JOINED:
        raise _too_large(names, size)

    def meaning(part: Clause | Joined) -> Flags:
        if isinstance(part, Joined):
            return reduce(operator.or_ if part.either else operator.and_, map(meaning, part.parts))
        axis = columns.index(_column(programme.topics[part.topic]))
        inside = _satisfying(part, programme.topics[part.topic])
        flags = np.array([code in inside for code in codes[axis]])
        return flags.reshape([-1 if axis == other else 1 for other in range(len(columns))])

    allowed = reduce(operator.and_, map(meaning, parts))
    if not allowed.any():
        raise ProgrammeError(
            f"no record satisfies {text!r}: the conditions exclude all categories of topic {' and '.join(names)}. "
            f"Correct the conditions on {' and '.join(names)}.",
            topic=names[0],
        )
    return factored(names, np.broadcast_to(allowed, [len(each) for each in codes]))


def _satisfying(clause: Clause, topic: Topic) -> set[str]:
    """Return the finest codes of the topic that satisfy a condition."""
    paths = {code: topic.tree.path(code) if topic.tree else (code,) for code in finest_codes(topic)}
    known = dict.fromkeys(code for path in paths.values() for code in path)
    for code in clause.codes:
        if code not in known:
            raise UnknownNameError.among(f"category of topic {topic.name} with the code", code, known)
    inside = {leaf for leaf, path in paths.items() if not set(path).isdisjoint(clause.codes)}
    if clause.sign == "=":
        return inside
    if clause.sign == "!=":
        return paths.keys() - inside
    rank = _ranks(topic)
    among = [rank[leaf] for leaf in inside if leaf in rank]
    if not among:
        raise ProgrammeError(
            f"{clause.codes[0]!r} has no rank in the order of topic {topic.name}, because it begins with _. "
            "Compare with another code.",
            topic=topic.name,
        )
    low, high = min(among), max(among)
    compare = {
        "<": lambda at: at < low,
        "<=": lambda at: at <= high,
        ">": lambda at: at > high,
        ">=": lambda at: at >= low,
    }
    return {leaf for leaf, at in rank.items() if compare[clause.sign](at)}


def _ranks(topic: Topic) -> dict[str, Fraction]:
    """Return the rank of every finest code of the topic: its number, or its position in the declaration."""
    listed = topic.tree.cut(topic.tree.depth) if topic.tree else finest_codes(topic)
    ordered = [code for code in listed if not code.startswith("_")]
    if all(NUMBER.fullmatch(code) for code in ordered):
        return {code: Fraction(code) for code in ordered}
    return {code: Fraction(place) for place, code in enumerate(ordered)}


def _column(topic: Topic) -> str:
    """Return the data column of a topic: topics of one column have the same code for a record."""
    return topic.column or topic.name


def _too_large(topics: Iterable[str], size: int) -> ProgrammeError:
    names = tuple(topics)
    return ProgrammeError(
        f"the conditions on {', '.join(names)} have {size:,} combinations of codes; the maximum is {MOST_MEMBERS:,} "
        f"combinations of {MOST_JOINED} topics. Join fewer or coarser topics by or.",
        topic=names[0],
    )
