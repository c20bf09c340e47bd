"""Random numbers by name: the same for the same name, and uniform."""

from __future__ import annotations

import numpy as np

from discreet.synthetic.random_choice import Draws
from tests.synthetic.sample import ACCEPT, p_value


def test_a_name_gives_the_same_numbers_in_every_version_of_numpy() -> None:
    # Philox with the key that BLAKE2b makes of the name; a change would change every synthetic census.
    assert Draws("LU", 7, 0).words(2).tolist() == [15714159016569372137, 4868946564508530646]


def test_other_names_give_other_numbers() -> None:
    names: list[tuple[str | int, ...]] = [
        ("LU", 7, 0),
        ("LU", 7, 1),
        ("LU", 8, 0),
        ("AT", 7, 0),
        ("LU", 70, 0),
        ("LU", 7, "areas"),
    ]
    assert len({tuple(Draws(*name).words(2).tolist()) for name in names}) == len(names)


def test_noise_is_uniform() -> None:
    noise = Draws("uniform").noise(100_001)
    assert len(noise) == 100_001
    assert p_value(np.bincount(noise >> 10, minlength=64).tolist(), [1.0] * 64) > ACCEPT


def test_numbers_below_a_limit_are_uniform() -> None:
    limits = np.tile([1, 3, 7], 30_001)[:90_001]
    found = Draws("below").below(limits, 90_001)
    for limit in (1, 3, 7):
        counts = np.bincount(found[limits == limit], minlength=limit)
        assert len(counts) == limit
        assert limit == 1 or p_value(counts.tolist(), [1.0] * limit) > ACCEPT


def test_what_happens_has_its_chance() -> None:
    happened = int(Draws("chance").happens(0.2, 50_000).sum())
    assert p_value([happened, 50_000 - happened], [0.2, 0.8]) > ACCEPT
    assert not Draws("chance").happens(0, 50_000).any()
    assert Draws("chance").happens(1, 50_000).all()


def test_an_order_holds_everything_once() -> None:
    assert sorted(Draws("order").order(1000).tolist()) == list(range(1000))
    assert Draws("order").order(1000).tolist() != list(range(1000))
