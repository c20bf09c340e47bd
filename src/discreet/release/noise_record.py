"""How the noise of a release was made, and what the public may know of it."""

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
from discreet.noise.sentences import revealing
from discreet.noise.sentences import warnings as noise_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.mechanisms.mechanism import RegisteredMechanism
    from discreet.noise.by_count import NoiseByCount, TransitionMatrix

WITHOUT_LAW = (FROM_FILE, "none")
"""What stands for a law where there is none by name: a p-table from a file, and no noise at all."""
TRUE_COUNTS = "none: these are true counts, not for publication"
"""The method of a release without noise."""
ROUNDING = "rounding"
"""The method of a release whose p-table is a rounding rule."""
FIXED_CHANGE = "a fixed change of every count"
"""The method of a release whose p-table has no random noise and keeps all counts apart."""
ROUNDED_TOTALS = "Every count is rounded by itself: totals differ a little from the sums of their parts."
VAGUE_BOUNDS = (5, 10, 20, 50, 100)
"""What may be told of a bound: the next larger of these."""
LEFT_TO_GUESS = 3
"""Bounds that what is told must leave possible."""
NOISE_KINDS: dict[str, Any] = {
    **dict.fromkeys(("spsn", "perturb_zeros", "labelled_total", "non_negative"), bool),
    **dict.fromkeys(("parameters",), dict),
    **dict.fromkeys(("key_space", "key_bits"), int | None),
    **dict.fromkeys(("ptable_text", "key_version"), str | None),
}
"""What the entries on noise must be; others are checked by what they mean."""


@dataclass(frozen=True, kw_only=True)
class NoiseRecord:
    """How the noise of a release was made.

    Attributes:
        mechanism: who gets which noise.
        spsn: whether the same participants get the same noise in every table.
        law: the name of the law of noise.
        parameters: the law's parameters by name; for max-entropy also the p-table's settings.
        ptable_text: for the law `p-table`, the table whole, in our TOML format.
        key_mode: `mixed` or `plain` cell keys.
        key_space: the number of keys K.
        key_version: the version label of the record keys, if any.
        key_bits: bits of an id's digest that its key was reduced from, where that makes a difference; 32 if left out.
        perturb_zeros: whether a law gave empty cells noise too; a p-table says so itself.
        labelled_total: whether, under coordinates, version label and unit decide on the noise of the grand total, too.
        non_negative: whether what would have been negative is published as 0.
        privacy: of a differentially private output, the epsilon and delta of the whole and what they rest on.
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
                f"The mechanism {self.mechanism} {'gives' if kind.shares_noise else 'does not give'} the "
                f"same participants the same noise; spsn cannot be {str(self.spsn).lower()}. Correct one of them.",
                parameter="spsn",
            )
        if (self.law == "none") != ("none" in kind.laws):
            raise ParameterError("The law none is for the mechanism exact, and only for it.", parameter="law")
        if kind.laws and self.law not in kind.laws:
            raise ParameterError(
                f"The mechanism {self.mechanism} takes the law {' or '.join(kind.laws)}, not {self.law}.",
                parameter="law",
            )
        if not self.is_exact:
            _ = self.noise

    def _check_privacy(self) -> None:
        """Refuse a promise of privacy without its numbers, or without what it rests on."""
        given = self.privacy if isinstance(self.privacy, dict) else {}
        if not all(
            isinstance(given.get(name), kind)
            for name, kind in (("epsilon", float | int), ("delta", float | int), ("condition", str))
        ):
            raise ParameterError(
                "A record's privacy needs the numbers epsilon and delta, and condition, a text.", parameter="privacy"
            )

    @property
    def is_exact(self) -> bool:
        """Say whether true counts were published, without noise."""
        return self.law == "none"

    @property
    def is_deterministic(self) -> bool:
        """Say whether every count is always changed in the same way, by rounding or by a fixed amount."""
        return not self.is_exact and self.noise.is_deterministic

    @property
    def rounds(self) -> bool:
        """Say whether counts are rounded instead of given random noise."""
        return not self.is_exact and self.noise.rounds

    @property
    def mechanism_class(self) -> type[RegisteredMechanism]:
        """Return the mechanism that made the noise."""
        return MECHANISMS.get(self.mechanism)

    @property
    def has_plain_keys(self) -> bool:
        """Say whether the noise of a total follows from the keys of its parts."""
        return self.mechanism_class.needs_keys and self.key_mode == "plain"

    @cached_property
    def noise(self) -> NoiseByCount:
        """Return the noise of every true count, solved again from its settings or as it was given."""
        if self.is_exact:
            what = "This release is exact: it has no noise to assess."
            raise ParameterError(f"{what} Publish it nowhere, and assess one with noise.", parameter="law")
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
        """Return the largest absolute noise of any count; in a p-table from a file small counts may have more."""
        return self.noise.bound

    @property
    def zeros_are_noisy(self) -> bool:
        """Say whether an empty cell may have been published as something else."""
        return not self.is_exact and self.noise.perturbs_zeros

    @property
    def smallest_published(self) -> int:
        """Return the smallest count above 0 that can be published: a p-table may leave out the first ones."""
        return self.noise.smallest_published

    @property
    def largest_variance(self) -> float:
        """Return the variance of the count with most noise, where a budget is split unevenly; else that of any."""
        return self.largest_noise.large.variance

    @cached_property
    def largest_noise(self) -> NoiseByCount:
        """Return the noise of a count with most, where a budget is split unevenly; else that of all counts."""
        smallest = (self.privacy or {}).get("smallest_epsilon_of_a_count")
        return SameNoise(TwoSidedGeometric(epsilon=smallest), self.perturb_zeros) if smallest else self.noise

    def noise_warnings(self) -> list[str]:
        """Return what could surprise: no protection; in a p-table also biased rows, negative counts, too few keys."""
        if self.is_exact:
            return []
        if not isinstance(self.noise, PTable):
            return revealing(self.noise)
        keys = self.key_mode if self.mechanism_class.needs_keys else "words"
        return noise_warnings(self.noise, keys, non_negative=self.non_negative)

    def transition_matrix(self) -> TransitionMatrix:
        """Return the laws of all true counts; where a budget is split unevenly, that of a count with most noise."""
        return transition_matrix(None if self.is_exact else self.largest_noise, non_negative=self.non_negative)

    def public_noise(self) -> dict[str, Any]:
        """Return what a data user may know of the noise: its size, a vague bound, and what totals do.

        Exact parameters and keys stay with the curator: an exact bound helps an attacker (see the measure `bound`).
        """
        if self.is_exact:
            return {"method": TRUE_COUNTS}
        told: dict[str, Any] = {
            "method": self._public_method,
            "typical_noise": round(self.largest_variance**0.5, 1),
            "same_count_same_noise": self.spsn,
            "totals": ROUNDED_TOTALS
            if self.rounds
            else "Every count has noise of its own: totals differ a little from the sums of their parts.",
        }
        if mean := round(self.mean, 1):
            told["mean_noise"] = mean
        # A size needs room: s^2 <= E (E + 1) / 3. It is told to one decimal, and may be half a unit smaller.
        size = math.hypot(max(round(self.largest_variance**0.5, 1) - 0.05, 0.0), self.mean)
        if bound := self._vague_bound(size):
            told["bound"] = bound
        if self.zeros_are_noisy:
            told["zeros"] = "Empty cells carry noise, too: a published count may stand for nobody."
        if self.smallest_published > 1:
            # Whoever looks at the tables sees it.
            told["smallest_published"] = self.smallest_published
        if self.non_negative:
            told["negative"] = "What would have been negative is published as 0: small counts are too high on average."
        if self.privacy:
            # A promise of differential privacy is made to be told, with what it rests on.
            told["privacy"] = {name: self.privacy.get(name) for name in ("epsilon", "delta", "condition")}
        return told

    @property
    def _public_method(self) -> str:
        if self.is_deterministic:
            return ROUNDING if self.rounds else FIXED_CHANGE
        return "random noise" + self.mechanism_class.public_method

    @property
    def earlier_bound(self) -> str | None:
        """Return the bound that earlier versions describe: they left more room beside the size."""
        if self.is_exact:
            return None
        return self._vague_bound(max(math.hypot(self.largest_variance**0.5, self.mean) - 0.1, 0.0))

    def _vague_bound(self, size: float) -> str | None:
        """Return the next larger round bound that leaves several to guess, given the smallest possible size."""
        for below, vague in zip((1, *VAGUE_BOUNDS), VAGUE_BOUNDS, strict=False):
            able = [bound for bound in range(below, vague) if bound * (bound + 1) / 3 >= size**2]
            if self.bound < vague and (len(able) >= LEFT_TO_GUESS or below > self.bound):
                return f"not more than about {vague}"
        return None


def check_kinds(record: NoiseRecord, kinds: Mapping[str, Any]) -> None:
    """Refuse entries of a record that are of another type than they must be."""
    for name, kind in kinds.items():
        if not isinstance(getattr(record, name), kind):
            words = getattr(kind, "__name__", str(kind).replace("None", "null").replace(" |", " or"))
            raise ParameterError.outside("record", name, getattr(record, name), f"of type {words}")
