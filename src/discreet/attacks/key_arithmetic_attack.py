"""Key arithmetic: plain cell keys of two parts add up to that of their total, which discloses their noise.

With plain keys the key of a union of disjoint cells is the sum of their keys modulo K. The noise is a step function of
the key: the smallest noise has the lowest keys. For parts F and M with keys u, v, as shares of K, and their total T,
the noise terms are x, y, z with probability

    area of {(u, v): u in I_x, v in I_y, u + v mod 1 in I_z},

not with the product of three probabilities. With R(s) = max(s, 0)^2 / 2 the area is the third difference, over the ends
of the three intervals, of R(w - u - v) + R(1 + w - u - v).

The attacker observes the gap g = x + y - z of every such tuple of large counts. Given the key of a cell, the gaps of
its tuples are independent. The posterior of a noise value is the sum of P(key) prod P(g_i | key) over its keys, up to a
factor. With mixed keys noise terms are independent, and products give the best guess, the baseline of the comparison.
The gaps show which case applies: plain keys keep them much narrower. If they do not fit plain keys, the attacker
assumes independent noise and learns nothing from keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.attacks.additive_tuples import additive_tuples, same_cells
from discreet.attacks.attack_estimates import ATTACKS, CellEstimates, cells_finding
from discreet.attacks.scoring import CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from discreet.arrays import Floats, Ints
    from discreet.attacks.attack_estimates import AttackEstimates
    from discreet.attacks.attacker_view import AttackerView, PopulationCounts
    from discreet.attacks.scoring import Score

FINEST = 128
"""Minimum number of intervals of the key space if several tuples are evidence about one key."""
WIDEST = 60
"""Largest absolute noise of the model; if larger noise is not negligible, the attack does not run."""
UNLIKELY = 1e-4
"""Negligible probability of noise beyond the model."""
ROUNDING = 1e-15
"""Areas up to this are rounding errors."""
IMPOSSIBLE = -700.0
"""Replaces the logarithm of 0."""
CHUNK = 20_000
"""Number of cells per step."""
PLAIN = "key intervals are in the order of their noise; the gaps show whether keys are plain or mixed"
LARGE = "all counts are so large that they have one noise distribution, with a flat prior on these counts"


@dataclass(frozen=True, eq=False)
class GapModel:
    """The joint distribution of the hidden state of a cell and the gap of a tuple.

    Attributes:
        noise: the noise of every state.
        part: P(state, gap) for a part; gaps from -3 times the reach on.
        total: P(state, gap) for the total.
    """

    noise: Ints
    part: Floats
    total: Floats

    @property
    def gaps(self) -> int:
        """Return the number of possible gaps."""
        return int(self.part.shape[1])

    @cached_property
    def log_chances(self) -> Floats:
        """Return log P(gap | state), a row per gap: first for parts, then for totals."""
        joint = np.concatenate([self.part.T, self.total.T])
        weight = self.part.sum(axis=1)
        found = np.full(joint.shape, IMPOSSIBLE)
        np.log(joint / np.where(weight > 0, weight, 1), out=found, where=joint > 0)
        return found

    @cached_property
    def _by_noise(self) -> tuple[Ints, Floats]:
        values, place = np.unique(self.noise, return_inverse=True)
        return values, (place[:, None] == np.arange(len(values))).astype(float)

    def guess(self, evidence: Any) -> tuple[Ints, Floats]:  # noqa: ANN401 - scipy.sparse is untyped
        """Return the most likely noise and its probability, given the frequency of each gap, a row per cell."""
        weight = self.part.sum(axis=1)
        log = evidence @ self.log_chances
        log -= log.max(axis=1, keepdims=True)
        values, belongs = self._by_noise
        chance = (weight * np.exp(np.maximum(log, IMPOSSIBLE))) @ belongs
        best = chance.argmax(axis=1)
        whole = chance.sum(axis=1)
        sure = np.divide(chance[np.arange(len(best)), best], whole, out=np.zeros(len(best)), where=whole > 0)
        return values[best], sure

    def expected(self) -> tuple[float, float]:
        """Return P(correct) for parts and for totals given one gap: the sum over gaps of the largest probability."""
        _, belongs = self._by_noise
        part, total = ((belongs.T @ joint).max(axis=0).sum() for joint in (self.part, self.total))
        return float(part), float(total)


def key_areas(parts: tuple[Floats, Floats], total: Floats) -> Floats:
    """Return P(u in interval i, v in interval j, u + v mod 1 in interval k) for intervals given by their ends."""
    u, v, w = parts[0][:, None, None], parts[1][None, :, None], total[None, None, :]
    under = np.maximum(w - u - v, 0) ** 2 / 2 + np.maximum(1 + w - u - v, 0) ** 2 / 2
    area = np.diff(np.diff(np.diff(under, axis=0), axis=1), axis=2)
    return np.where(area > ROUNDING, area, 0.0)


def plain_model(law: Floats, finest: int = 1) -> GapModel:
    """Return the model of plain keys for noise on -E .. E, with key intervals no longer than 1 / finest."""
    ends = _ends(law)
    states = np.unique(np.concatenate([ends, np.arange(finest + 1) / finest]))
    middle = (states[1:] + states[:-1]) / 2
    noise = np.searchsorted(ends, middle, side="right") - 1 - len(law) // 2
    part = key_areas((states, ends), ends)
    total = np.moveaxis(key_areas((ends, ends), states), 2, 0)
    return _model(noise, part, total)


def independent_model(law: Floats) -> GapModel:
    """Return the model of independent noise terms: the state of a cell is its noise."""
    noise = np.arange(len(law)) - len(law) // 2
    product = law[:, None, None] * law[:, None] * law
    return _model(noise, product, product)


def _ends(law: Floats) -> Floats:
    """Return the ends of the key intervals, in the order of the noise."""
    ends = np.concatenate([[0.0], np.cumsum(law)])
    found: Floats = np.minimum(ends / ends[-1], 1.0)
    return found


def _model(noise: Ints, part: Floats, total: Floats) -> GapModel:
    """Return the model from the joint distributions of a state and the noise of the two other cells."""
    reach = part.shape[1] // 2
    x = np.arange(-reach, reach + 1)
    of_part = noise[:, None, None] + x[:, None] - x
    of_total = x[:, None] + x - noise[:, None, None]
    return GapModel(noise, _by_gap(part, of_part, reach), _by_gap(total, of_total, reach))


def _by_gap(joint: Floats, gap: Ints, reach: int) -> Floats:
    """Return P(state, gap)."""
    states, gaps = len(joint), 6 * reach + 1
    place = gap + 3 * reach + gaps * np.arange(states)[:, None, None]
    found = np.bincount(place.ravel(), joint.ravel(), states * gaps).astype(np.float64)
    return found.reshape(states, gaps)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The observed gaps of every cell in a tuple of two parts.

    Attributes:
        view: the published counts of the population.
        places: the positions of the cells.
        number: the number of the set of persons of every cell.
        persons: the number of the set of persons of every observed gap.
        kind: the row of the model of every observed gap.
    """

    view: PopulationCounts
    places: Ints
    number: Ints
    persons: Ints
    kind: Ints

    @cached_property
    def first(self) -> Ints:
        """Return the kind of the first observed gap of every set of persons."""
        found = np.zeros(int(self.number.max(initial=-1)) + 1, dtype=np.int64)
        found[self.persons[::-1]] = self.kind[::-1]
        return found

    def counted(self, kinds: int) -> Any:  # noqa: ANN401 - scipy.sparse is untyped
        """Return the frequency of each kind of gap for every set of persons."""
        from scipy.sparse import csr_array

        shape = (len(self.first), kinds)
        return csr_array((np.ones(len(self.kind)), (self.persons, self.kind)), shape=shape)


def evidence_of(view: PopulationCounts, attacker: AttackerView, reach: int) -> Evidence:
    """Return the gaps of tuples of two parts with large counts in one population."""
    same = same_cells(view, attacker.noise)
    # So large that the true counts have the last row of the p-table for any noise.
    tuples = additive_tuples(view, same, 2).above(len(attacker.noise.laws) - 2 + attacker.noise.reach)
    gaps = tuples.gaps
    seen = np.abs(gaps) <= 3 * reach
    kind = gaps[seen] + 3 * reach
    first, second = tuples.parts[seen].T
    members = np.concatenate([first, second, tuples.totals[seen]])
    kinds = np.concatenate([kind, kind, kind + 6 * reach + 1])
    places = np.unique(members)
    persons = np.unique(same[places])
    return Evidence(
        view, places, np.searchsorted(persons, same[places]), np.searchsorted(persons, same[members]), kinds
    )


@dataclass(frozen=True, eq=False)
class NoiseGuesses:
    """The estimated noise under plain keys with its confidence, and the estimate under independent noise."""

    evidence: Evidence
    plain: Ints
    confidence: Floats
    independent: Ints

    def counts(self, noise: Ints) -> Ints:
        """Return the estimated true counts, given the estimated noise."""
        published = self.evidence.view.published[self.evidence.places]
        return np.rint(published).astype(np.int64) - noise[self.evidence.number]


def fit_plain_keys(found: Sequence[Evidence], plain: GapModel, independent: GapModel) -> bool:
    """Return whether the gaps are more likely under plain keys than under independent noise."""
    gaps = np.concatenate([evidence.kind[evidence.kind >= plain.gaps] for evidence in found]) - plain.gaps
    with np.errstate(divide="ignore"):
        log = [np.log(model.total.sum(axis=0)).clip(min=IMPOSSIBLE) for model in (plain, independent)]
    return bool((log[0] - log[1])[gaps].sum() > 0)


def by_one(evidence: Evidence, plain: GapModel, independent: GapModel) -> NoiseGuesses:
    """Return the estimates from the first tuple of each cell."""
    each = np.eye(2 * plain.gaps)
    noise, sure = plain.guess(each)
    without, _ = independent.guess(each)
    return NoiseGuesses(evidence, noise[evidence.first], sure[evidence.first], without[evidence.first])


def by_all(evidence: Evidence, plain: GapModel, independent: GapModel, attacker: AttackerView) -> NoiseGuesses:
    """Return the estimates from all tuples of each cell."""
    counted = evidence.counted(2 * plain.gaps)
    size = counted.shape[0]
    found, sure, without = (np.zeros(size, dtype=kind) for kind in (np.int64, float, np.int64))
    for start in range(0, size, CHUNK):
        here = slice(start, min(start + CHUNK, size))
        found[here], sure[here] = plain.guess(counted[here])
        without[here], _ = independent.guess(counted[here])
        if attacker.progress:
            attacker.progress("keys", here.stop, size)
    return NoiseGuesses(evidence, found, sure, without)


@ATTACKS.register("keys")
def keys(attacker: AttackerView) -> list[AttackEstimates]:
    """Return the counts of tuples of two parts that plain keys disclose: from one tuple per cell, and from all."""
    noise = attacker.noise
    law = _truncated(noise.laws[-1])
    if noise.shared != "participants" or noise.repeat > 1 or law is None or not noise.variance:
        return []
    reach = len(law) // 2
    found = [evidence_of(view, attacker, reach) for view in attacker.views()]
    found = [evidence for evidence in found if len(evidence.places)]
    if not found:
        return []
    independent = independent_model(law)
    coarse = plain_model(law)
    plain = fit_plain_keys(found, coarse, independent)
    one = [by_one(evidence, coarse if plain else independent, independent) for evidence in found]
    if not plain:
        method = "the most likely noise under mixed keys, which the gaps indicate"
        predicted = _predicted(one, independent)
        return [
            _finding(attacker, one, method, variant="one tuple", predicted=predicted, sentence=_mixed_keys_sentence)
        ]
    method = "the most likely noise, given that the keys of two parts add up to the key of their total"
    first = _finding(attacker, one, method, variant="one tuple", predicted=_predicted(one, coarse))
    fine = plain_model(law, FINEST)
    parts = [by_all(evidence, fine, independent, attacker) for evidence in found]
    return [first, _finding(attacker, parts, method, variant="all tuples", predicted=_by_confidence(parts))]


def _by_confidence(guesses: Sequence[NoiseGuesses]) -> dict[str, float]:
    """Return the mean confidence by class of the estimated counts, which differ little from the true ones."""
    counts = np.concatenate([g.counts(g.plain) for g in guesses])
    sure = np.concatenate([g.confidence[g.evidence.number] for g in guesses])
    classes = {name: (counts >= low) & (counts <= high) for name, (low, high) in CLASSES.items()}
    return {name: float(sure[where].mean()) for name, where in classes.items() if where.any()}


def _mixed_keys_sentence(score: Score) -> str:
    """Return the outcome under mixed keys as a sentence."""
    found = score.whole
    return (
        "Keys disclose nothing: the gaps show mixed keys. From the gap of one tuple under independent noise, "
        f"{found.right:,} of {found.cells:,} large counts are recovered exactly ({found.achieved:.1%})."
    )


def _truncated(law: Floats) -> Floats | None:
    """Return the distribution within `WIDEST`; None if more than a negligible part is beyond."""
    reach = len(law) // 2
    if reach <= WIDEST:
        return law
    middle = law[reach - WIDEST : reach + WIDEST + 1]
    return middle / middle.sum() if middle.sum() >= 1 - UNLIKELY else None


def _predicted(guesses: Sequence[NoiseGuesses], model: GapModel) -> dict[str, float]:
    """Return P(correct) given one gap, by class of count, averaged over the parts and totals of the class."""
    share = np.array(model.expected())
    chance = np.concatenate([share[(g.evidence.first >= model.gaps).astype(int)][g.evidence.number] for g in guesses])
    counts = np.concatenate([g.counts(g.plain) for g in guesses])
    classes = {name: (counts >= low) & (counts <= high) for name, (low, high) in CLASSES.items()}
    # A class without estimates may still have true counts.
    return {name: float((chance[where] if where.any() else chance).mean()) for name, where in classes.items()}


def _finding(
    attacker: AttackerView,
    parts: Sequence[NoiseGuesses],
    method: str,
    *,
    variant: str,
    predicted: Mapping[str, float] | None = None,
    sentence: Callable[[Score], str] | None = None,
) -> AttackEstimates:
    """Return the estimates of several populations as one set."""
    estimates = [
        CellEstimates(
            part.evidence.view,
            part.evidence.places,
            part.counts(part.plain).astype(float),
            part.confidence[part.evidence.number],
        )
        for part in parts
    ]
    made = cells_finding(
        attacker,
        estimates,
        attack="keys",
        variant=variant,
        subject="counts",
        predicted=predicted or {},
        sentence=sentence,
        method=method,
        assumptions=(PLAIN, LARGE),
    )
    return replace(made, naive=np.concatenate([part.counts(part.independent) for part in parts]))
