"""Simulated releases: the same tables with given counts and fresh noise, shared by the cells that share it.

With true counts they predict the success of any attack, linear or not; with estimated counts they show how reliable
these are (a parametric bootstrap).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.complement_attack import narrower
from discreet.attacks.count_differences import common_cells

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.arrays import Flags, Floats, Ints
    from discreet.attacks.attacker_view import AssumedNoise, AttackerView


def noise_groups(attacker: AttackerView, counts: Mapping[str, Ints], noise: AssumedNoise) -> dict[str, Ints]:
    """Return the number of the noise term of every cell, by population; cells that share noise have equal numbers.

    Under noise by participants, a part that contains all persons of its total shares the noise of the total. The same
    holds for a cell whose persons are all in a narrower population. Noise on empty cells depends on codes instead.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    layouts = {name: attacker.view(name).layout for name in counts}
    starts = dict(zip(counts, np.cumsum([0, *(layout.cells for layout in layouts.values())]).tolist(), strict=False))
    pairs: list[tuple[Ints, Ints]] = [(np.zeros(0, dtype=np.int64),) * 2]
    for unit in attacker.units():
        cells = np.concatenate([starts[view.layout.name] + np.arange(view.layout.cells) for view in unit.views])
        first = np.unique(unit.equations.unknowns, return_index=True)[1][unit.equations.unknowns]
        # Cells that the universe excludes are one unknown, which is 0; they do not necessarily share their noise.
        possible = unit.equations.spread > 0
        pairs.append((cells[possible], cells[first][possible]))
    if noise.shared == "participants":
        for name, layout in layouts.items():
            here = counts[name]
            for link in layout.equations.links:
                above, below = link.coarse + link.parent, link.fine + np.arange(len(link.parent))
                alike = _same_persons(here[above], here[below], noise)
                pairs.append((starts[name] + above[alike], starts[name] + below[alike]))
        for part, whole, _ in narrower(attacker.programme):
            common = common_cells(layouts[part], layouts[whole])
            alike = _same_persons(counts[whole][common.second], counts[part][common.first], noise)
            pairs.append((starts[whole] + common.second[alike], starts[part] + common.first[alike]))
    upper, lower = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    total = sum(layout.cells for layout in layouts.values())
    same = csr_array((np.ones(len(upper), dtype=np.int8), (upper, lower)), shape=(total, total))
    groups: Ints = connected_components(same, directed=False)[1].astype(np.int64)
    return {name: groups[start : start + layouts[name].cells] for name, start in starts.items()}


def _same_persons(whole: Ints, part: Ints, noise: AssumedNoise) -> Flags:
    """Return where a part contains all persons of its whole, so that both share their noise."""
    found: Flags = (whole == part) & ((whole > 0) | (not noise.zeros_are_noisy))
    return found


def simulate_release(
    attacker: AttackerView,
    counts: Mapping[str, Ints],
    noise: AssumedNoise,
    groups: Mapping[str, Ints],
    random: np.random.Generator,
) -> AttackerView:
    """Return the attacker's view of the same tables with these counts and fresh noise.

    Args:
        attacker: the view of the actual release.
        counts: the counts of every cell, by population.
        noise: the noise distribution.
        groups: the cells that share their noise, from `noise_groups`.
        random: the random generator of the noise.
    """
    if noise.shared == "nothing":
        return attacker.with_published(
            {name: _mean_of_tables(attacker, name, here, noise, random) for name, here in counts.items()}
        )
    all_counts, all_groups = (np.concatenate([part[name] for name in counts]) for part in (counts, groups))
    _, first, place = np.unique(all_groups, return_index=True, return_inverse=True)
    shown = noise.publish(all_counts[first], random)[place].astype(float)
    ends = np.cumsum([len(here) for here in counts.values()])[:-1]
    return attacker.with_published(dict(zip(counts, np.split(shown, ends), strict=True)))


def _mean_of_tables(
    attacker: AttackerView, population: str, counts: Ints, noise: AssumedNoise, random: np.random.Generator
) -> Floats:
    """Return the mean over the tables that contain each cell, with independent noise in every table."""
    layout = attacker.view(population).layout
    # Cells that tables publish in one row share their noise.
    _, first, place = np.unique(layout.equations.unknowns, return_index=True, return_inverse=True)
    times = layout.equations.noise_term_counts[layout.equations.statistics][layout.statistic_of[first]]
    total = np.zeros(len(first))
    for number in range(int(times.max())):
        shown = number < times
        total[shown] += noise.publish(counts[first[shown]], random)
    found: Floats = (total / times)[place]
    return found
