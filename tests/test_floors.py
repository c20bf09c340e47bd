"""The house stands as it is drawn: a room imports from lower floors, from home modules, and in no circle.

The import graph is read from the source, so imports inside functions and for the
type checker count too. The floors are those of CONTRIBUTING.md.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = "discreet"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE

FLOORS = (
    ("errors",),
    ("results", "whole_file", "limits", "arrays", "progress", "registry", "verdicts"),
    ("noise", "programme", "engines"),
    ("charts", "sources", "equations"),
    ("records", "synthetic"),
    ("tabulation",),
    ("mechanisms", "swapping"),
    ("release",),
    ("protection", "risk", "attacks", "accuracy"),
    ("calibration", "interactive"),
    ("reports", "paper"),
    ("cli", "web"),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}

Texts = Mapping[str, str]
"""The text of every file of the package, by its path inside it: "noise/base.py"."""

Rule = Callable[[Texts], list[str]]
"""A rule returns what breaks it, one sentence each."""


@dataclass(frozen=True)
class Import:
    """One module, or one name of a module, that a file takes from the package."""

    source: str
    target: str
    line: int
    at_import: bool

    def __str__(self) -> str:
        return f"{self.source}, line {self.line}, imports {self.target}"


class Reader(ast.NodeVisitor):
    """Collects the imports of one file: at import time, in functions, and for the type checker."""

    def __init__(self, path: str, modules: frozenset[str]) -> None:
        self.path = path
        self.modules = modules
        self.at_import = True
        self.found: list[Import] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        # One dot stands for the folder of the file, each further dot for one folder above it.
        here = [PACKAGE, *self.path.split("/")]
        start = here[: len(here) - node.level] if node.level else []
        module = ".".join([*start, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{module}.{alias.name}"
            self._add(inner if inner in self.modules else module, node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._later(node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the names are those of ast

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            self._later(node.body)
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def _later(self, body: list[ast.stmt]) -> None:
        before, self.at_import = self.at_import, False
        for statement in body:
            self.visit(statement)
        self.at_import = before

    def _add(self, target: str, node: ast.stmt) -> None:
        if f"{target}.".startswith(f"{PACKAGE}."):
            self.found.append(Import(module_name(self.path), target, node.lineno, self.at_import))


def module_name(path: str) -> str:
    return ".".join([PACKAGE, *path.removesuffix(".py").split("/")]).removesuffix(".__init__")


def room(module: str) -> str:
    """Return the room of a module; "" for the lobby of the whole package."""
    return f"{module}.".split(".")[1]


def imports(texts: Texts) -> Iterator[Import]:
    """Yield every import of the package from itself, except those of its lobby, which may import anything."""
    modules = frozenset(module_name(path) for path in texts)
    for path, text in texts.items():
        if path != "__init__.py":
            yield from read_imports(path, text, modules)


@cache
def read_imports(path: str, text: str, modules: frozenset[str]) -> list[Import]:
    """Return the imports of one file; every rule asks for those of all files."""
    reader = Reader(path, modules)
    reader.visit(ast.parse(text, path))
    return reader.found


def strangers(texts: Texts) -> list[str]:
    """Return the modules that belong to no known room."""
    return [path for path in texts if path != "__init__.py" and room(module_name(path)) not in FLOOR]


def climbs(texts: Texts) -> list[str]:
    """Return the imports from a higher floor, or from a room that is on none."""
    return [
        str(found) for found in imports(texts) if room(found.target) and _height(found.target) > _height(found.source)
    ]


def neighbours(texts: Texts) -> list[str]:
    """Return the imports from another room of the same floor."""
    return [
        str(found)
        for found in imports(texts)
        if room(found.target) != room(found.source) and _height(found.target) == _height(found.source)
    ]


def _height(module: str) -> int:
    """Return the floor of a module; an unknown room stands above them all."""
    return FLOOR.get(room(module), len(FLOORS))


def lobbies(texts: Texts) -> list[str]:
    """Return the imports from a package instead of from the home module of the name."""
    packages = {module_name(path) for path in texts if path.endswith("__init__.py")}
    return [str(found) for found in imports(texts) if found.target in packages]


def circles(texts: Texts) -> list[str]:
    """Return a circle of modules that import each other at import time, if there is one."""
    graph: dict[str, set[str]] = {}
    for found in imports(texts):
        if found.at_import:
            graph.setdefault(found.source, set()).add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" <- ".join(error.args[1])]
    return []


RULES = (strangers, climbs, neighbours, lobbies, circles)


@pytest.fixture(scope="module")
def house() -> Texts:
    return {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}


def test_every_module_belongs_to_a_known_room(house: Texts) -> None:
    assert strangers(house) == []


def test_no_room_imports_from_a_higher_floor(house: Texts) -> None:
    assert climbs(house) == []


def test_rooms_on_one_floor_do_not_import_each_other(house: Texts) -> None:
    assert neighbours(house) == []


def test_names_are_imported_from_their_home_module(house: Texts) -> None:
    assert lobbies(house) == []


def test_modules_do_not_import_each_other_in_a_circle(house: Texts) -> None:
    assert circles(house) == []


def test_the_graph_is_not_empty(house: Texts) -> None:
    found = {(each.source, each.target, each.at_import) for each in imports(house)}
    assert ("discreet.noise.distribution", "discreet.errors", True) in found
    assert ("discreet.noise.distribution", "discreet.arrays", True) in found


SOUND = {
    "__init__.py": "from discreet.noise import Noise\nfrom discreet.cli.main import main",
    "errors.py": "",
    "noise/__init__.py": "from discreet.noise.base import Noise",
    "noise/base.py": "import numpy\nfrom discreet.errors import InputError",
    "noise/laplace.py": "from .base import Noise\nfrom ..errors import InputError",
    "noise/formats/__init__.py": "",
    "noise/formats/csv.py": "from discreet.noise.base import Noise\nfrom discreet.noise import laplace",
    "programme/__init__.py": "",
    "programme/topics.py": "",
    "cli/__init__.py": "",
    "cli/main.py": "import discreet.noise.base\ndef main():\n    from discreet.programme.topics import Topic",
}

TYPING = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "


@pytest.mark.parametrize("rule", RULES)
def test_a_sound_house_breaks_no_rule(rule: Rule) -> None:
    assert rule(SOUND) == []


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (strangers, "utils.py", ""),
        (strangers, "helpers/__init__.py", ""),
        (climbs, "errors.py", "from discreet.noise.base import Noise"),
        (climbs, "errors.py", "from discreet.noise import base"),
        (climbs, "noise/base.py", "import discreet.cli.main"),
        (climbs, "noise/base.py", "def draw():\n    from discreet.cli.main import main"),
        (climbs, "noise/base.py", "class Noise:\n    async def draw(self):\n        import discreet.cli.main"),
        (climbs, "noise/base.py", TYPING + "from discreet.cli.main import main"),
        (climbs, "noise/base.py", "from ..cli.main import main"),
        (climbs, "noise/__init__.py", "from ..cli import main"),
        (climbs, "noise/base.py", "from discreet.nowhere import thing"),
        (neighbours, "programme/topics.py", "from discreet.noise.base import Noise"),
        (neighbours, "programme/topics.py", TYPING + "from discreet.noise.base import Noise"),
        (neighbours, "limits.py", "import discreet.results"),
        (lobbies, "noise/laplace.py", "from discreet.noise import Noise"),
        (lobbies, "noise/laplace.py", "from . import Noise"),
        (lobbies, "cli/main.py", "from discreet import Noise"),
        (lobbies, "cli/main.py", "import discreet"),
        (lobbies, "cli/main.py", "def main():\n    import discreet.noise as noise"),
        (circles, "noise/base.py", "from discreet.noise.laplace import Laplace"),
        (circles, "noise/base.py", "try:\n    import discreet.noise.formats.csv\nexcept ImportError:\n    pass"),
        (circles, "noise/base.py", TYPING + "pass\nelse:\n    from discreet.noise.laplace import Laplace"),
        (circles, "noise/base.py", "class Noise:\n    from discreet.noise.laplace import Laplace"),
    ],
)
def test_a_module_that_breaks_a_rule_is_caught(rule: Rule, path: str, text: str) -> None:
    assert len(rule({**SOUND, path: text})) == 1


@pytest.mark.parametrize("prefix", [TYPING, "def draw():\n    "])
def test_a_circle_counts_only_at_import_time(prefix: str) -> None:
    assert circles({**SOUND, "noise/base.py": prefix + "from discreet.noise.laplace import Laplace"}) == []
