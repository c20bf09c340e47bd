"""Places: which area a household lives in, how large its locality is, and in which cell of the grid it lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.programme.eu2021.census import countries
from discreet.synthetic.grid import Grid
from discreet.synthetic.randomness import Draws
from discreet.synthetic.shares import Choice
from discreet.synthetic.sizes import lau_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.programme.model import Topic
    from discreet.synthetic.households import Residents

TOWN, HAMLET = 0.8, 0.05
"""Of every area the share that lives in its largest locality, and the share that lives in each other one."""
LOCALITIES = (TOWN, HAMLET, HAMLET, HAMLET, HAMLET)
LOCALITY_FROM = (1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 0)
"""The smallest size of the classes of localities 1 to 13."""


@dataclass(frozen=True)
class Homes:
    """Where persons live, one place for a household.

    Attributes:
        area: the area.
        size_class: the size class of the locality, from 0 for the largest.
        cell: the cell of the grid.
    """

    area: NDArray[np.uint16]
    size_class: NDArray[np.uint8]
    cell: Ints


class Geography:
    """The areas of a country with their planned sizes.

    Attributes:
        residents: how many persons each area really has.
        sizes: how many it is planned to have, in proportion; chance lets the number drawn differ.
        grid: the cells that the areas lie in.
        region: the NUTS 2 region of each area, as a place in `regions`.
        regions: the codes of the NUTS 2 regions.
        parts: the number of NUTS 3 regions.
    """

    def __init__(self, country: str, geo: Topic, persons: int, seed: int) -> None:
        areas = geo.levels[-1].codes
        if geo.tree is None or areas is None:
            raise ParameterError(_without_areas(country), parameter="country")
        draws = Draws(country, seed, "areas")
        self.residents = lau_sizes(country, areas, draws)
        self.sizes = self.residents / self.residents.sum() * persons
        self.grid = Grid(self.residents, draws)
        self.regions = geo.tree.cut(2)
        self.parts = len(geo.tree.cut(3))
        self.region = np.array(geo.tree.above(self.regions, areas), dtype=np.uint8)
        self._town, self._hamlet = (_size_class(self.sizes * share) for share in (TOWN, HAMLET))
        self._locality = Choice(range(len(LOCALITIES)), [LOCALITIES])
        self._ends = np.cumsum(self.residents)

    def settle(self, residents: Residents, draws: Draws) -> Homes:
        """Return where every person lives."""
        starts = np.flatnonzero(residents.first == np.arange(len(residents)))
        area = self._choose(len(starts), draws)
        locality = self._locality.draw(0, draws.noise(len(starts)))
        size_class = np.where(locality == 0, self._town.take(area), self._hamlet.take(area))
        luck = np.float64(2**-31) * draws.below(1 << 32, len(starts)) - 1
        cell = self.grid.cells(area, locality, luck)
        members = np.diff(np.append(starts, len(residents)))
        return Homes(*(np.repeat(place, members) for place in (area, size_class, cell)))

    def _choose(self, households: int, draws: Draws) -> NDArray[np.uint16]:
        """Return the area of each household: that of a real resident drawn at random, whom nothing else is known of."""
        resident = draws.below(int(self._ends[-1]), households)
        return np.searchsorted(self._ends, resident, side="right").astype(np.uint16)


def _size_class(sizes: Floats) -> NDArray[np.uint8]:
    smaller_first = np.array(LOCALITY_FROM[::-1])
    return (len(LOCALITY_FROM) - np.searchsorted(smaller_first, sizes, side="right")).astype(np.uint8)


def _without_areas(country: str) -> str:
    name = countries()[country]["name"]
    others = ", ".join(code for code in countries() if code != country)
    return (
        f"The areas of {name} ({country}) are known by their numbers only, so that nobody can be settled in them. "
        f"Choose another country: {others}."
    )
