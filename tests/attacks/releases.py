"""Releases on which attacks are compared over many secrets: the ONS teaching file and a sparse one, and Luxembourg."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.attacks.scoring import TrueCounts
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect
from discreet.sources.ons_sample import ons_files as ons
from discreet.synthetic.synthetic_census import synth
from tests.attacks.scenes import informed_attacker
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discreet.attacks.attacker_view import AttackerView
    from discreet.programme.model import Programme

    Data = tuple[pa.Table, Programme, str]

SIZES = {"A": 14, "B": 12, "C": 10, "D": 11}
"""Categories of the topics of the sparse release."""


@cache
def ons_file() -> Data:
    """Return 10,000 real persons in three populations, and the name of their ids."""
    return pq.read_table(ons.records()), load_programme(str(ons.programme())), "person_id"


@cache
def sparse_file(persons: int = 1200) -> Data:
    """Return few persons in tables of three topics each: the mean leverage of a cell is 0.78."""
    random = np.random.default_rng(3)
    topics = [topic(name, " ".join(f"{name.lower()}{n}" for n in range(size))) for name, size in SIZES.items()]
    a, b, c, d = topics
    made = programme(topics, [by(a), by(b), by(c)], [by(b), by(c), by(d)], [by(a), by(d)])
    common = random.normal(size=persons)
    columns: dict[str, Any] = {"ID": [f"person {n}" for n in range(persons)]}
    for name, size in SIZES.items():
        rank = np.argsort(np.argsort(0.5 * common + random.normal(size=persons))) / persons
        columns[name] = [f"{name.lower()}{n}" for n in (size * rank**1.6).astype(int)]
    return pa.table(columns), made, "ID"


def luxembourg(folder: Path) -> Data:
    """Return 20,000 synthetic persons of Luxembourg and the tables of the EU census."""
    synth(folder / "people.parquet", country="LU", persons=20_000, seed=7)
    return pq.read_table(folder / "people.parquet"), load_programme("eu2021:LU"), "PERSON_ID"


def published(data: Data, variance: float, secrets: int) -> Iterator[tuple[AttackerView, TrueCounts]]:
    """Give releases of the same data with different secrets, as an attacker sees them, and their true counts."""
    records, made, identity = data
    noise = PTable.max_entropy(variance=variance, bound=5)
    for number in range(secrets):
        mechanism = CellKey(noise, secret=f"secret number {number} of the tests".encode())
        release = protect(records, made, mechanism, id=identity, keep_exact=True)
        yield informed_attacker(release), TrueCounts(release)
