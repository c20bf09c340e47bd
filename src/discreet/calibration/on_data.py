"""A setting tried on data: published in memory, attacked and measured, before anybody decides on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.accuracy.measured import utility_of
from discreet.attacks.attack_report import of_single_persons
from discreet.attacks.attack_run import attack
from discreet.calibration.contenders import WITH_KEYS, WITHOUT_KEYS, Contender
from discreet.programme.selection import choose_tables
from discreet.protection.pipeline import protect
from discreet.tabulation.output import output_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.calibration.recommendation import Setting
    from discreet.programme.model import Programme
    from discreet.progress import Progress
    from discreet.results import Result

ATTACKS = ("posterior-projection", "projection", "margins", "bound")
LAW = "max-entropy"
SINGLE = (
    "posterior-projection: single persons",
    "projection: single persons",
    "margins: posterior: single persons",
)
BOUND = "bound"
TOLD = (
    ("posterior-projection", "projection"),
    SINGLE,
    (BOUND,),
    ("expected_absolute_distance",),
    ("totals_apart",),
    ("counts_off_by_20_percent",),
)
"""Figures that are told first; of several the largest."""


@dataclass(frozen=True)
class OnData:
    """What attackers and users get of one release of the data.

    Attributes:
        mechanism: who got which noise: cell keys where records have keys, else coordinates.
        results: of attacks and of measures of utility.
        warnings: of measuring.
    """

    mechanism: str
    results: tuple[Result, ...]
    warnings: tuple[str, ...]

    def told(self) -> list[Result]:
        """Return the figures that are told first."""
        found = []
        for names in TOLD:
            there = [each for each in self.results if each.name in names]
            found += sorted(there, key=lambda each: -each.value)[:1]
        return found

    def alarms(self, confidence: float) -> Iterator[str]:
        """Say where these data are known better than the formulas for large counts promise."""
        single = max((each.value for each in self.results if each.name in SINGLE), default=0.0)
        if single > confidence:
            yield (
                f"On these data {single:.1%} of the cells of one person are recovered exactly, more than "
                f"{confidence:.1%}: the constraints are about large counts."
            )
        if any(each.name == BOUND and each.value >= 1 for each in self.results):
            yield "On these data the attack on the bound found it."


def try_on_data(
    data: object,
    programme: Programme,
    setting: Setting,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **reading: Any,  # noqa: ANN401 - of protect
) -> OnData:
    """Publish data with a setting, in memory, attack the release and measure what users get.

    Args:
        data: as for `protect`.
        programme: what is published.
        setting: variance and bound.
        seed: of all that is random.
        progress: called with a stage, what is done and what there is to do.
        reading: what else `protect` takes, as `id` or `count`.
    """
    keyed = bool(reading.get("id") or reading.get("key"))
    mechanism = WITH_KEYS if keyed else WITHOUT_KEYS
    chosen = choose_tables(programme, None, reading.pop("unit", None))
    made = Contender(mechanism, mechanism, LAW).at(
        setting.variance, setting.bound, output_of(chosen), keyed=keyed, seed=seed
    )
    release = protect(data, chosen, made, keep_exact=True, progress=progress, **reading)
    report = attack(release, attacks=ATTACKS, seed=seed, predict=False, progress=progress)
    used = utility_of(release, seed=seed)
    found = (*report.results, *of_single_persons(report), *used.results)
    return OnData(mechanism, tuple(replace(each, worst=None) for each in found), used.warnings)
