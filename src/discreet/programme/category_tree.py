"""The categories of a topic as a tree, and its partitions by depth."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.errors import ProgrammeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


DEEPEST = 100


@dataclass(frozen=True)
class Category:
    """One category: its code, the code of its parent ("" for the total), and its labels by language."""

    code: str
    parent: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class CategoryTree:
    """Categories below the total; every category has one parent, and every path ends at the total.

    >>> ages = CategoryTree("AGE", (Category("Y"), Category("O"), Category("Y1", "Y"), Category("Y2", "Y")))
    >>> ages.cut(1), ages.cut(2)
    (('Y', 'O'), ('Y1', 'Y2', 'O'))
    """

    topic: str
    categories: tuple[Category, ...]

    def __post_init__(self) -> None:
        if not self.categories:
            raise ProgrammeError(f"Topic {self.topic} has no categories. Give at least one.", topic=self.topic)
        twice = [code for code, times in Counter(c.code for c in self.categories).items() if times > 1]
        if twice:
            parents = sorted({c.parent or "the total" for c in self.categories if c.code == twice[0]})
            what = f"has two parents, {' and '.join(parents)}" if len(parents) > 1 else "is given twice"
            raise ProgrammeError(
                f"Topic {self.topic}: category {twice[0]!r} {what}. Keep one line for it.", topic=self.topic
            )
        if not all(category.code for category in self.categories):
            raise ProgrammeError(f"Topic {self.topic} has a category without a code. Give it one.", topic=self.topic)
        for category in self.categories:
            if category.parent and category.parent not in self._parents:
                raise ProgrammeError.unknown_parent(self.topic, category.code, category.parent, list(self._parents))
        for category in self.categories:
            self._check_leads_up(category.code)

    def _check_leads_up(self, code: str) -> None:
        seen = [code]
        while above := self._parents[seen[-1]]:
            if above in seen:
                circle = " -> ".join([*seen[seen.index(above) :], above])
                raise ProgrammeError(
                    f"Topic {self.topic}: the parents of categories form a cycle, {circle}. Give one of them the total "
                    "as its parent (an empty parent).",
                    topic=self.topic,
                )
            seen.append(above)
        if len(seen) > DEEPEST:
            raise ProgrammeError(
                f"Topic {self.topic}: category {code!r} has depth {len(seen)}; the maximum is {DEEPEST}.",
                topic=self.topic,
            )

    @cached_property
    def _parents(self) -> dict[str, str]:
        return {category.code: category.parent for category in self.categories}

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found = defaultdict(list)
        for category in self.categories:
            found[category.parent].append(category.code)
        return dict(found)

    @cached_property
    def depth(self) -> int:
        """Return the number of levels below the total."""
        return max(len(self.path(category.code)) for category in self.categories)

    def path(self, code: str) -> tuple[str, ...]:
        """Return the codes from below the total down to a category."""
        found = [code]
        while above := self._parents[found[-1]]:
            found.append(above)
        return tuple(reversed(found))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Return the finest codes, in the order given."""
        return tuple(c.code for c in self.categories if c.code not in self._children)

    def cut(self, depth: int) -> tuple[str, ...]:
        """Return the partition at a depth: the codes at this depth and the leaves above it, in tree order."""
        if depth in self._cuts:
            return self._cuts[depth]
        found: list[str] = []

        def walk(code: str, level: int) -> None:
            below = self._children.get(code)
            if level == depth or not below:
                found.append(code)
            else:
                for child in below:
                    walk(child, level + 1)

        for code in self._children.get("", []):
            walk(code, 1)
        self._cuts[depth] = tuple(found)
        return self._cuts[depth]

    @property
    def cuts(self) -> tuple[tuple[str, ...], ...]:
        """Return the partitions at all depths, coarse to fine."""
        return tuple(self.cut(depth) for depth in range(1, self.depth + 1))

    @cached_property
    def _cuts(self) -> dict[int, tuple[str, ...]]:
        return {}

    def above(self, codes: Sequence[str], fine: Sequence[str]) -> list[int] | None:
        """Return for each fine code the position of the code that contains it; None if one has none (cached)."""
        asked = (tuple(codes), tuple(fine))
        if asked not in self._known_above:
            self._known_above[asked] = self._above(*asked)
        return self._known_above[asked]

    def _above(self, codes: tuple[str, ...], fine: tuple[str, ...]) -> list[int] | None:
        place = {code: position for position, code in enumerate(codes)}
        found = []
        for code in fine:
            containing = [place[step] for step in self.path(code) if step in place]
            if len(containing) != 1:
                return None
            found.append(containing[0])
        return found

    @cached_property
    def _known_above(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], list[int] | None]:
        return {}
