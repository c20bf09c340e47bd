"""Reconstruction and re-identification: how much noise reconstruction tolerates, and how many persons it re-identifies.

The database has n records of 0 or 1; a query counts the 1s in a subset of the records, with noise up to E (Dinur and
Nissim 2003; Bach 2020, sections "Database reconstruction theorem" and on risk-driven parametrisation). Theorem 2 holds
for every n. Theorem 3 has hidden constants: it describes scaling and guarantees nothing for one database.
`sensitivity.noise_scaling` returns the growth of the noise with the output.

A person is re-identified if their record is reconstructed and matched to them: r_reid = r_recon r_match (Bach 2020,
section "Database reconstruction vs. personal data breaches"). Beyond the paper: an attacker can guess much of a
database without the release. The rate is therefore compared with that of guessing; only the excess is due to the
release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from discreet.errors import ParameterError
from discreet.noise.parameters import non_negative, positive_whole
from discreet.results import Result

SCALING = "hidden constants: a scaling, not a guarantee; neither side of the threshold is proof"


def exponential_attack(records: int, bound: float) -> Result:
    """Return the largest number of records that the attack with all 2^n queries gets wrong: min(4 E, n).

    Theorem 2: any database whose counts differ from the published ones by at most E,
    for every subset, differs from the true one in at most 4 E records.

    >>> exponential_attack(1000, 5).value
    20
    """
    check_records(records)
    _check_noise(bound)
    wrong = min(4 * bound, records)
    return Result(
        name="exponential_reconstruction",
        equation="distance <= min(4 E, n) (Dinur and Nissim, theorem 2)",
        value=wrong,
        unit="records",
        sentence=f"If every possible count of the {records:,} records were published with noise up to {bound:g}, an "
        f"attacker could reconstruct all records except at most {wrong:,g}.",
        assumptions=(
            "one yes-or-no attribute per record",
            "counts of all 2^n subsets are published, which no real output does",
            "unlimited computing power",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class PolynomialAttack:
    """The reconstruction theorem (theorem 3): t = n log^2 n random queries with noise below the order of sqrt(n).

    A candidate within the noise of all answers then differs from the true database in less
    than any given share of the records, with high probability and for n large enough.
    The order of sqrt(n) hides a constant that the theorem does not give: least squares
    is known to recover 90 % of the records even at twice sqrt(n).

    Attributes:
        records: n.
        bound: the largest noise E.
        outputs: the number of published counts; None if unknown.

    >>> attack = PolynomialAttack(records=1_000_000, bound=10)
    >>> f"{attack.queries:.3g}", attack.ratio
    ('1.91e+08', 0.01)
    """

    records: int
    bound: float
    outputs: int | None = None

    def __post_init__(self) -> None:
        check_records(self.records)
        _check_noise(self.bound)
        if self.outputs is not None and not positive_whole.contains(self.outputs):
            raise ParameterError.outside("reconstruction", "outputs", self.outputs, positive_whole.words)

    @property
    def queries(self) -> float:
        """Return t = n log^2 n, with the natural logarithm."""
        return queries_needed(self.records)

    @property
    def ratio(self) -> float:
        """Return E / sqrt(n); reconstruction is a risk if it is small."""
        return self.bound / math.sqrt(self.records)

    def result(self) -> Result:
        """Return the noise relative to sqrt(n)."""
        scope = "within" if self.ratio < 1 else "not clearly within"
        published = "" if self.outputs is None else f"; {self.outputs:,} counts are published"
        return Result(
            name="polynomial_reconstruction",
            equation="E / sqrt(n), t = n log^2 n (Dinur and Nissim, theorem 3)",
            value=self.ratio,
            unit="1",
            sentence=f"Noise up to {self.bound:g} is {self.ratio:.3g} times the square root of {self.records:,} "
            f"records, which is {scope} the scope of the reconstruction theorem. Its attack needs about "
            f"{self.queries:,.0f} counts of random subsets{published}. The theorem describes how the risk scales, not "
            "whether this database is safe.",
            assumptions=(
                SCALING,
                "one yes-or-no attribute per record",
                "counts of random subsets; published tables are not random, and attacks on them can need fewer",
            ),
        )


def epsilon_of_reconstruction(records: int, confidence: float = 0.99) -> Result:
    """Return the privacy budget per count above which theorem 3 also applies to unbounded noise.

    eps_alpha(n) > log(n log^2 n / (1 - alpha)) / sqrt(n): one term of Laplace noise
    of scale 1/eps exceeds E = sqrt(n) with probability exp(-eps E), and the t = n log^2 n
    terms all stay below E with probability at least alpha if t exp(-eps E) <= 1 - alpha.

    >>> round(epsilon_of_reconstruction(1_000_000).value, 4)
    0.0237
    """
    check_records(records)
    if not 0 < confidence < 1:
        raise ParameterError.outside("reconstruction", "confidence", confidence, "between 0 and 1", "0.68 to 0.99")
    epsilon = math.log(queries_needed(records) / (1 - confidence)) / math.sqrt(records)
    return Result(
        name="epsilon_of_reconstruction",
        equation="eps = log(n log^2 n / (1 - alpha)) / sqrt(n)",
        value=epsilon,
        unit="per count",
        sentence=f"Above a privacy budget of {epsilon:.3g} per count, Laplace noise on about "
        f"{queries_needed(records):,.0f} counts stays below the square root of {records:,} records with a "
        f"probability of at least {confidence:.2%}: unbounded noise then protects no better than bounded noise.",
        assumptions=(
            SCALING,
            "sensitivity 1 and the same budget for every count",
            "a smaller budget does not prove safety",
        ),
    )


def queries_needed(records: int) -> float:
    """Return t = n log^2 n."""
    return records * math.log(records) ** 2


def check_records(records: int) -> None:
    """Raise ParameterError for a number of records to which the theorems do not apply."""
    if not positive_whole.contains(records) or records < 3:
        raise ParameterError.outside("reconstruction", "records", records, "a whole number from 3 on")


def _check_noise(bound: float) -> None:
    if not non_negative.contains(bound):
        raise ParameterError(
            f"reconstruction: bound must be {non_negative.words}, not {bound!r}. For unbounded noise use "
            "epsilon_of_reconstruction.",
            parameter="bound",
        )


ASSUMPTIONS = (
    "matching succeeds as often for reconstructed as for guessed records, independently of both",
    "rates are averages over all persons; persons with rare attributes can be far more exposed",
    "measured for this attack; a better attack reconstructs more",
)


@dataclass(frozen=True, kw_only=True)
class Reidentification:
    """The re-identification rate compared with that of guessing, from three shares between 0 and 1.

    Attributes:
        reconstructed: r_recon, the share of records that the attack on the release reconstructs correctly.
        guessed: the share of records that an attacker guesses correctly from public knowledge without the release.
        matched: r_match, the share of correct records that are matched to the correct person.

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
        """Return (r_recon - r_guess) r_match, the rate due to the release; negative if guessing is better."""
        return (self.reconstructed - self.guessed) * self.matched

    def results(self) -> list[Result]:
        """Return the re-identification rate and its excess over guessing."""
        return [
            Result(
                name="reidentification",
                equation="r_reid = r_recon r_match",
                value=self.rate,
                unit="1",
                sentence=f"The attack re-identifies {self.rate:.2%} of all persons with their correct record; guessing "
                f"without the release re-identifies {self.guessed * self.matched:.2%}.",
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
                f"With the release, the attacker re-identifies {self.excess:.2%} of all persons more than by guessing."
            )
        return (
            "This attack performs no better than guessing. This does not prove that the release is safe: a better "
            "attack may succeed."
        )
