"""Places: how large the areas of a country are, who lives where, and how large the locality is."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.microdata.synthetic.randomness import Draws
from discreet.programme.eu2021.census import countries

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.microdata.synthetic.households import Residents
    from discreet.programme.model import Topic

SPREAD = 1.8
"""Standard deviation of the logarithm of an area's size: few areas are large, and many tiny."""
TOWN, HAMLET = 0.8, 0.05
"""Of every area the share that lives in its largest locality, and the share that lives in each other one."""
LOCALITY_FROM = (1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 0)
"""The smallest size of the classes of localities 1 to 13."""


class Geography:
    """The areas of a country with their planned sizes.

    Attributes:
        sizes: how many persons each area is planned to have; chance lets the number drawn differ.
        region: the NUTS 2 region of each area, as a place in `regions`.
        regions: the codes of the NUTS 2 regions.
        parts: the number of NUTS 3 regions.
    """

    def __init__(self, country: str, geo: Topic, persons: int, seed: int) -> None:
        areas = geo.levels[-1].codes
        if geo.tree is None or areas is None:
            raise ParameterError(_without_areas(country), parameter="country")
        shares = area_shares(len(areas), Draws(country, seed, "areas"))
        self.sizes = shares * persons
        self.regions = geo.tree.cut(2)
        self.parts = len(geo.tree.cut(3))
        self.region = np.array(geo.tree.above(self.regions, areas), dtype=np.uint8)
        self._town, self._hamlet = (_size_class(self.sizes * share) for share in (TOWN, HAMLET))
        # Areas lie between 0 and 1, each as wide as its share: a random number falls into one of them.
        self._ends = np.cumsum(shares)[:-1]

    def settle(self, residents: Residents, draws: Draws) -> NDArray[np.uint16]:
        """Return the area of every person; a household lives in one area."""
        starts = np.flatnonzero(residents.first == np.arange(len(residents)))
        chance = draws.words(len(starts)) * 2.0**-64
        area = np.searchsorted(self._ends, chance, side="right").astype(np.uint16)
        return np.repeat(area, np.diff(np.append(starts, len(residents))))

    def localities(self, residents: Residents, area: NDArray[np.uint16], draws: Draws) -> NDArray[np.uint8]:
        """Return the size class of every person's locality, from 0 for the largest; one per household."""
        in_town = draws.happens(TOWN, len(residents))[residents.first]
        return np.where(in_town, self._town.take(area), self._hamlet.take(area))


def area_shares(areas: int, draws: Draws) -> NDArray[np.float64]:
    """Return the share of each area: evenly spaced quantiles of a lognormal law, in random order."""
    quantile = NormalDist(sigma=SPREAD).inv_cdf
    weights = np.exp([quantile((place + 0.5) / areas) for place in draws.order(areas).tolist()])
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _size_class(sizes: NDArray[np.float64]) -> NDArray[np.uint8]:
    smaller_first = np.array(LOCALITY_FROM[::-1])
    return (len(LOCALITY_FROM) - np.searchsorted(smaller_first, sizes, side="right")).astype(np.uint8)


def _without_areas(country: str) -> str:
    name = countries()[country]["name"]
    others = ", ".join(code for code in countries() if code != country)
    return (
        f"The areas of {name} ({country}) are known by their numbers only, so that nobody can be settled in them. "
        f"Choose another country: {others}."
    )
