"""Where synthetic households live: in which area, in how large a locality, and in which cell of the 1 km2 grid.

Numbers of residents of LAUs are real, from Eurostat's list; all positions are synthetic. The LAUs lie one after the
other along Hilbert's curve, region by region, so that each is one piece of land and those of one region are near each
other. The grid is laid over that land askew: borders cut its cells, as they do in life.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.programme.eu2021.census import countries
from discreet.synthetic.random_choice import Draws, ShareTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.programme.model import Topic
    from discreet.synthetic.households import Residents
    from discreet.synthetic.random_choice import Bytes


def order_of(length: int) -> int:
    """Return the order of the shortest curve of at least this length; order n runs through 4^n places.

    >>> order_of(16), order_of(17)
    (2, 3)
    """
    return max(0, -(-(length - 1).bit_length() // 2))


def point(place: Ints, order: int) -> tuple[Ints, Ints]:
    """Return the column and row of places on the curve of an order, from square to square.

    Two bits of the place say in which quarter of a square it lies. Within the first and the last quarter the curve is
    mirrored on a diagonal, the other one in the last.

    >>> [part.tolist() for part in point(np.arange(4), 1)]
    [[0, 0, 1, 1], [0, 1, 1, 0]]
    """
    x, y = np.zeros_like(place), np.zeros_like(place)
    for level in range(order):
        side = 1 << level
        quarter = (place >> (2 * level)) & 3
        right, up = quarter >> 1, (quarter ^ (quarter >> 1)) & 1
        last = quarter == 3
        x, y = np.where(last, side - 1 - x, x), np.where(last, side - 1 - y, y)
        swapped = up == 0
        x, y = np.where(swapped, y, x) + side * right, np.where(swapped, x, y) + side * up
    return x, y


LAND = 0.5
"""Inhabited land in km2 for the square root of the residents of a LAU: 50 km2 for 10,000, 500 for a million."""
LOCALITY_SPANS = ((0.5, 0.5), (0.1, 0.03), (0.3, 0.03), (0.7, 0.03), (0.9, 0.03))
"""The middle and the reach of the town and of four hamlets, as parts of the way of the curve through a LAU."""
CORE = 0.1
"""In the middle of a locality the density is (1 + c) / c times its mean, here 11; at its edge (1 + c) / (17 + c)."""

STEPS = 16
"""Places of the curve along the side of a cell."""
TURN = (3, 4, 5)
"""The grid is turned against the curve by the angle of this triangle, for which whole numbers suffice."""
EAST, NORTH = 4321, 3210
"""Kilometres of the corner of the land: the origin of ETRS89-LAEA, the projection of the European grid."""
PER_ROW = 10_000
"""A cell is one number: kilometres north times this, plus kilometres east."""


class Grid:
    """The cells of a country.

    Args:
        residents: how many each LAU really has, which gives its land.
        draws: where the corner of the grid comes from.
    """

    def __init__(self, residents: Ints, draws: Draws) -> None:
        self._land = LAND * STEPS**2 * np.sqrt(residents)
        ends = np.cumsum(self._land)
        self._start = ends - self._land
        self._order = order_of(int(ends[-1]) + 2)
        self._corner = draws.below(STEPS * TURN[2], 2).tolist()

    def cells(self, area: NDArray[np.uint16], locality: Bytes, luck: Floats) -> Ints:
        """Return the cell of every household.

        A household lives at m + r (s^17 + c s) / (1 + c) of the way through its LAU, where m and r are the middle and
        the reach of its locality and c is `CORE`: most live near the middle, few far from it.

        Args:
            area: its LAU.
            locality: 0 in the town, 1 to 4 in a hamlet.
            luck: s, even from -1 to 1.
        """
        # Products alone: unlike powers they are the same to the last bit on every machine.
        fourth = np.square(np.square(luck))
        away = luck * (np.square(np.square(fourth)) + CORE) / (1 + CORE)
        middle, reach = (np.array(part).take(locality) for part in zip(*LOCALITY_SPANS, strict=True))
        place = self._start.take(area) + self._land.take(area) * (middle + reach * away)
        x, y = point(place.astype(np.int64), self._order)
        near, far, whole = TURN
        east, north = (
            (turned + corner) // (STEPS * whole) + origin
            for turned, corner, origin in zip(
                (near * x - far * y, far * x + near * y), self._corner, (EAST, NORTH), strict=True
            )
        )
        return np.asarray(north * PER_ROW + east, dtype=np.int64)


def names(cells: Iterable[int]) -> list[str]:
    """Return the codes of cells in the manner of INSPIRE: the south-west corner in metres.

    >>> names([32104321])
    ['CRS3035RES1000mN3210000E4321000']
    """
    return [f"CRS3035RES1000mN{cell // PER_ROW}000E{cell % PER_ROW}000" for cell in cells]


def lau_sizes(country: str, areas: Sequence[str], draws: Draws) -> Ints:
    """Return the residents of each area; one that the list lacks is as large as another area drawn at random."""
    known = _listed(country)
    sizes = np.array([known.get(area, -1) for area in areas], dtype=np.int64)
    lacking, others = np.flatnonzero(sizes < 0), sizes[sizes >= 0]
    sizes[lacking] = others[draws.below(len(others), len(lacking))]
    return sizes


def _listed(country: str) -> dict[str, int]:
    """Return the residents of the areas of a country that the list has."""
    data = files("discreet.synthetic").joinpath("lau_sizes.csv.gz").read_bytes()
    lines = gzip.decompress(data).decode().splitlines()
    rows = (line.split(",") for line in lines if line.startswith(f"{country}_"))
    return {area: int(residents) for area, residents in rows}


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
        self._locality = ShareTable(range(len(LOCALITIES)), [LOCALITIES])
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
