"""Two releases with noise of their own: the mean of both, and what it is expected to name."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.attacker_view import AttackerKnowledge, attacker_view, noise_from_record
from discreet.attacks.scoring import TrueCounts, score
from discreet.attacks.two_release_attack import MORE, two_releases
from discreet.mechanisms.cell_key import CellKey
from discreet.noise.ptable import PTable
from discreet.protection.pipeline import protect
from tests.attacks.test_contract import COUNTRY, persons


def looked_twice(variance: float, bound: int) -> tuple[float, float, float, int]:
    """Return achieved, predicted and naive share of large counts, and how many there are."""
    law = PTable.max_entropy(variance=variance, bound=bound)
    first, second = (
        protect(persons(), COUNTRY, CellKey(law, secret=secret), id="ID", keep_exact=True)
        for secret in (b"a secret for the tests", b"another for the tests")
    )
    noise = noise_from_record(first.record)
    attacker = attacker_view(
        first, AttackerKnowledge(noise=noise, other=attacker_view(second, AttackerKnowledge(noise=noise)))
    )
    (finding,) = [each for each in two_releases(attacker) if each.variant == "mean"]
    assert MORE in finding.assumptions
    found = score(finding, TrueCounts(first))
    large = next(share for share in found.by_count() if share.name == "21+")
    assert large.naive is not None
    return large.achieved, finding.predicted["21+"], large.naive / large.cells, large.cells


@pytest.mark.parametrize(("variance", "bound"), [pytest.param(1, 5, marks=pytest.mark.slow), (3, 10)])
def test_the_mean_names_as_many_as_predicted_and_more_than_one_release(variance: float, bound: int) -> None:
    achieved, predicted, naive, cells = looked_twice(variance, bound)
    error = float(np.sqrt(2 * predicted * (1 - predicted) / cells))
    assert abs(achieved - predicted) < 4 * error
    assert achieved > naive + 2 * error
    assert abs(achieved - 0.7 * predicted) > 3 * error
