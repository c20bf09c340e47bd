"""The data behind the picture of draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from discreet.charts.draws import draw_draws, draws_chart
from discreet.noise.uniform import Uniform

if TYPE_CHECKING:
    from pathlib import Path


def test_shares_and_probabilities_stand_side_by_side(tmp_path: Path) -> None:
    law, draws = Uniform(bound=1), np.array([-1, 0, 0, 1])
    chart = draws_chart(law, draws)
    assert chart.noise == (-1, 0, 1)
    assert chart.share == (0.25, 0.5, 0.25)
    assert chart.probability == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert chart.title == "4 draws have variance 0.50; the law says 0.67"
    draw_draws(law, draws, tmp_path / "d.png")
    assert (tmp_path / "d.png").read_bytes()[:4] == b"\x89PNG"
