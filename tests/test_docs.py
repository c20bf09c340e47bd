"""The documents show what the examples print today, and the tool that sees to it works."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import discreet
from tests.quick import rows_in

if TYPE_CHECKING:
    from types import ModuleType

    from _pytest.mark.structures import ParameterSet

ROOT = Path(__file__).parents[1]
REFRESH = ROOT / "docs" / "refresh.py"
MARKS = ("```console", "<!-- run -->")
"""What begins an example that is run."""

DOCUMENT = """\
# A page

<!-- run -->
```python
total = 1 + 1
print(total)
```

<!-- output -->
```text
2
```

<!-- run -->

```python
print(total + 1)
```

<!-- output -->

```text
3
```

```python
raise SystemError("blocks without the mark are not run")
```

````markdown
<!-- output -->
```text
a longer fence shows a block as it is
```
````
"""


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    return loaded("refresh")


def loaded(name: str) -> ModuleType:
    """Return a script of the documents as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(REFRESH), *arguments], capture_output=True, encoding="utf-8", check=False
    )


def console(command: str, output: str = "") -> str:
    return f"```console\n$ {command}\n{output}```\n"


LONG = (
    "README.md",
    "docs/results/",
    "docs/tutorials/",
    *(
        f"docs/{name}.md"
        for name in (
            "concepts/keys",
            "concepts/mechanisms",
            "concepts/risk",
            "how-to/attacks",
            "how-to/databases",
            "how-to/design",
            "how-to/inputs",
            "how-to/office",
            "how-to/paper",
            "how-to/programmes",
            "how-to/protect",
            "how-to/report",
            "how-to/synthetic",
            "how-to/utility",
        )
    ),
)
"""Documents that take long: they make releases."""


def with_examples() -> list[ParameterSet]:
    """Return the documents that have something to run, one test each, so that they run side by side.

    Pages of results compute for long, and some guides make several releases; `make docs`, a part of `.ci/run`, runs
    them as well.
    """
    paths = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    found = [path for path in paths if any(mark in path.read_text(encoding="utf-8") for mark in MARKS)]
    return [
        pytest.param(path, id=name, marks=[pytest.mark.slow] if name.startswith(LONG) else [])
        for path, name in ((path, path.relative_to(ROOT).as_posix()) for path in found)
    ]


@pytest.mark.parametrize("path", with_examples())
def test_every_document_is_up_to_date(path: Path) -> None:
    done = run("--check", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reference_is_up_to_date(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reference = loaded("reference")
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == reference.page(), "run `make docs`"
    monkeypatch.setattr(reference, "PAGE", tmp_path / "reference.md")
    (tmp_path / "reference.md").write_text("# Reference\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["reference.py", "--check"])
    assert reference.main() == 1
    monkeypatch.setattr(sys, "argv", ["reference.py"])
    assert reference.main() == 0
    assert (tmp_path / "reference.md").read_text(encoding="utf-8") == reference.page()


def test_the_reference_has_every_public_name_with_a_sentence() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    for name in discreet.HOMES:
        section = text.split(f"### `{name}`\n", 1)[1].split("\n### ", 1)[0]
        assert re.match(r"\n[A-Z`].+\. Home: `discreet\.", section), name
        assert f"\n{name}(" in section


def test_a_true_document_stays_as_it_is(refresh: ModuleType) -> None:
    assert refresh.refreshed(DOCUMENT) == DOCUMENT


def test_an_outdated_block_is_found_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    stale = DOCUMENT.replace("\n3\n", "\n4\n")
    path.write_text(stale, encoding="utf-8")
    done = run("--check", str(path))
    line = stale[: stale.index("\n4\n")].count("\n") + 1
    assert done.returncode == 1
    assert f"page.md:{line}: this block is out of date" in done.stdout
    assert done.stdout.count("out of date") == 1
    assert path.read_text(encoding="utf-8") == stale


def test_a_rewrite_mends_a_document_and_changes_nothing_the_second_time(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(DOCUMENT.replace("\n2\n", "\n").replace("\n3\n", "\nstale\nlines\n"), encoding="utf-8")
    for _ in range(2):
        assert run(str(path)).returncode == 0
        assert path.read_text(encoding="utf-8") == DOCUMENT


def test_output_of_a_command_is_replaced_and_the_rest_of_the_block_kept(refresh: ModuleType) -> None:
    block = "```console\n$ make demo\nas written\n$ discreet --help \\\n  > help.txt\nstale\n```\n"
    assert refresh.refreshed(block) == block.replace("stale\n", "")


@pytest.mark.slow
def test_commands_of_a_document_share_a_folder_and_show_their_exit_code(refresh: ModuleType) -> None:
    first = console("discreet --help > help.txt")
    second = console("discreet --help | cmp - help.txt && echo same", "same\n")
    third = console("discreet no-such-command >> help.txt 2>&1", "[exit 2]\n")
    assert refresh.refreshed(first + second + third) == first + second + third


@pytest.mark.parametrize(
    ("block", "message"),
    rows_in(
        2,
        [
            (console("discreet no-such-command", "all is well\n"), "2: .* ended with exit code 2"),
            (console("discreet --help", "[exit 2]\n"), "2: .* ended with exit code 0"),
            ("<!-- run -->\n```python\n1 / 0\n```\n", "3: the example ended with ZeroDivisionError"),
        ],
    ),
)
def test_an_example_that_ends_otherwise_than_stated_is_an_error(refresh: ModuleType, block: str, message: str) -> None:
    with pytest.raises(refresh.BrokenExampleError, match=message):
        refresh.refreshed("\n" + block)


@pytest.fixture(scope="module")
def wording() -> ModuleType:
    return loaded("wording")


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.py", '"""What she told us."""\nx = "told"\n# Nobody is held to it.\n', [1, 1, 3, 3]),
        ("b.md", "The light.\n```\nshe told\n```\nThe law of noise.\n", [1, 5]),
        ("c.md", "An attacker who knows the noise distribution recovers 3 counts.\n", []),
    ],
)
def test_words_of_the_old_dialect_are_found(
    wording: ModuleType, tmp_path: Path, name: str, text: str, lines: list[int]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert sorted(line for line, _, _ in wording.places(path)) == lines
