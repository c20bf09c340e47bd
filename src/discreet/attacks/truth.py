"""The true counts behind a release, read from the curator's files when an attack is scored."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.belief import belief_of, belief_told
from discreet.attacks.layout import layouts, table_grids
from discreet.errors import InputError, ReleaseError
from discreet.release.folder import EXACT, curator_folder
from discreet.release.tables import read_table

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from discreet.attacks.belief import CountNoise
    from discreet.release.release import Release

    Ints = NDArray[np.int64]

ENDINGS = (".parquet", ".csv")
MANY = 60
"""Cells that are not all published as they are, whatever the noise."""
KEEP = "Take it from a copy, make the release with --keep-exact, or name the folder of its true counts with --truth."


class TrueCounts:
    """The true counts of a release: in memory, in the curator's folder, or in one that is named.

    Args:
        release: the release they belong to.
        folder: where the files are; OUT.curator/exact if left out.
        other: the true counts of a second release.
        answer: the true number of persons behind a query interface.
    """

    def __init__(
        self,
        release: Release,
        folder: Path | None = None,
        other: TrueCounts | None = None,
        answer: int | None = None,
    ) -> None:
        self._release = release
        self._folder = folder
        self._other = other
        self._answer = answer
        self._counts: dict[str, Ints] = {}

    @property
    def has_other(self) -> bool:
        """Say whether the truth of a second release is at hand."""
        return self._other is not None

    @property
    def other(self) -> TrueCounts:
        """Return the truth of the second release."""
        if self._other is None:
            raise ReleaseError.at(self._place, "was not given a second release with true counts", KEEP)
        return self._other

    @cached_property
    def noise(self) -> CountNoise:
        """Return the law of the noise as it really was, or as it is told where its record is not at hand."""
        if self._release.has_record:
            return belief_of(self._release.record)
        return belief_told(self._release.description["noise"])

    @property
    def bound(self) -> float:
        """Return the largest noise that the release could carry."""
        return self.noise.bound

    @property
    def answer(self) -> int:
        """Return the number of persons behind a query interface."""
        if self._answer is None:
            raise ReleaseError.at(self._place, "was not given the true answer of the interface", "Give it as answer.")
        return self._answer

    def counts(self, population: str) -> Ints:
        """Return the true count of every cell of a population, in the order of the published ones."""
        if population not in self._counts:
            layout = layouts(self._release.programme, spsn=True)[population]
            self._counts[population] = np.rint(layout.vector(self._fitting)).astype(np.int64)
        return self._counts[population]

    @property
    def place(self) -> str:
        """Return where the true counts come from."""
        if self._folder is None and self._release.path is None:
            return "memory"
        return str(self._folder or curator_folder(self._place) / EXACT)

    @property
    def _place(self) -> Path:
        return self._release.path or Path("This release in memory")

    def _read(self, table: str) -> pa.Table:
        if self._folder is None and self._release.path is None:
            return self._release.exact(table)
        folder = self._folder or curator_folder(self._place) / EXACT
        stem = Path(self._release.files[table]).stem
        path = next((found for end in ENDINGS if (found := folder / f"{stem}{end}").is_file()), None)
        if path is None:
            raise ReleaseError.at(folder, f"has no file {stem}{ENDINGS[0]} with the true counts of {table}", KEEP)
        try:
            return read_table(path)
        except (OSError, ValueError) as error:
            what = f"has a file {path.name} that is damaged or no table"
            raise ReleaseError.at(folder, what, "Take it from a copy.") from error

    def _fitting(self, table: str) -> pa.Table:
        """Return the true counts of a table, or refuse those that cannot have led to what was published."""
        found = self._read(table)
        lay_out = table_grids(self._release.programme, table)
        published = lay_out(self._release.table(table))
        try:
            true = lay_out(found)
        except InputError as error:
            raise self._unfit(table, f"cannot be laid out. {error}") from error
        noise = published - true
        if self.noise.variance and not noise.any() and (true != 0).sum() >= MANY:
            raise self._unfit(table, "is the published table itself, noise and all")
        if true.min(initial=0) < 0:
            raise self._unfit(table, "has negative counts")
        if np.abs(noise).max(initial=0) > self.bound:
            raise self._unfit(table, "differs from the published table by more than its noise can")
        if not self.noise.zeros_are_noisy and ((true == 0) & (published != 0)).any():
            raise self._unfit(table, "is empty where the published table is not")
        return found

    def _unfit(self, table: str, what: str) -> ReleaseError:
        name = Path(self._release.files[table]).name if self._release.path else f"table {table}"
        todo = "Name the folder with the true counts of this very release."
        what = f"has a file {name} that does not fit the release: it {what.removesuffix('.')}"
        return ReleaseError.at(Path(self.place), what, todo)
