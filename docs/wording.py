"""Finds words that `docs/glossary.md` replaces by terms, in every text that a person reads.

    python docs/wording.py            fails above one place per thousand words
    python docs/wording.py --show     lists every place

Looks at string literals of three words or more, docstrings and comments of Python files, at HTML templates, and at
Markdown outside fenced blocks. A place can be right: a quotation, or a word in its literal meaning.
"""

from __future__ import annotations

import argparse
import re
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PLACES = ("src/**/*.py", "src/**/*.html", "*.md", "docs/**/*.md", "docs/*.py", "benchmarks/*.py")
MOST = 1.0
"""Places per thousand words that are accepted."""
SHORTEST = 3
"""Words of a string literal from which on it is a sentence: shorter ones are keys and names."""
AVOIDED = {
    "the attacker, they": r"\b(she|her|hers|herself)\b",
    "an attacker who, a user who": r"(?:[.,;:(] |\b(?:of|to|for|from|by|than) )who(?:ever|m)?\b",
    "states, reports, discloses": r"\b(tells?|told|telling|says?|said)\b",
    "has no, does not": r"\b(?:is|are|was|were) (?:no|none|nobody|nothing)\b",
    "meets, prevents": r"\bh(?:olds?|eld|olding) (?:off|her|them|to)\b",
    "reveals, discloses": r"\b(?:gives?|given) away\b|\bbetrays?\b",
    "recovered exactly": r"\bright to the person\b|\bnamed exactly\b",
    "feasible, remains": r"\b(?:nothing|what) is left\b|\bleaves (?:something|nothing)\b|\bleft over\b",
    "requested, required": r"\bask(?:s|ed)? for\b",
    "unchanged, as published, again": r"\bas (?:it|they) stands?\b|\bso far as\b|\banew\b|\btaken is\b",
    "synthetic": r"\bmade[- ]up\b",
    "noise distribution": r"\blaws? of (?:the )?noise\b|\bnoises\b",
    "minimum, maximum": r"\bthe (?:least|most|surest) (?:that|of|which)\b",
    "constraint, objective": r"\bwish(?:es|ed)?\b",
    "compared with, next to": r"\bbeside\b",
    "a person, an empty cell, every user": r"\b(?:everybody|somebody|nobody)\b",
    "lost count": r"\bvanish(?:es|ed)?\b",
    "verdict": r"\blights?\b",
}
PATTERNS = {term: re.compile(pattern, re.IGNORECASE) for term, pattern in AVOIDED.items()}


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of what a person reads in a file."""
    if path.suffix == ".py":
        with tokenize.open(path) as file:
            for token in tokenize.generate_tokens(file.readline):
                kind = tokenize.tok_name[token.type]
                if kind in {"STRING", "COMMENT", "FSTRING_MIDDLE"} and len(token.string.split()) >= SHORTEST:
                    yield token.start[0], token.string
        return
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def places(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and suggested term of every place in a file."""
    if path == Path(__file__):
        return
    for start, text in passages(path):
        for term, pattern in PATTERNS.items():
            for match in pattern.finditer(text):
                yield start + text.count("\n", 0, match.start()), " ".join(match[0].split()), term


def main() -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Find words that the glossary replaces by terms.")
    parser.add_argument("--show", action="store_true", help="list every place")
    options = parser.parse_args()
    files = sorted({path for place in PLACES for path in ROOT.glob(place) if path.name != "glossary.md"})
    words = sum(len(text.split()) for path in files for _, text in passages(path))
    found = [(path.relative_to(ROOT), *place) for path in files for place in places(path)]
    share = 1000 * len(found) / words
    if options.show or share > MOST:
        for path, line, word, term in found:
            print(f"{path}:{line}: {word!r}; better: {term}")
    print(f"Wording: {len(found):,} places in {words:,} words, {share:.2f} per thousand (at most {MOST:g}).")
    return 1 if share > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
