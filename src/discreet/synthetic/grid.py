"""The 1 km2 grid: where in its LAU a household lives. All positions are made up.

The LAUs lie one after the other along Hilbert's curve, region by region, so that each is one piece of land and those of
one region are near each other. The grid is laid over that land askew: borders cut its cells, as they do in life.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.synthetic.hilbert import order_of, point

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from discreet.arrays import Floats, Ints
    from discreet.synthetic.randomness import Bytes, Draws

LAND = 0.5
"""Inhabited land in km2 for the square root of the residents of a LAU: 50 km2 for 10,000, 500 for a million."""
LOCALITIES = ((0.5, 0.5), (0.1, 0.03), (0.3, 0.03), (0.7, 0.03), (0.9, 0.03))
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
        middle, reach = (np.array(part).take(locality) for part in zip(*LOCALITIES, strict=True))
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
