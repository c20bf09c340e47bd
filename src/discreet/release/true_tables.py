"""The true counts of a release, read from the curator's files and compared with the published counts.

Files that are inconsistent with the release are refused; the message names the file and the first inconsistent cell.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError, ReleaseError
from discreet.release.disclosed_noise import disclosed_noise
from discreet.release.release_folder import EXACT, curator_folder
from discreet.release.table_files import read_table

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.arrays import Flags, Ints
    from discreet.noise.by_count import TransitionMatrix
    from discreet.release.release import Release
    from discreet.tabulation.table_grid import LevelSum, TableGrid

ENDINGS = (".parquet", ".csv")
MIN_CHANGED_CELLS = 60
"""Number of non-empty cells from which a table without any change cannot be the true one."""
RESTORE_TRUTH = (
    "Restore it from a backup, make the release with --keep-exact, or specify the folder of its true counts with "
    "--truth."
)


class TrueTables:
    """The true tables of a release: in memory, in the curator's folder, or in another folder.

    Args:
        release: the release.
        folder: the folder of the files; OUT.curator/exact by default.
    """

    def __init__(self, release: Release, folder: Path | None = None) -> None:
        self._release = release
        self._folder = folder

    @cached_property
    def noise(self) -> TransitionMatrix:
        """Return the noise distributions of the record; without a record, those that fit the disclosed noise."""
        if self._release.has_record:
            return self._release.record.transition_matrix()
        return disclosed_noise(self._release.description["noise"])

    @property
    def place(self) -> str:
        """Return the location of the true counts, for messages."""
        if self._folder is None and self._release.path is None:
            return "memory"
        return str(self._folder or curator_folder(self._where) / EXACT)

    @property
    def _where(self) -> Path:
        return self._release.path or Path("This release in memory")

    def laid_out(self, grid: TableGrid) -> Ints:
        """Return the true counts of a table."""
        return self.with_published(grid)[0]

    def with_published(self, grid: TableGrid) -> tuple[Ints, Ints]:
        """Return the true and the published counts of a table, or refuse true counts that are inconsistent."""
        table = grid.plan.table.id
        published = grid.lay_out(self._release.table(table))
        try:
            true = grid.lay_out(self._read(table))
        except InputError as error:
            if isinstance(error, ReleaseError):
                raise
            raise self._inconsistent(table, f"cannot be arranged as a grid. {error}") from error
        self._check(grid, true, published)
        return true, published

    def _check(self, grid: TableGrid, true: Ints, published: Ints) -> None:
        table, noise = grid.plan.table.id, published - true
        if self.noise.bound and not noise.any() and (true != 0).sum() >= MIN_CHANGED_CELLS:
            raise self._inconsistent(table, "is the published table, with its noise")
        for wrong, what in (
            (true < 0, "has negative counts"),
            (np.abs(noise) > self.noise.bound, "differs from the published table by more than the bound of the noise"),
        ):
            self._refuse(grid, wrong, what)
        # The disclosed noise of empty cells is not sufficient to refuse true counts.
        if self._release.has_record and not self.noise.zeros_are_noisy:
            self._refuse(grid, (true == 0) & (published != 0), "has empty cells that are not 0 in the published table")
        for fold in grid.folds:
            self._check_sums(grid, fold, true)

    def _check_sums(self, grid: TableGrid, fold: LevelSum, true: Ints) -> None:
        """Refuse true counts that are not additive."""
        apart = np.argwhere(grid.gaps(fold, true))
        if not len(apart):
            return
        place = apart[0].tolist()
        place[fold.column] = int(fold.coarse[place[fold.column]])
        column = grid.columns[fold.column].name
        what = f"has totals that are not the sums of their parts by {column}, the first at {grid.words(place)}"
        raise self._inconsistent(grid.plan.table.id, what)

    def _refuse(self, grid: TableGrid, wrong: Flags, what: str) -> None:
        if wrong.any():
            place = np.argwhere(wrong)[0].tolist()
            raise self._inconsistent(grid.plan.table.id, f"{what}, first at {grid.words(place)}")

    def _read(self, table: str) -> pa.Table:
        if self._folder is None and self._release.path is None:
            return self._release.exact(table)
        folder = self._folder or curator_folder(self._where) / EXACT
        stem = Path(self._release.files[table]).stem
        path = next((found for end in ENDINGS if (found := folder / f"{stem}{end}").is_file()), None)
        if path is None:
            raise ReleaseError.at(
                folder, f"has no file {stem}{ENDINGS[0]} with the true counts of {table}", RESTORE_TRUTH
            )
        try:
            return read_table(path, escaped=self._release.is_escaped)
        except (OSError, ValueError) as error:
            what = f"has a file {path.name} that is damaged or not a table"
            raise ReleaseError.at(folder, what, "Restore it from a backup.") from error

    def _inconsistent(self, table: str, what: str) -> ReleaseError:
        name = Path(self._release.files[table]).name if self._release.path else f"table {table}"
        todo = "Specify the folder with the true counts of this release."
        what = f"has a file {name} that is inconsistent with the release: it {what.removesuffix('.')}"
        return ReleaseError.at(Path(self.place), what, todo)


def has_true_counts(release: Release) -> bool:
    """Return whether the true counts of a release are available."""
    if release.path is None:
        return bool(release.held_exact)
    return (curator_folder(release.path) / EXACT).is_dir()
