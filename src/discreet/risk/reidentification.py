"""Re-identification: reconstructed records that are also matched to the right person.

Bach (2020), section "Database reconstruction vs. personal data breaches":
r_reid = r_recon r_match. Beyond the paper: much of a database can be guessed without
the release, so the rate stands beside that of guessing. Only the excess is the release's doing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from discreet.errors import ParameterError
from discreet.noise.parameters import non_negative
from discreet.results import Result

ASSUMPTIONS = (
    "matching succeeds as often for reconstructed as for guessed records, independently of both",
    "rates are averages over all persons; rare persons can be far more exposed",
    "measured for this attack; a better attack reconstructs more",
)


@dataclass(frozen=True, kw_only=True)
class Reidentification:
    """The rate of re-identification beside that of guessing, from three shares between 0 and 1.

    Attributes:
        reconstructed: r_recon, the share of records that the attack on the release reconstructs rightly.
        guessed: the share that is right when guessing from public knowledge without the release.
        matched: r_match, the share of right records that are matched to the right person.

    >>> attack = Reidentification(reconstructed=0.75, guessed=0.25, matched=0.5)
    >>> attack.rate, attack.excess
    (0.375, 0.25)
    """

    reconstructed: float
    guessed: float
    matched: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not non_negative.contains(value) or value > 1:
                wanted = "a share from 0 to 1 (a percentage divided by 100)"
                raise ParameterError.outside("re-identification", field.name, value, wanted)

    @property
    def rate(self) -> float:
        """Return r_reid = r_recon r_match."""
        return self.reconstructed * self.matched

    @property
    def excess(self) -> float:
        """Return (r_recon - r_guess) r_match, what the release adds; below 0 the attack is worse than a guess."""
        return (self.reconstructed - self.guessed) * self.matched

    def results(self) -> list[Result]:
        """Return the rate and what the release adds to guessing."""
        return [
            Result(
                name="reidentification",
                equation="r_reid = r_recon r_match",
                value=self.rate,
                unit="1",
                sentence=f"The attack finds the right record of the right person for {self.rate:.2%} of all persons; "
                f"guessing without the release would do so for {self.guessed * self.matched:.2%}.",
                assumptions=ASSUMPTIONS,
            ),
            Result(
                name="reidentification_excess",
                equation="(r_recon - r_guess) r_match",
                value=self.excess,
                unit="1",
                sentence=self._excess_in_words(),
                assumptions=ASSUMPTIONS,
            ),
        ]

    def _excess_in_words(self) -> str:
        if self.reconstructed > self.guessed:
            return (
                f"The release lets the attacker re-identify {self.excess:.2%} of all persons more than guessing does."
            )
        return (
            "This attack does no better than guessing. That speaks of the attack, not of the release: "
            "a better attack may still learn from it."
        )
