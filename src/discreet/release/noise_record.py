"""The noise of a release: its parameters, and the part of them that is disclosed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.noise.by_count import SameNoise, transition_matrix
from discreet.noise.by_name import FROM_FILE, noise_described
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import KEY_MODES, PTable
from discreet.noise.sentences import disclosure_warnings
from discreet.noise.sentences import warnings as noise_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.mechanisms.mechanism import RegisteredMechanism
    from discreet.noise.by_count import NoiseByCount, TransitionMatrix

WITHOUT_LAW = (FROM_FILE, "none")
"""Values of `law` without a named distribution: a p-table from a file, and no noise."""
TRUE_COUNTS = "none: these are true counts, not for publication"
"""The method of a release without noise."""
ROUNDING = "rounding"
"""The method of a release whose p-table is a rounding rule."""
FIXED_CHANGE = "a fixed change of every count"
"""The method of a release whose p-table has no random noise and maps different counts to different values."""
NOISY_TOTALS = "Every count has its own noise, so totals can differ slightly from the sums of their parts."
ROUNDED_TOTALS = "Every count is rounded separately, so totals can differ slightly from the sums of their parts."
VAGUE_BOUNDS = (5, 10, 20, 50, 100)
"""Approximate bounds that may be disclosed; a bound is rounded up to one of these."""
MIN_POSSIBLE_BOUNDS = 3
"""Minimum number of bounds that must remain possible after disclosure."""
NOISE_KINDS: dict[str, Any] = {
    **dict.fromkeys(("spsn", "perturb_zeros", "labelled_total", "non_negative"), bool),
    **dict.fromkeys(("parameters",), dict),
    **dict.fromkeys(("key_space", "key_bits"), int | None),
    **dict.fromkeys(("ptable_text", "key_version"), str | None),
}
"""Types of the entries on noise; other entries have checks of their own."""


@dataclass(frozen=True, kw_only=True)
class NoiseRecord:
    """The parameters of the noise of a release.

    Attributes:
        mechanism: the name of the mechanism.
        spsn: whether the same participants have the same noise in every table.
        law: the name of the noise distribution.
        parameters: the parameters of the distribution by name; for max-entropy also the settings of the p-table.
        ptable_text: the complete p-table in TOML format, if `law` is `p-table`.
        key_mode: `mixed` or `plain` cell keys.
        key_space: the number of keys K.
        key_version: the version label of the record keys, if any.
        key_bits: the bits of the digest of an id from which its key was derived, if relevant; 32 by default.
        perturb_zeros: whether empty cells have noise, too; a p-table contains this setting itself.
        labelled_total: whether, with coordinates, the noise of the grand total depends on version label and unit.
        non_negative: whether negative values are published as 0.
        privacy: epsilon and delta of a differentially private output as a whole, and their condition.
    """

    mechanism: str = "cell-key"
    spsn: bool = True
    law: str = "max-entropy"
    parameters: dict[str, Any]
    ptable_text: str | None = None
    key_mode: str = "mixed"
    key_space: int | None = None
    key_version: str | None = None
    key_bits: int | None = None
    perturb_zeros: bool = False
    labelled_total: bool = False
    non_negative: bool = False
    privacy: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        check_kinds(self, NOISE_KINDS)
        laws = (*DISTRIBUTIONS.names(), *WITHOUT_LAW)
        for name, known in (("mechanism", MECHANISMS.names()), ("law", laws), ("key_mode", KEY_MODES)):
            if getattr(self, name) not in known:
                raise UnknownNameError.among(name, str(getattr(self, name)), known)
        if self.privacy is not None:
            self._check_privacy()
        kind = self.mechanism_class
        if kind.shares_noise is not None and self.spsn != kind.shares_noise:
            raise ParameterError(
                f"The mechanism {self.mechanism} {'always' if kind.shares_noise else 'never'} draws the same noise for "
                f"the same participants, so spsn cannot be {str(self.spsn).lower()}. Correct one of them.",
                parameter="spsn",
            )
        if (self.law == "none") != ("none" in kind.laws):
            raise ParameterError("The law none is valid only for the mechanism exact, which needs it.", parameter="law")
        if kind.laws and self.law not in kind.laws:
            raise ParameterError(
                f"The mechanism {self.mechanism} needs the law {' or '.join(kind.laws)}, not {self.law}.",
                parameter="law",
            )
        if not self.is_exact:
            _ = self.noise

    def _check_privacy(self) -> None:
        """Refuse a privacy guarantee without its numbers or its condition."""
        given = self.privacy if isinstance(self.privacy, dict) else {}
        if not all(
            isinstance(given.get(name), kind)
            for name, kind in (("epsilon", float | int), ("delta", float | int), ("condition", str))
        ):
            raise ParameterError(
                "The entry privacy of a record needs the numbers epsilon and delta, and the text condition.",
                parameter="privacy",
            )

    @property
    def is_exact(self) -> bool:
        """Return whether the release contains true counts, without noise."""
        return self.law == "none"

    @property
    def is_deterministic(self) -> bool:
        """Return whether counts are changed deterministically, by rounding or by a fixed amount."""
        return not self.is_exact and self.noise.is_deterministic

    @property
    def rounds(self) -> bool:
        """Return whether counts are rounded instead of perturbed by random noise."""
        return not self.is_exact and self.noise.rounds

    @property
    def mechanism_class(self) -> type[RegisteredMechanism]:
        """Return the class of the mechanism."""
        return MECHANISMS.get(self.mechanism)

    @property
    def has_plain_keys(self) -> bool:
        """Return whether cell keys are plain sums, so that the keys of the parts determine the noise of a total."""
        return self.mechanism_class.needs_keys and self.key_mode == "plain"

    @cached_property
    def noise(self) -> NoiseByCount:
        """Return the noise by true count, solved from its settings or read from the given p-table."""
        if self.is_exact:
            what = "This release contains true counts without noise, so there is no noise to assess."
            raise ParameterError(f"{what} Do not publish it. Assess a release with noise.", parameter="law")
        return noise_described(
            self.law,
            self.parameters,
            ptable_text=self.ptable_text,
            key_space=self.key_space,
            perturb_zeros=self.perturb_zeros,
        )

    @property
    def variance(self) -> float:
        """Return the variance of one noise term on a large count."""
        return self.noise.large.variance

    @property
    def mean(self) -> float:
        """Return the mean of one noise term on a large count; 0 except for a p-table from a file."""
        return self.noise.large.mean if self.law == FROM_FILE else 0.0

    @property
    def bound(self) -> float:
        """Return the maximum absolute noise of any count, including small counts."""
        return self.noise.bound

    @property
    def zeros_are_noisy(self) -> bool:
        """Return whether empty cells have noise, so that their published count may differ from 0."""
        return not self.is_exact and self.noise.perturbs_zeros

    @property
    def smallest_published(self) -> int:
        """Return the smallest positive count that can be published; a p-table may exclude small counts."""
        return self.noise.smallest_published

    @property
    def largest_variance(self) -> float:
        """Return the largest variance of a count; it differs from `variance` if a budget is split unevenly."""
        return self.largest_noise.large.variance

    @cached_property
    def largest_noise(self) -> NoiseByCount:
        """Return the noise with the largest variance; it differs from `noise` if a budget is split unevenly."""
        smallest = (self.privacy or {}).get("smallest_epsilon_of_a_count")
        return SameNoise(TwoSidedGeometric(epsilon=smallest), self.perturb_zeros) if smallest else self.noise

    def noise_warnings(self) -> list[str]:
        """Return warnings: no protection; for a p-table also biased rows, negative counts and too few keys."""
        if self.is_exact:
            return []
        if not isinstance(self.noise, PTable):
            return disclosure_warnings(self.noise)
        keys = self.key_mode if self.mechanism_class.needs_keys else "words"
        return noise_warnings(self.noise, keys, non_negative=self.non_negative)

    def transition_matrix(self) -> TransitionMatrix:
        """Return the transition probabilities of all true counts; of an uneven budget, those with the most noise."""
        return transition_matrix(None if self.is_exact else self.largest_noise, non_negative=self.non_negative)

    def public_noise(self) -> dict[str, Any]:
        """Return the disclosed noise: its standard deviation, an approximate bound, and properties of the counts.

        Exact parameters and keys are confidential: an exact bound helps an attacker (see the measure `bound`).
        """
        if self.is_exact:
            return {"method": TRUE_COUNTS}
        disclosed: dict[str, Any] = {
            "method": self._public_method,
            "typical_noise": round(self.largest_variance**0.5, 1),
            "same_count_same_noise": self.spsn,
            "totals": ROUNDED_TOTALS if self.rounds else NOISY_TOTALS,
        }
        if mean := round(self.mean, 1):
            disclosed["mean_noise"] = mean
        # s^2 <= E (E + 1) / 3 for a standard deviation s. It has one decimal, and may be half a unit smaller.
        size = math.hypot(max(round(self.largest_variance**0.5, 1) - 0.05, 0.0), self.mean)
        if bound := self._vague_bound(size):
            disclosed["bound"] = bound
        if self.zeros_are_noisy:
            disclosed["zeros"] = "Empty cells have noise, too: a cell with a published count other than 0 may be empty."
        if self.smallest_published > 1:
            # This is visible in the tables.
            disclosed["smallest_published"] = self.smallest_published
        if self.non_negative:
            disclosed["negative"] = "Negative values are published as 0, so small counts are too high on average."
        if self.privacy:
            # A differential privacy guarantee may be disclosed, with its condition.
            disclosed["privacy"] = {name: self.privacy.get(name) for name in ("epsilon", "delta", "condition")}
        return disclosed

    @property
    def _public_method(self) -> str:
        if self.is_deterministic:
            return ROUNDING if self.rounds else FIXED_CHANGE
        return "random noise" + self.mechanism_class.public_method

    @property
    def earlier_bound(self) -> str | None:
        """Return the bound that earlier versions disclosed; they assumed a wider range of the standard deviation."""
        if self.is_exact:
            return None
        return self._vague_bound(max(math.hypot(self.largest_variance**0.5, self.mean) - 0.1, 0.0))

    def _vague_bound(self, size: float) -> str | None:
        """Return the next larger approximate bound with several possible true bounds, given the minimum noise size."""
        for below, vague in zip((1, *VAGUE_BOUNDS), VAGUE_BOUNDS, strict=False):
            able = [bound for bound in range(below, vague) if bound * (bound + 1) / 3 >= size**2]
            if self.bound < vague and (len(able) >= MIN_POSSIBLE_BOUNDS or below > self.bound):
                return f"not more than about {vague}"
        return None


def check_kinds(record: NoiseRecord, kinds: Mapping[str, Any]) -> None:
    """Refuse entries of a record with a wrong type."""
    for name, kind in kinds.items():
        if not isinstance(getattr(record, name), kind):
            words = getattr(kind, "__name__", str(kind).replace("None", "null").replace(" |", " or"))
            raise ParameterError.outside("record", name, getattr(record, name), f"of type {words}")
