"""Share of faults that the tests detect: one statement is changed at a time, and its room's tests run until one fails.

    python -m benchmarks.mutations [TREE ...] [--number 80] [--seed 1] [--seconds 90] [--out FILE]

Statements are drawn from those that occur exactly once in every tree, so that two commits are compared on the same
faults. A tree is a checkout with `src` and `tests`; it is changed while this runs and restored after every fault.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import json
import multiprocessing
import os
import random
import resource
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOMS = ("noise", "tabulation", "protection", "risk")
EARLIER = {"cells": "tabulation", "mechanisms": "protection"}
"""Former names of rooms, with their present names."""
INSTALLED = "test_an_entry_point_appears_in_the_command"
"""Name of tests that run the installed package instead of the tree."""
OTHER = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
    "//": "*", "**": "*", "+=": "-=", "-=": "+=", "and": "or", "or": "and", "True": "False", "False": "True",
    "min": "max", "max": "min", "any": "all", "all": "any", "not": "", "ceil": "floor", "floor": "ceil",
}  # fmt: skip


def statements(tree: Path) -> dict[str, tuple[Path, int]]:
    """Return mutable one-line statements that occur once, by their text."""
    found: list[tuple[str, Path, int]] = []
    for path in sorted((tree / "src" / "discreet").rglob("*.py")):
        room = path.relative_to(tree / "src" / "discreet").parts[0]
        if EARLIER.get(room, room) not in ROOMS:
            continue
        lines = path.read_text().splitlines()
        found += [
            (lines[node.lineno - 1].strip(), path, node.lineno)
            for node in ast.walk(ast.parse("\n".join(lines)))
            if isinstance(node, ast.If | ast.While | ast.Assign | ast.AugAssign | ast.Return)
        ]
    times = Counter(text for text, _, _ in found)
    return {text: (path, line) for text, path, line in found if times[text] == 1 and changed(text) != text}


def changed(text: str) -> str:
    """Return a statement with one operator, word or number changed; always the same one."""
    header = text.startswith(("if ", "while ", "elif "))
    if header and not text.endswith(":"):
        return text
    places = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.removeprefix("el")).readline):
            if token.type == tokenize.NUMBER and token.string.isdigit():
                places.append((token.start[1], token.end[1], str(int(token.string) + 1)))
            elif token.type in (tokenize.OP, tokenize.NAME) and token.string in OTHER:
                places.append((token.start[1], token.end[1], OTHER[token.string]))
    except (tokenize.TokenError, IndentationError):
        pass
    for begin, end, other in random.Random(text).sample(places, len(places)):  # noqa: S311 - a draw of faults
        short = text.removeprefix("el")
        new = text[: len(text) - len(short)] + short[:begin] + other + short[end:]
        try:
            ast.parse(new.removeprefix("el") + (" pass" if header else ""))
        except SyntaxError:
            continue
        return new
    return text


def noticed(tree: Path, path: Path, line: int, seconds: int) -> str:
    """Change a statement, run the tests of its room, and return the outcome; line 0 changes nothing."""
    original = path.read_text()
    lines = original.splitlines(keepends=True)
    if line:
        text = lines[line - 1].strip()
        lines[line - 1] = lines[line - 1].replace(text, changed(text))
    path.write_text("".join(lines))
    room = path.relative_to(tree / "src" / "discreet").parts[0]
    own = tree / "tests" / room / f"test_{path.stem}.py"
    where = [*([own] if own.exists() else []), tree / "tests" / room]
    try:
        child = multiprocessing.get_context("fork").Process(target=_run_tests, args=(tree, where, seconds))
        child.start()
        child.join(4 * seconds)
        if child.is_alive():
            child.kill()
            child.join()
        return {0: "not noticed", 1: "noticed", 2: "noticed"}.get(child.exitcode or 0, "no answer")
    finally:
        path.write_text(original)


def _run_tests(tree: Path, where: list[Path], seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(tree)
    sys.path[:0] = [str(tree / "src"), str(tree)]
    os.environ["PYTHONPATH"] = str(tree / "src")
    import pytest

    quick = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", "-k", f"not {INSTALLED}"]
    os._exit(pytest.main([*quick, *map(str, where)]))


def main() -> None:
    """Draw faults, test each in every tree, and print the share detected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", nargs="*", type=Path, default=[Path()])
    parser.add_argument("--number", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=90, help="limit of processor time for one fault")
    parser.add_argument("--out", type=Path, help="JSON, one object per fault")
    options = parser.parse_args()
    for name in ("altair", "duckdb", "pandas", "pyarrow.parquet", "pytest", "scipy.stats"):
        importlib.import_module(name)  # Once, for all children.

    trees = [tree.resolve() for tree in options.trees]
    places = [statements(tree) for tree in trees]
    shared = sorted(set.intersection(*map(set, places)))
    drawn = random.Random(options.seed).sample(shared, min(options.number, len(shared)))  # noqa: S311 - a draw of faults
    for tree, place in zip(trees, places, strict=True):
        for path in {path.parent: path for path, _ in place.values()}.values():
            if noticed(tree, path, 0, options.seconds) == "noticed":
                sys.exit(f"A test of {path.parent} fails without a fault.")
    found = []
    for text in drawn:
        fates = [noticed(tree, *place[text], options.seconds) for tree, place in zip(trees, places, strict=True)]
        where = str(places[-1][text][0].relative_to(trees[-1]))
        found.append({"file": where, "statement": text, "fault": changed(text), "fates": fates})
        print(f"{' | '.join(fates)}: {where}: {text} -> {changed(text)}", flush=True)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1))
    for number, tree in enumerate(trees):
        count = sum(each["fates"][number] == "noticed" for each in found)
        print(f"{tree}: {count} of {len(found)} faults detected; {len(shared)} statements to draw from")


if __name__ == "__main__":
    main()
