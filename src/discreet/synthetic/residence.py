"""Residence of synthetic households: area, size class of the locality, and cell of the 1 km2 grid.

Numbers of residents of LAUs are real, from Eurostat's list; all positions are synthetic. The LAUs are placed in
sequence along a Hilbert curve, by region, so that each is contiguous and those of one region are close together. The
grid is rotated against that land, so that borders cut its cells, as real borders do.
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
    """Return the order of the shortest Hilbert curve of at least this length; order n has 4^n positions.

    >>> order_of(16), order_of(17)
    (2, 3)
    """
    return max(0, -(-(length - 1).bit_length() // 2))


def point(place: Ints, order: int) -> tuple[Ints, Ints]:
    """Return the column and row of positions on the curve of an order.

    Two bits of the position give the quarter of a square. Within the first and the last quarter the curve is mirrored
    at a diagonal: at one diagonal in the first quarter, at the other in the last.

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
"""Inhabited land of a LAU in km2 per square root of its residents: 50 km2 for 10,000, 500 for a million."""
LOCALITY_SPANS = ((0.5, 0.5), (0.1, 0.03), (0.3, 0.03), (0.7, 0.03), (0.9, 0.03))
"""The middle and the half-width of the town and of four hamlets, as fractions of the curve through a LAU."""
CORE = 0.1
"""Density relative to the mean: (1 + c) / c in the middle of a locality, here 11, (1 + c) / (17 + c) at its edge."""

STEPS = 16
"""Number of positions of the curve along the side of a cell."""
TURN = (3, 4, 5)
"""The grid is rotated against the curve by an angle of this triangle, which needs only integer arithmetic."""
EAST, NORTH = 4321, 3210
"""Coordinates in km of the corner of the land: the origin of ETRS89-LAEA, the projection of the European grid."""
PER_ROW = 10_000
"""The number of a cell is kilometres north times this, plus kilometres east."""


class Grid:
    """The cells of a country.

    Args:
        residents: the real number of residents of each LAU, which determines its land.
        draws: the random numbers for the corner of the grid.
    """

    def __init__(self, residents: Ints, draws: Draws) -> None:
        self._land = LAND * STEPS**2 * np.sqrt(residents)
        ends = np.cumsum(self._land)
        self._start = ends - self._land
        self._order = order_of(int(ends[-1]) + 2)
        self._corner = draws.below(STEPS * TURN[2], 2).tolist()

    def cells(self, area: NDArray[np.uint16], locality: Bytes, offset: Floats) -> Ints:
        """Return the cell of every household.

        A household lives at the fraction m + r (s^17 + c s) / (1 + c) of the curve through its LAU. Here m and r are
        the middle and the half-width of its locality, and c is `CORE`. Most households live near the middle.

        Args:
            area: the LAU of every household.
            locality: 0 for the town, 1 to 4 for a hamlet.
            offset: s, uniform on -1 .. 1.
        """
        # Only products: unlike powers, they are identical to the last bit on every machine.
        fourth = np.square(np.square(offset))
        away = offset * (np.square(np.square(fourth)) + CORE) / (1 + CORE)
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
    """Return the INSPIRE codes of cells, with the south-west corner in metres.

    >>> names([32104321])
    ['CRS3035RES1000mN3210000E4321000']
    """
    return [f"CRS3035RES1000mN{cell // PER_ROW}000E{cell % PER_ROW}000" for cell in cells]


def lau_sizes(country: str, areas: Sequence[str], draws: Draws) -> Ints:
    """Return the residents of each area; an area missing in the list has the size of a random other area."""
    known = _listed(country)
    sizes = np.array([known.get(area, -1) for area in areas], dtype=np.int64)
    lacking, others = np.flatnonzero(sizes < 0), sizes[sizes >= 0]
    sizes[lacking] = others[draws.below(len(others), len(lacking))]
    return sizes


def _listed(country: str) -> dict[str, int]:
    """Return the residents of the listed areas of a country."""
    data = files("discreet.synthetic").joinpath("lau_sizes.csv.gz").read_bytes()
    lines = gzip.decompress(data).decode().splitlines()
    rows = (line.split(",") for line in lines if line.startswith(f"{country}_"))
    return {area: int(residents) for area, residents in rows}


TOWN, HAMLET = 0.8, 0.05
"""Share of the residents of an area in its largest locality, and in each other locality."""
LOCALITIES = (TOWN, HAMLET, HAMLET, HAMLET, HAMLET)
LOCALITY_FROM = (1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 0)
"""Minimum size of the localities of classes 1 to 13."""


@dataclass(frozen=True)
class Homes:
    """The residence of persons, one per household.

    Attributes:
        area: the area.
        size_class: the size class of the locality; 0 is the largest.
        cell: the cell of the grid.
    """

    area: NDArray[np.uint16]
    size_class: NDArray[np.uint8]
    cell: Ints


class Geography:
    """The areas of a country with their planned sizes.

    Attributes:
        residents: the real number of residents of each area.
        sizes: the expected number of synthetic residents of each area, in proportion.
        grid: the grid of cells.
        region: the NUTS 2 region of each area, as a position in `regions`.
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
        """Return the residence of every person."""
        starts = np.flatnonzero(residents.first == np.arange(len(residents)))
        area = self._choose(len(starts), draws)
        locality = self._locality.draw(0, draws.noise(len(starts)))
        size_class = np.where(locality == 0, self._town.take(area), self._hamlet.take(area))
        offset = np.float64(2**-31) * draws.below(1 << 32, len(starts)) - 1
        cell = self.grid.cells(area, locality, offset)
        members = np.diff(np.append(starts, len(residents)))
        return Homes(*(np.repeat(place, members) for place in (area, size_class, cell)))

    def _choose(self, households: int, draws: Draws) -> NDArray[np.uint16]:
        """Return the area of each household, drawn with probabilities proportional to real residents."""
        resident = draws.below(int(self._ends[-1]), households)
        return np.searchsorted(self._ends, resident, side="right").astype(np.uint16)


def _size_class(sizes: Floats) -> NDArray[np.uint8]:
    smaller_first = np.array(LOCALITY_FROM[::-1])
    return (len(LOCALITY_FROM) - np.searchsorted(smaller_first, sizes, side="right")).astype(np.uint8)


def _without_areas(country: str) -> str:
    name = countries()[country]["name"]
    others = ", ".join(code for code in countries() if code != country)
    return (
        f"Persons cannot be placed in {name} ({country}): the number of its areas is known, but not their codes. "
        f"Choose another country: {others}."
    )
