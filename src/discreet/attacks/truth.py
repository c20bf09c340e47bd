"""The true counts behind a release as one vector per population, read when an attack is scored."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.belief import belief_of, belief_told
from discreet.errors import ReleaseError
from discreet.release.true_tables import KEEP, TrueTables
from discreet.tabulation.layout import layouts, unit_layouts

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.attacks.belief import CountNoise
    from discreet.release.release import Release


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
        self._tables = TrueTables(release, folder)
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
            raise ReleaseError.at(self._where, "was not given a second release with true counts", KEEP)
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
            raise ReleaseError.at(self._where, "was not given the true answer of the interface", "Give it as answer.")
        return self._answer

    @property
    def place(self) -> str:
        """Return where the true counts come from."""
        return self._tables.place

    @property
    def _where(self) -> Path:
        return self._release.path or Path("This release in memory")

    def counts(self, population: str) -> Ints:
        """Return the true count of every cell of a population or a unit, in the order of the published ones."""
        if population not in self._counts:
            programme = self._release.programme
            layout = (layouts(programme, spsn=True) | unit_layouts(programme, spsn=True))[population]
            self._counts[population] = np.rint(layout.vector_of(self._tables.laid_out)).astype(np.int64)
        return self._counts[population]
