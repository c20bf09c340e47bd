"""Write docs/reference.md: every public name with its signature and the first line of its docstring.

The classes that public functions return are listed below them, with their attributes and methods. With --check no
file is written, and an outdated page gives exit code 1.
"""

from __future__ import annotations

import inspect
import re
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import discreet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).parent / "reference.md"
BAR = r"\|"
"""An escaped bar inside a table."""
LONGEST = 100
"""Maximum length of a signature on one line, in characters."""
HEAD = """\
# Reference

Every name that can be imported from `discreet`, with its signature. `make docs` writes this page from the source.
The docstrings contain more: `help(discreet.assess)`. The [interfaces](interfaces.md) list flags, JSON keys and files.
"""
ENTRY = re.compile(r"^ {4}(?P<name>\w+): (?P<text>.*(?:\n {8}.*)*)$", re.MULTILINE)


def first_line(thing: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def entries(thing: object, heading: str) -> dict[str, str]:
    """Return the entries of one section of a docstring, by name."""
    section = inspect.cleandoc(thing.__doc__ or "").partition(f"{heading}:\n")[2].partition("\n\n")[0]
    return {match["name"]: " ".join(match["text"].split()) for match in ENTRY.finditer(section)}


def signature(name: str, thing: Callable[..., object]) -> str:
    """Return a call with its parameters, on one line or one line per parameter."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return f"{name}(...)"
    texts, keyword_only = [], False
    for each in found.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not keyword_only:
            texts.append("*")
        keyword_only = keyword_only or each.kind in {each.KEYWORD_ONLY, each.VAR_POSITIONAL}
        stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(each.kind.name, "")
        kind = "" if each.annotation is each.empty else f": {_text(each.annotation)}"
        default = "" if each.default is each.empty else f" = {_default(each.default)}"
        texts.append(f"{stars}{each.name}{kind}{default}")
    end = "" if found.return_annotation in {found.empty, None, "None"} else f" -> {_text(found.return_annotation)}"
    line = f"{name}({', '.join(texts)}){end}"
    return line if len(line) <= LONGEST else f"{name}(\n" + "".join(f"    {text},\n" for text in texts) + f"){end}"


def _text(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(value: object) -> str:
    """Return the text of a default value; the class name if the object has no representation."""
    if repr(value) == "<factory>":
        return "..."
    return f"{type(value).__name__}()" if " at 0x" in repr(value) else repr(value)


def attributes(kind: type) -> dict[str, str]:
    """Return the attributes in the docstring of a class, then its properties and methods, with a line each."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.startswith("discreet."):
            found |= entries(each, "Attributes")
    for name, member in inspect.getmembers(kind):
        if name.startswith("_") or name in found or not getattr(member, "__doc__", None):
            continue
        if inspect.isfunction(member) or inspect.ismethod(member):
            found[f"{name}()"] = first_line(member)
        elif isinstance(member, property | cached_property):
            found[name] = first_line(member)
    return found


def table(heading: str, listed: dict[str, str]) -> Iterator[str]:
    """Yield a table of names and meanings; yield nothing for an empty list."""
    if listed:
        yield f"| {heading} | meaning |\n|---|---|"
        yield "\n".join(f"| `{name}` | {text.replace('|', BAR)} |" for name, text in listed.items()) + "\n"


def described(name: str, thing: Callable[..., object], *, called: bool = True) -> Iterator[str]:
    """Yield the lines on one name, with its signature if users call it."""
    yield f"### `{name}`\n"
    yield f"{first_line(thing)} Home: `{thing.__module__}`.\n"
    if called:
        yield f"```python\n{signature(name, thing)}\n```\n"
    if isinstance(thing, type):
        yield from table("attribute", attributes(thing))
    else:
        yield from table("argument", entries(thing, "Args"))


def returned(functions: dict[str, Callable[..., object]]) -> dict[str, type]:
    """Return the classes that public functions return, except public ones."""
    found = {}
    for function in functions.values():
        name = _text(inspect.signature(function).return_annotation)
        kind = getattr(import_module(function.__module__), name, None)
        if isinstance(kind, type) and name not in discreet.HOMES and kind.__module__.startswith("discreet."):
            found[name] = kind
    return dict(sorted(found.items()))


def page() -> str:
    """Return the page."""
    names = {name: getattr(discreet, name) for name in discreet.HOMES}
    functions = {name: thing for name, thing in names.items() if not isinstance(thing, type)}
    classes = {name: thing for name, thing in names.items() if isinstance(thing, type)}
    lines = [HEAD, "## Functions\n"]
    for name, thing in functions.items():
        lines += described(name, thing)
    lines.append("## Return types\n")
    for name, thing in returned(functions).items():
        lines += described(name, thing, called=False)
    lines.append("## Classes\n")
    for name, thing in classes.items():
        lines += described(name, thing)
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Run the command line; return the exit code."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        print(f"{PAGE.name} is out of date; run `make docs`.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
