"""Golden output: what every command prints and writes on small inputs, stored, and compared after a change.

    python -m tests.golden.golden record [NAME ...]
    python -m tests.golden.golden compare [NAME ...]

A case of `cases.toml` has up to two files in `output`: `NAME.txt`, what it printed, and `NAME.json`, what it printed
with --json and the files that it wrote. Numbers of JSON and of files may differ by rounding (`layout.py`), texts not at
all. Digests of Parquet files depend on the version of pyarrow in `constraints.txt`.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.golden.cases import chosen
from tests.golden.layout import laid_out, settled
from tests.golden.office import office
from tests.golden.plain import plain_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.golden.cases import Case
    from tests.golden.office import Done, Office

OUTPUT = Path(__file__).with_name("output")

Texts = dict[str, str]
"""By name of the file."""


def outputs(case: Case, place: Office) -> Texts:
    """Return the files of a case as they are now."""
    found: Texts = {}
    value: dict[str, Any] = {}
    if case.text:
        done = place.done(case.run, case.before)
        found[f"{case.name}.txt"] = _as_text(case, done)
        value = {"files": done.files} if done.files else {}
    if case.json:
        done = place.done((*case.run, "--json"), case.before)
        value = {"files": done.files, **value, "exit": done.code, "printed": _printed(done), "errors": done.err}
    if value:
        found[f"{case.name}.json"] = laid_out(value) + "\n"
    return found


def _as_text(case: Case, done: Done) -> str:
    """Return what was printed, with the command above and standard error below it."""
    program = "" if case.run[0] == "python" else "discreet "
    head = f"$ {program}{' '.join(case.run)}\n[exit {done.code}]\n"
    return head + done.out + (f"[standard error]\n{done.err}" if done.err else "")


def _printed(done: Done) -> Any:  # noqa: ANN401 - a value of JSON
    """Return the object that was printed, or the text if it is none."""
    try:
        return plain_value(json.loads(done.out), Path("FOLDER"))
    except json.JSONDecodeError:
        return done.out


def difference(name: str, new: str) -> str:
    """Return a unified diff from the stored file to the new one, empty where they agree."""
    path = OUTPUT / name
    stored = path.read_text(encoding="utf-8") if path.exists() else ""
    if path.suffix == ".json" and stored:
        new = laid_out(settled(json.loads(new), json.loads(stored))) + "\n"
    before, after = stored.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, after, fromfile=f"stored/{name}", tofile=f"now/{name}"))


def record(cases: list[Case], *, whole: bool) -> int:
    """Store the output of cases, and of all cases nothing else; return the exit code."""
    OUTPUT.mkdir(exist_ok=True)
    written: set[str] = set()
    for _, found in _run(cases):
        for name, text in found.items():
            (OUTPUT / name).write_text(text, encoding="utf-8", newline="\n")
        written |= set(found)
    if whole:
        for path in OUTPUT.iterdir():
            if path.name not in written:
                path.unlink()
    print(f"{len(written)} files of {len(cases)} cases are stored.")
    return 0


def compare(cases: list[Case], *, whole: bool) -> int:
    """Print how the output of cases differs from what is stored; return the exit code, 1 where anything does."""
    differing: set[str] = set()
    seen: set[str] = set()
    for case, found in _run(cases):
        for name, text in found.items():
            if diff := difference(name, text):
                print(diff)
                differing.add(case.name)
        seen |= set(found)
    if whole:
        for name in sorted({path.name for path in OUTPUT.iterdir()} - seen):
            print(f"{name} is stored, but no case has it any more.")
            differing.add(name)
    told = f"; {len(differing)} differ: {', '.join(sorted(differing))}." if differing else ", all as stored."
    print(f"{len(cases)} cases{told}")
    return 1 if differing else 0


def _run(cases: list[Case]) -> Iterator[tuple[Case, Texts]]:
    """Yield every case with its files as they are now, and say on standard error how long it took."""
    with office() as place:
        for number, case in enumerate(cases, 1):
            begin = time.process_time()
            found = outputs(case, place)
            seconds = time.process_time() - begin
            print(f"{number:>3}/{len(cases)}  {seconds:5.1f} s  {case.name}", file=sys.stderr)
            yield case, found


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.golden", description="Store or compare outputs.")
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases; all if left out")
    asked = parser.parse_args()
    act = {"record": record, "compare": compare}[asked.action]
    return act(chosen(asked.names), whole=not asked.names)


if __name__ == "__main__":
    sys.exit(main())
