"""Mechanisms by name: ours from entry points, a user's beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pytest

from discreet.errors import ParameterError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.mechanism import MECHANISMS, RegisteredMechanism
from discreet.mechanisms.mechanism_by_name import mechanism_named
from discreet.noise.by_count import SameNoise
from discreet.noise.by_name import noise_named
from discreet.noise.distribution import DISTRIBUTIONS
from discreet.noise.laplace import Laplace
from discreet.noise.max_entropy import MaxEntropy
from discreet.noise.ptable import KEY_SPACE
from discreet.protection.pipeline import protect
from discreet.release.record import Record
from discreet.risk.assessment import assess
from tests.protection.town import SECRET, TOWN, people

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

    def publish(self, batch: NoiseBatch) -> Ints:
        """Return the counts plus 1."""
        return batch.counts + 1

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


def test_noise_on_empty_cells_stays_when_something_else_is_replaced() -> None:
    for made in (
        CellKey(Laplace(scale=2), SECRET, perturb_zeros=True),
        Coordinates(Laplace(scale=2), SECRET, perturb_zeros=True),
        Fresh(Laplace(scale=2), perturb_zeros=True),
    ):
        assert made.perturb_zeros
        wider = replace(made, noise=Laplace(scale=3))
        assert wider.noise == SameNoise(Laplace(scale=3), perturbs_zeros=True)
        assert not replace(made, perturb_zeros=False).perturbs_zeros
        assert replace(replace(made, perturb_zeros=False), perturb_zeros=True) == made


def test_what_is_no_noise_is_refused() -> None:
    with pytest.raises(ParameterError, match="noise must be a p-table, or a noise distribution"):
        CellKey("laplace", SECRET)  # type: ignore[arg-type]
    # Its record would mean the p-table, whose small counts have other noise.
    for noise in (MaxEntropy(variance=2, bound=5), SameNoise(MaxEntropy(variance=2, bound=5), perturbs_zeros=True)):
        with pytest.raises(ParameterError, match=r"Use PTable\.max_entropy\(variance=2, bound=5\)"):
            CellKey(noise, SECRET)


@dataclass(frozen=True)
class Fixed(Upwards):
    """Has one distribution, and no noise by count."""

    noise: ClassVar[Laplace] = Laplace(scale=2)


def test_a_mechanism_may_have_a_plain_distribution(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    monkeypatch.setitem(MECHANISMS.known, Fixed.name, Fixed)
    assert protect(people(30), TOWN, Fixed(), engine=engine).record.mechanism == "upwards"


def test_a_promise_of_privacy_does_not_hide_who_is_seen_alone() -> None:
    promise = {"epsilon": 1.0, "delta": 0.0, "condition": "as the office says"}
    record = Record(programme="eu2021:MT", law="laplace", parameters={"scale": 2}, privacy=promise)
    names = [each.name for each in assess(record, measures=["epsilon_delta"]).results]
    assert {"delta_of_singleton_cell", "epsilon_of_output"} <= {*names}


@dataclass(frozen=True, kw_only=True)
class Undeclared(Laplace):
    """A distribution with a parameter that is not declared."""

    name: ClassVar[str] = "undeclared"
    width: float


def test_a_parameter_that_is_not_declared_is_asked_for_without_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DISTRIBUTIONS.known, Undeclared.name, Undeclared)
    with pytest.raises(ParameterError, match=r"needs --scale and --width\. Example: --scale 2 --width VALUE"):
        noise_named("undeclared")
