"""Mechanisms by name: ours from entry points, a user's beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pytest

from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.mechanism import MECHANISMS, RegisteredMechanism
from discreet.mechanisms.mechanism_by_name import mechanism_named
from discreet.noise.ptable import KEY_SPACE
from discreet.protection.pipeline import protect
from discreet.release.record import Record
from tests.protection.town import TOWN, people

if TYPE_CHECKING:
    from discreet.arrays import Ints
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import MechanismFlags, NoiseBatch


@dataclass(frozen=True)
class Upwards(RegisteredMechanism):
    """Adds 1 to every count above 0."""

    name: ClassVar[str] = "upwards"
    key_space: ClassVar[int] = KEY_SPACE
    secret: ClassVar[None] = None
    version: ClassVar[str] = ""
    spsn: ClassVar[bool] = True
    perturbs_zeros: ClassVar[bool] = False

    def publish(self, lot: NoiseBatch) -> Ints:
        """Return the counts plus 1."""
        return lot.counts + 1

    def described(self) -> dict[str, Any]:
        """Return the fields of a record."""
        return {"mechanism": self.name, "law": "uniform", "parameters": {"bound": 1}, "spsn": True}

    @classmethod
    def from_flags(cls, flags: MechanismFlags) -> Self:  # noqa: ARG003 - it has no noise to choose
        """Return the mechanism."""
        return cls()


def test_every_entry_point_bears_the_name_of_its_mechanism() -> None:
    assert MECHANISMS.names() == ("cell-key", "coordinates", "fresh", "eps-dp", "exact") == tuple(MECHANISMS.all())
    assert all(kind.name == name for name, kind in MECHANISMS.all().items())


def test_a_mechanism_of_a_user_is_asked_for_by_name_and_recorded(
    monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    with pytest.raises(UnknownNameError, match="upwards"):
        mechanism_named("upwards", secret=lambda: None)
    monkeypatch.setitem(MECHANISMS.known, Upwards.name, Upwards)
    made = mechanism_named("upwards", secret=lambda: None)
    release = protect(people(60), TOWN, made, engine=engine)
    exact = protect(people(60), TOWN, mechanism_named("exact", secret=lambda: None), engine=engine)
    counts, true = (each.table("1").column("value").to_pylist() for each in (release, exact))
    assert counts == [count + 1 for count in true]
    assert release.record.mechanism == "upwards"
    assert not release.record.mechanism_class.repeatable


def test_flags_that_a_mechanism_does_not_use_are_refused_with_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MECHANISMS.known, Upwards.name, Upwards)
    with pytest.raises(ParameterError, match="for the mechanism cell-key or coordinates, not for upwards"):
        mechanism_named("upwards", secret=lambda: None, version="2")


def test_a_record_builds_its_noise_once() -> None:
    record = Record(programme="x", law="geometric", parameters={"epsilon": 1}, perturb_zeros=True)
    assert record.noise is record.noise
    assert record.noise.perturbs_zeros
