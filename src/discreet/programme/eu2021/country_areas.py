"""The areas of one country: NUTS regions and LAUs as a tree if the list is available, otherwise their numbers."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from discreet.errors import ParameterError
from discreet.programme.category_tree import Category, CategoryTree
from discreet.programme.model import Breakdown, Level, Topic

NUTS_VINTAGES = (2021, 2016)
LAU_VINTAGES = (2020, 2019, 2018, 2010)
WORKPLACES = (("1", "in Member State"), ("2", "not in Member State"), ("3", "no fixed place"),
              ("4", "unknown place"), ("5", "not applicable (not working)"))  # fmt: skip
UNKNOWN_REGION = "1.y"


@dataclass(frozen=True)
class CountryAreas:
    """The levels NUTS1, NUTS2, NUTS3 and LAU of a country.

    Attributes:
        sizes: the number of areas per level.
        tree: the areas; None if only their numbers are known.
        notes: the notes for the reader.
    """

    sizes: tuple[int, int, int, int]
    tree: CategoryTree | None
    notes: tuple[str, ...]

    def topics(self) -> dict[str, Topic]:
        """Return the place of residence and the place of work."""
        geo = Topic("GEO", self._residence(), self.tree, {"en": "Place of usual residence (geographical area)"})
        work = Topic("LPW", self._work(), self._work_tree(), {"en": "Location of place of work"})
        return {"GEO": geo, "LPW": work}

    def breakdowns(self) -> dict[str, Breakdown]:
        """Return the geographic breakdowns; GEO.N is only the national total."""
        residence, work = self._residence(), self._work()
        found = {code: Breakdown(code, "GEO", residence[:upto]) for code, upto in
                 (("GEO.N", 0), ("GEO.L", 2), ("GEO.M", 3), ("GEO.H", 4))}  # fmt: skip
        return found | {"LPW.N": Breakdown("LPW.N", "LPW", work[:1]), "LPW.L": Breakdown("LPW.L", "LPW", work)}

    def _residence(self) -> tuple[Level, ...]:
        names = ("NUTS1", "NUTS2", "NUTS3", "LAU")
        return tuple(
            Level("GEO", name, size, self.tree.cut(depth) if self.tree else None)
            for depth, (name, size) in enumerate(zip(names, self.sizes, strict=True), start=1)
        )

    def _work(self) -> tuple[Level, ...]:
        """Return the levels of the place of work: five kinds, then regions of work together with the other kinds."""
        kinds = tuple(code for code, _ in WORKPLACES)
        regions = [self.tree.cut(depth) if self.tree else None for depth in (1, 2)]
        levels = [Level("LPW", "LPW.N", len(kinds), kinds)]
        for name, size, codes in zip(("LPW.L:NUTS1", "LPW.L"), self.sizes, regions, strict=False):
            listed = (*(f"1.{code}" for code in codes), UNKNOWN_REGION, *kinds[1:]) if codes else None
            levels.append(Level("LPW", name, size + len(kinds), listed))
        return tuple(levels)

    def _work_tree(self) -> CategoryTree | None:
        if not self.tree:
            return None
        kinds = [Category(code, "", {"en": label}) for code, label in WORKPLACES]
        first = [Category(f"1.{code}", "1") for code in self.tree.cut(1)]
        second = [Category(f"1.{code}", f"1.{self.tree.path(code)[0]}") for code in self.tree.cut(2)]
        return CategoryTree("LPW", (*kinds, *first, Category(UNKNOWN_REGION, "1"), *second))


def areas_of(country: str, row: dict[str, str], *, nuts: int, lau: int) -> CountryAreas:
    """Return the areas of a country for a vintage of NUTS and of LAU."""
    for name, asked, known in (("nuts", nuts, NUTS_VINTAGES), ("lau", lau, LAU_VINTAGES)):
        if asked not in known:
            raise ParameterError.outside("EU census", name, asked, f"one of {', '.join(map(str, known))}")
    regions = [int(row[f"nuts{n}" if nuts == 2021 else f"nuts{n}_2016"]) for n in (1, 2, 3)]
    units = row["lau2_2010" if lau == 2010 else f"lau_{lau}"]
    if not units:
        raise ParameterError(
            f"The number of LAUs of {lau} is not available for {country}. Choose another vintage.", parameter="lau"
        )
    counted = (regions[0], regions[1], regions[2], int(units))
    if (nuts, lau) != (2021, 2020):
        return CountryAreas(counted, None, (f"Only the numbers of areas of NUTS {nuts} and LAU {lau} are known.",))
    tree = _tree(country)
    listed = tuple(len(tree.cut(depth)) for depth in (1, 2, 3, 4))
    if listed != counted:
        note = (
            f"The LAU list of {country} has {listed[2]} NUTS 3 regions and the regulation's geography {counted[2]}: "
            "the list has an extra region for areas outside them. Numbers follow the geography, without area codes."
        )
        return CountryAreas(counted, None, (note,))
    return CountryAreas(counted, tree, ())


@cache
def _lists() -> dict[str, list[tuple[str, list[str]]]]:
    data = files("discreet.programme.eu2021").joinpath("lau2020.csv.gz").read_bytes()
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for row in csv.DictReader(io.StringIO(gzip.decompress(data).decode())):
        found.setdefault(row["nuts3"][:2], []).append((row["nuts3"], row["lau"].split()))
    return found


@cache
def _tree(country: str) -> CategoryTree:
    """Return NUTS 1, 2 and 3 (the first three and four characters of the code, and the code) and LAUs below them."""
    categories: dict[str, Category] = {}
    for nuts3, units in _lists()[country]:
        for code, parent in ((nuts3[:3], ""), (nuts3[:4], nuts3[:3]), (nuts3, nuts3[:4])):
            categories.setdefault(code, Category(code, parent))
        for unit in units:
            code = f"{country}_{unit}"
            categories[code] = Category(code, nuts3)
    return CategoryTree("GEO", tuple(categories.values()))
