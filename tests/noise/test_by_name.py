"""The catalogue: every law under its own name, with words for the help."""

from __future__ import annotations

import re

import discreet.noise
from discreet.noise.distribution import Noise
from discreet.noise.parameters import parameters
from tests.each import each
from tests.noise.laws import LAWS


@each(("name", "kind"), LAWS.items(), ids=LAWS)
def test_every_law_stands_under_its_own_name(name: str, kind: type[Noise]) -> None:
    assert kind.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    assert issubclass(kind, Noise)
    assert parameters(kind)


@each("kind", LAWS.values(), ids=LAWS)
def test_every_law_is_public(kind: type[Noise]) -> None:
    assert kind.__name__ in discreet.noise.__all__
    assert getattr(discreet.noise, kind.__name__) is kind


def test_every_public_law_is_in_the_catalogue() -> None:
    public = [getattr(discreet.noise, name) for name in discreet.noise.__all__]
    laws = [item for item in public if isinstance(item, type) and issubclass(item, Noise)]
    assert set(laws) == set(LAWS.values())
