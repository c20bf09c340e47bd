"""What a page is about: everything that was read, made and found, before a word is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.microdata.synthetic.write import Synthetic
    from discreet.release.release import Release
    from discreet.results import Result
    from discreet.risk.assess import Assessment
    from discreet.utility.before_after import BeforeAfter
    from discreet.utility.noise_seen import NoiseSeen


@dataclass(frozen=True, eq=False)
class Story:
    """A synthetic census, protected with a p-table and assessed. It holds true counts.

    Attributes:
        made: the synthetic census.
        release: what was published, with the summary of the run that made it.
        assessment: what an attacker could learn.
        seen: the noise that the release carries.
        example: one small table before and after.
        commands: what to type to make all this again.
        versions: versions of programs by name.
    """

    made: Synthetic
    release: Release
    assessment: Assessment
    seen: NoiseSeen
    example: BeforeAfter
    commands: tuple[str, ...]
    versions: Mapping[str, str]

    def result(self, name: str) -> Result | None:
        """Return the first result of that name, None if nothing of the kind was found."""
        every = (*self.seen.results(), *self.assessment.results)
        return next((result for result in every if result.name == name), None)
