"""Time and memory of the projection attack on a complete census by the command line, compared with protect.

    python -m benchmarks.projection [COUNTRY ...]

Luxembourg's first 80 tables have 1.1 million published cells, all of Croatia's 10.6 million. Targets: 10^6 cells
below 10 s, 10^7 below 90 s and 4 GB. The reference is scipy's LSMR on Luxembourg's equations, to the same tolerance.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.linalg import lsmr

from benchmarks.clock import RESULTS, cpu_seconds
from benchmarks.scale import COMMAND, timed
from discreet.attacks.projection_attack import TOLERANCE
from discreet.equations.margin_equations import MarginEquations
from discreet.programme.lattice import lattice
from discreet.programme.programme_files import load_programme

PERSONS = 300_000
COUNTRIES = ("LU", "HR")
TABLES = {"LU": 80}
"""Number of tables, if not all."""


def measure(country: str, folder: Path) -> dict[str, Any]:
    """Create a census and a release of it, and attack the release."""
    data, secret, out = (str(folder / name) for name in ("people.parquet", "secret", "release"))
    subprocess.run([*COMMAND, "keys", "new", secret], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
    who = ["--country", country, "--persons", str(PERSONS), "--seed", "1"]
    timed(["synth", *who, "--out", data, "--json"], folder)
    tables = load_programme(f"eu2021:{country}").of()
    chosen = ",".join(table.id for table in tables[: TABLES.get(country, len(tables))])
    what = ["--programme", f"eu2021:{country}", "--tables", chosen, "--id", "PERSON_ID", "--secret-file", secret]
    noise = ["--variance", "2", "--bound", "5"]
    made, _ = timed(["protect", data, *what, *noise, "--out", out, "--quiet", "--json"], folder)
    how = ["--attacks", "projection", "--budget", "none", "--quiet", "--json"]
    attacked, said = timed(["attack", out, *how], folder)
    return {
        "country": country,
        "cells": said["attacks"][0]["estimates"],
        "attack": asdict(attacked),
        "protect": asdict(made),
        "ratio": attacked.wall / made.wall,
    }


def beside_lsmr() -> dict[str, float]:
    """Return seconds for random noise on Luxembourg's equations: our solver, and LSMR to the same norm of the gaps."""
    equations = MarginEquations(lattice(load_programme("eu2021:LU")))
    noise = np.random.default_rng(1).normal(size=equations.cells) * equations.spread
    ours = cpu_seconds(lambda: equations.project(noise, tolerance=TOLERANCE), runs=1)
    scaled = (equations.sums.matrix * equations.spread).tocsr()
    gaps = equations.sums.gaps(noise)
    theirs = cpu_seconds(lambda: lsmr(scaled, gaps, atol=0, btol=TOLERANCE, conlim=0), runs=1, warm=False)
    return {"ours": ours, "lsmr": theirs, "ratio": ours / theirs}


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("countries", nargs="*", default=list(COUNTRIES))
    found: dict[str, Any] = {}
    for country in parser.parse_args().countries:
        with tempfile.TemporaryDirectory() as name:
            found[country] = measure(country, Path(name))
        cost = found[country]["attack"]
        print(
            f"{country}: {found[country]['cells']:,} cells in {cost['wall']:.0f} s with {cost['memory'] / 1e3:.1f} GB, "
            f"{found[country]['ratio']:.1f} x protect"
        )
    found["solver"] = beside_lsmr()
    print(f"solver: {found['solver']['ratio']:.2f} x LSMR of scipy")
    (RESULTS / "projection.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
