"""`discreet demo`: everything that exists so far, on made-up numbers, in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from discreet.charts.averaging import draw_averaging
from discreet.charts.draws import draw_draws
from discreet.charts.ptable import draw_ptable
from discreet.cli.ptable_text import closing, describe, table
from discreet.errors import FileWriteError
from discreet.noise.bits import SeededBits
from discreet.noise.explain import results, warnings
from discreet.noise.formats.files import write_ptable
from discreet.noise.ptable import PTable
from discreet.risk.assess import assess
from discreet.whole_file import check_writable

SEED = 2021
PROGRAMME = "eu2021:LU"
SECRET = b"a made-up secret for the demo only"
PARISHES = {"Upper Wick": (0, 3), "Nether Wick": (1, 2), "Wick Abbas": (12, 9), "Wick Market": (318, 347)}
"""Invented parishes with invented counts of women and men."""


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files made.")] = Path("demo-output"),
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite files that exist.")] = False,
) -> None:
    """Show what discreet does so far: a p-table, noise, pictures, and the risk of a census programme."""
    files = {name: out / name for name in ("ptable.csv", "ptable.png", "draws.png", "averaging.png")}
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileWriteError.to(out, error.strerror or "not a folder", "Choose another folder.") from error
    for path in files.values():
        check_writable(path, replace=replace)

    typer.echo("1. A p-table: how much noise each count gets.\n")
    ptable = write_ptable(PTable.max_entropy(variance=2, bound=5), files["ptable.csv"], replace=replace)
    draw_ptable(ptable, files["ptable.png"])
    typer.echo("\n".join([describe(ptable), table(ptable), closing(results(ptable), warnings(ptable))]))

    typer.echo("\n2. Noise for a few made-up parishes, from cell keys (seeded, so that you see the same).\n")
    typer.echo(_parishes(ptable))

    typer.echo("\n3. Many draws against the law.\n")
    bits = SeededBits(SEED)
    keys = bits.words(100_000) >> np.uint64(32)
    draws = ptable.draw(np.full(len(keys), 100), keys, secret=SECRET)
    draw_draws(ptable.rows[-1], draws, files["draws.png"])
    typer.echo(f"100,000 draws: mean {draws.mean():+.3f}, variance {draws.var():.3f}, largest {abs(draws).max()}.")
    typer.echo("\n4. What an attacker learns who combines all tables of Luxembourg's EU census with this noise.\n")
    assessment = assess(PROGRAMME, variance=2, bound=5, measures=["averaging", "redundancy", "bound"])
    draw_averaging(assessment, files["averaging.png"])
    typer.echo(str(assessment))
    typer.echo("\nWrote " + ", ".join(str(path) for path in files.values()) + ".")
    typer.echo(f"Next: discreet assess {PROGRAMME} --variance 12 --bound 10")


def _parishes(ptable: PTable) -> str:
    """Return a small table of true and published counts; totals get noise of their own."""
    keys = SeededBits(SEED).words(2 * len(PARISHES)).reshape(-1, 2) >> np.uint64(32)
    parts = np.array(list(PARISHES.values()))
    # An empty cell has no participants: its key is 0. A total's key is the sum of its parts' keys.
    keys[parts == 0] = 0
    counts = np.column_stack([parts, parts.sum(axis=1)])
    keys = np.column_stack([keys, keys.sum(axis=1) % ptable.key_space])
    published = counts + ptable.draw(counts, keys, secret=SECRET)
    lines = [f"{'':<12} {'women':>14} {'men':>14} {'total':>14}"]
    for name, true, noisy in zip(PARISHES, counts.tolist(), published.tolist(), strict=True):
        cells = [f"{a} -> {b}".rjust(14) for a, b in zip(true, noisy, strict=True)]
        lines.append(f"{name:<12} {' '.join(cells)}")
    apart = int((published[:, 0] + published[:, 1] != published[:, 2]).sum())
    lines.append(
        f"In {apart} of {len(published)} parishes women and men no longer add up to the total: every count has"
    )
    lines.append("noise of its own. In Upper Wick the men are the total: same participants, same noise.")
    return "\n".join(lines)
