"""A user's own attack appears like ours, by decorator and by entry point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.attacks.attack_estimates import ATTACKS, AttackEstimates
from discreet.attacks.attack_run import attack
from discreet.attacks.averaging_attack import averaging
from discreet.attacks.projection_attack import projection
from discreet.errors import ParameterError, UnknownNameError
from tests.attacks.scenes import town_release

if TYPE_CHECKING:
    from discreet.attacks.attacker_view import AttackerView
    from discreet.engines.engine import Engine

MODULE = """
import numpy as np
from discreet.attacks.attack_estimates import AttackEstimates
from discreet.attacks.attack_estimates import ATTACKS

@ATTACKS.register("seven")
def seven(attacker):
    return [
        AttackEstimates(
            attack="seven",
            subject="counts",
            estimate=np.full(view.layout.cells, 7),
            confidence=np.full(view.layout.cells, 0.1),
            actual=lambda truth, name=view.layout.name: truth.counts(name),
        )
        for view in attacker.views()
    ]
"""


def test_ours_are_registered() -> None:
    found = ATTACKS.all()
    assert (found["averaging"], found["projection"]) == (averaging, projection)
    assert list(found) == sorted(found)


def test_all_are_meant_where_none_is_named_and_those_named_come_in_their_order() -> None:
    assert ATTACKS.named(None) == ATTACKS.all()
    assert list(ATTACKS.named(["projection", "averaging"])) == ["projection", "averaging"]


def test_an_unknown_attack_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"no attack 'avaraging'\. Did you mean averaging\b") as refused:
        ATTACKS.named(["projection", "avaraging"])
    assert "projection" in refused.value.available


def test_a_decorated_function_is_an_attack(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    monkeypatch.setattr(ATTACKS, "known", ATTACKS.all())

    @ATTACKS.register("as published")
    def as_published(attacker: AttackerView) -> list[AttackEstimates]:
        view = attacker.views()[0]
        return [
            AttackEstimates(
                attack="as published",
                subject="counts",
                estimate=np.rint(view.published).astype(np.int64),
                confidence=np.full(view.layout.cells, 0.5),
                actual=lambda truth: truth.counts(view.layout.name),
            )
        ]

    (found,) = attack(town_release(engine=engine), attacks=["as published"], budget=None).outcomes
    assert found.finding.name == "as published"
    assert found.score is not None
    right = found.score.whole.achieved
    assert 0.2 < right < 0.8


@pytest.mark.slow
def test_an_entry_point_appears_in_the_command(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "office_attacks.py").write_text(MODULE)
    info = tmp_path / "office-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: office\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[discreet.attacks]\noffice = office_attacks\n")
    release = town_release(engine=engine, out=tmp_path / "out")
    script = Path(sys.executable).with_name("discreet")
    done = subprocess.run(
        [script, "attack", "out", "--attacks", "seven", "--json", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found = json.loads(done.stdout)["attacks"]
    assert [each["attack"] for each in found] == ["seven"] * len(release.programme.populations)


def test_a_name_that_is_taken_elsewhere_is_refused() -> None:
    assert "projection" in ATTACKS.all()
    with pytest.raises(ParameterError, match=r"'projection' is taken by .* discreet\.attacks\.projection_attack"):
        ATTACKS.register("projection")(lambda _: [])
