"""One contract for all mechanisms and laws: unbiased, within the bound, noise shared or independent as promised.

All noise is drawn from secrets and seeds, so every run of a test is the same. A test would raise a false alarm with a
probability of at most 1e-6 (p-values above ACCEPT, five standard errors), and the same test fails when the law is 30 %
off, when a mean is off by a sixth of a standard deviation, or when one noise in ten is shared: that is asserted too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from discreet.engines.duckdb import DuckDB
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.laplace import Laplace
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.noise.truncated import TruncatedGaussian, TruncatedLaplace
from discreet.noise.uniform import Uniform
from discreet.protection.pipeline import protect
from discreet.tabulation.static_output import output_of
from tests.each import each
from tests.mechanisms.independence import dependence, one_in_ten_shared
from tests.noise.goodness import ACCEPT, REJECT, p_value
from tests.protection.crowd import COUNTS, CROWD, TOTALS, Crowd, published
from tests.protection.town import SECRET, TOWN, all_cells, people
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from discreet.arrays import Ints
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.noise.distribution import Noise
    from discreet.programme.model import Programme
    from tests.tabulation.small_data import Cell


@cache
def ptable(name: str, *, wider: bool = False) -> PTable:
    """Return one of the p-tables, or the same with 30 % more variance."""
    how: dict[str, dict[str, Any]] = {
        "p-table": {"variance": 2},
        "j_s 1": {"variance": 3, "threshold": 1},
        "j_s 2": {"variance": 3, "threshold": 2},
        "p-table, zeros": {"variance": 2, "perturb_zeros": True},
    }
    return PTable.max_entropy(**how[name] | {"variance": how[name]["variance"] * (1.3 if wider else 1), "bound": 5})


PTABLES = ("p-table", "j_s 1", "j_s 2", "p-table, zeros")
LAWS: dict[str, tuple[Noise, Noise]] = {
    "geometric": (TwoSidedGeometric(epsilon=0.5), TwoSidedGeometric(epsilon=0.5 / 1.3)),
    "laplace": (Laplace(scale=2), Laplace(scale=2.6)),
    "truncated-laplace": (TruncatedLaplace(epsilon=0.5, bound=7), TruncatedLaplace(epsilon=0.5 / 1.3, bound=7)),
    "truncated-gaussian": (TruncatedGaussian(sigma=2, bound=10), TruncatedGaussian(sigma=2.6, bound=10)),
    "uniform": (Uniform(bound=4), Uniform(bound=5)),
}
"""Laws, each with one that is 30 % wider."""
EACH = 0.7
"""Epsilon of one count under eps-dp."""


@dataclass(frozen=True)
class Case:
    """A mechanism, and what it promises.

    Attributes:
        mechanism: makes it for a programme, new every time: seeds begin again.
        noise: what the noise is drawn from; None if there is none.
        wider: the same, 30 % wider.
        zeros: whether empty cells have noise.
    """

    mechanism: Callable[[Programme], Mechanism]
    noise: PTable | Noise | None = None
    wider: PTable | Noise | None = None
    zeros: bool = False

    def law(self, count: int) -> Noise:
        return _row(self.noise, count)

    def other_law(self, count: int) -> Noise:
        """Return a law with 30 % more variance, or 30 % less for a count that has as much as it can have."""
        variance = self.law(count).variance
        if isinstance(self.noise, PTable) and _row(self.wider, count).variance < 1.29 * variance:
            return PTable.max_entropy(variance=variance / 1.3, bound=5, threshold=self.threshold).rows[count]
        return _row(self.wider, count)

    @property
    def bound(self) -> float:
        return 0.0 if self.noise is None else self.noise.bound

    @property
    def threshold(self) -> int:
        return self.noise.settings.threshold if isinstance(self.noise, PTable) and self.noise.settings else 0


def _row(noise: PTable | Noise | None, count: int) -> Noise:
    assert noise is not None
    return noise.rows[int(noise.row_numbers([count])[0])] if isinstance(noise, PTable) else noise


def _cases() -> Iterator[tuple[str, Case]]:
    def keyed(noise: PTable | Noise, mode: str, *, zeros: bool = False) -> Callable[[Programme], Mechanism]:
        return lambda _: CellKey(noise, secret=SECRET, mode=mode, perturb_zeros=zeros)

    def coordinates(noise: PTable | Noise, *, zeros: bool = False) -> Callable[[Programme], Mechanism]:
        return lambda _: Coordinates(noise, SECRET, perturb_zeros=zeros)

    def fresh(noise: PTable | Noise, *, zeros: bool = False) -> Callable[[Programme], Mechanism]:
        return lambda _: Fresh(noise, perturb_zeros=zeros, bits=SeededBits(17))

    def eps_dp(*, spsn: bool) -> Callable[[Programme], Mechanism]:
        def made(programme: Programme) -> Mechanism:
            whole = EACH * output_of(programme).sensitivity(spsn=spsn)
            return EpsDP(Budget(whole), spsn=spsn, bits=SeededBits(18))

        return made

    for name in PTABLES:
        table, wide = ptable(name), ptable(name, wider=True)
        zeros = table.perturbs_zeros
        yield f"cell-key mixed, {name}", Case(keyed(table, "mixed"), table, wide, zeros)
        yield f"cell-key plain, {name}", Case(keyed(table, "plain"), table, wide, zeros)
        yield f"coordinates, {name}", Case(coordinates(table), table, wide, zeros)
        yield f"fresh, {name}", Case(fresh(table), table, wide, zeros)
    for name, (law, wider) in LAWS.items():
        yield f"cell-key mixed, {name}", Case(keyed(law, "mixed"), law, wider)
        yield f"coordinates, {name}", Case(coordinates(law), law, wider)
        yield f"fresh, {name}", Case(fresh(law), law, wider)
    for name in ("geometric", "truncated-laplace"):
        law, wider = LAWS[name]
        yield f"cell-key plain, {name}", Case(keyed(law, "plain"), law, wider)
        yield f"cell-key mixed, {name}, zeros", Case(keyed(law, "mixed", zeros=True), law, wider, zeros=True)
        yield f"cell-key plain, {name}, zeros", Case(keyed(law, "plain", zeros=True), law, wider, zeros=True)
        yield f"coordinates, {name}, zeros", Case(coordinates(law, zeros=True), law, wider, zeros=True)
        yield f"fresh, {name}, zeros", Case(fresh(law, zeros=True), law, wider, zeros=True)
    budget = TwoSidedGeometric(epsilon=EACH), TwoSidedGeometric(epsilon=EACH / 1.3)
    yield "eps-dp", Case(eps_dp(spsn=True), *budget, zeros=True)
    yield "eps-dp without spsn", Case(eps_dp(spsn=False), *budget, zeros=True)
    yield "exact", Case(lambda _: Exact())


@cache
def cases() -> dict[str, Case]:
    """Return all mechanisms by name."""
    return dict(_cases())


def noisy() -> list[str]:
    return [name for name in cases() if name != "exact"]


def shared() -> list[str]:
    return [name for name in cases() if not name.startswith("fresh") and name != "eps-dp without spsn"]


def apart() -> list[str]:
    return [name for name in cases() if name not in shared()]


def drawn() -> list[str]:
    return [name for name in cases() if name.startswith(("fresh", "eps-dp"))]


def by_keys() -> list[str]:
    return [name for name in cases() if name not in drawn()]


def jointly() -> list[str]:
    """Return those whose noises of a total and its parts are jointly independent: of plain keys they are not."""
    return [name for name in noisy() if "plain" not in name]


every = each("name", cases, every=3)
with_noise = each("name", noisy, every=3)


@pytest.fixture(scope="module")
def crowds(engine: DuckDB) -> Callable[[str], Crowd]:
    """Make the release of every case once."""
    return lambda name: made(name, engine)[1]


@cache
def made(name: str, engine: DuckDB) -> tuple[Mechanism, Crowd]:
    """Return the mechanism of a case, and its first release."""
    mechanism = cases()[name].mechanism(CROWD)
    return mechanism, published(mechanism, engine)


Crowds = Callable[[str], Crowd]


def noise_of(crowd: Crowd, table: str = "1") -> Ints:
    noise: Ints = crowd.parts(table) - COUNTS
    return noise


def groups(case: Case) -> list[int]:
    """Return the true counts that have noise."""
    return [0, 1, 9] if case.zeros else [1, 9]


# --- The law ---


@with_noise
@each("table", ["1", "3"])
def test_the_noise_of_a_count_has_its_law_and_not_one_30_percent_off(name: str, table: str, crowds: Crowds) -> None:
    case, noise = cases()[name], noise_of(crowds(name), table)
    for count in groups(case):
        drawn = noise[count == COUNTS]
        assert p_value(drawn, case.law(count)) > ACCEPT
        assert p_value(drawn, case.other_law(count)) < REJECT


@with_noise
def test_noise_is_unbiased(name: str, crowds: Crowds) -> None:
    case, noise = cases()[name], noise_of(crowds(name))
    for count in groups(case):
        drawn = noise[count == COUNTS]
        error = (case.law(count).variance / len(drawn)) ** 0.5
        assert abs(drawn.mean()) < 5 * error
        # The same test rejects a mean that is off by a sixth of a standard deviation.
        off = case.law(count).variance ** 0.5 / 6
        assert abs(drawn.mean() + off) > 5 * error


@every
def test_no_count_changes_by_more_than_the_bound(name: str, crowds: Crowds) -> None:
    case, crowd = cases()[name], crowds(name)
    largest = max(
        int(abs(part - true).max())
        for table in "123"
        for part, true in ((crowd.parts(table), COUNTS), (crowd.totals(table), TOTALS))
    )
    assert largest <= case.bound
    if case.noise is not None and math.isfinite(case.bound):
        # Among so many counts some come close to it, so that a bound that is not kept would be seen.
        assert largest >= case.law(9).quantile(1 - 1e-3)


@every
def test_counts_up_to_the_threshold_are_never_published(name: str, crowds: Crowds) -> None:
    threshold = cases()[name].threshold
    shown = [values for table in "123" for values in (crowds(name).parts(table), crowds(name).totals(table))]
    hidden = range(1, threshold + 1)
    assert not any(np.isin(values, hidden).any() for values in shown)
    # What lies above is, as a 1 is where there is no threshold.
    assert all((values == threshold + 1).any() for values in shown)


@every
def test_zeros_stay_where_promised(name: str, crowds: Crowds) -> None:
    case, crowd = cases()[name], crowds(name)
    for table in "123":
        moved = crowd.parts(table)[COUNTS == 0] != 0
        assert moved.any() == case.zeros
        # Those that may move do so as often as their law says: within five standard errors.
        if case.zeros:
            chance = 1 - float(case.law(0).pmf(0))
            assert abs(moved.mean() - chance) < 5 * (chance * (1 - chance) / moved.size) ** 0.5


def test_exact_counts_are_exact(crowds: Crowds) -> None:
    for table in "123":
        assert np.array_equal(crowds("exact").parts(table), COUNTS)
        assert np.array_equal(crowds("exact").totals(table), TOTALS)


# --- The same noise ---


@each("name", shared, every=3)
def test_a_statistic_has_one_value_in_every_table(name: str, crowds: Crowds) -> None:
    crowd = crowds(name)
    assert np.array_equal(crowd.parts("1"), crowd.parts("2"))
    assert np.array_equal(crowd.totals("1"), crowd.totals("2"))


@pytest.fixture(scope="module")
def one_thread() -> Iterator[DuckDB]:
    with DuckDB(threads=1) as engine:
        yield engine


PEOPLE = people(300)


@each("name", by_keys, every=20)
def test_a_value_does_not_depend_on_run_threads_order_format_or_choice_of_tables(
    name: str, engine: DuckDB, one_thread: DuckDB, tmp_path: Path
) -> None:
    def cells(data: object, place: DuckDB = engine, tables: list[str] | None = None) -> dict[tuple[str, Cell], int]:
        made = protect(data, TOWN, cases()[name].mechanism(TOWN), id="ID", engine=place, tables=tables)
        return all_cells(made)

    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    arrow_csv.write_csv(PEOPLE, tmp_path / "people.csv")
    shuffled = PEOPLE.take(np.random.default_rng(4).permutation(len(PEOPLE)))
    first = cells(PEOPLE)
    assert len(first) > 100
    assert cells(PEOPLE) == first
    assert cells(PEOPLE, one_thread) == first
    assert cells(shuffled) == first
    assert cells(shuffled, one_thread) == first
    for same in (tmp_path / "people.parquet", tmp_path / "people.csv", PEOPLE.to_pandas()):
        assert cells(same) == first
    for tables in (["2", "5"], ["3"]):
        assert cells(PEOPLE, tables=tables) == {place: value for place, value in first.items() if place[0] in tables}


@each("name", drawn, every=6)
def test_drawn_noise_is_repeated_by_its_seed_alone(name: str, engine: DuckDB, crowds: Crowds) -> None:
    again = published(cases()[name].mechanism(CROWD), engine)
    assert np.array_equal(again.parts("1"), crowds(name).parts("1"))


# --- Independent noise ---


def check_independent(one: Ints, other: Ints) -> None:
    assert dependence(one, other) > ACCEPT
    assert dependence(one, one_in_ten_shared(one, other)) < REJECT


LARGE = COUNTS == 9
BOTH_LARGE = LARGE.reshape(TOTALS.shape[0], 2, -1).all(axis=1)
"""Totals whose two parts are large."""


@each("name", apart, every=3)
def test_fresh_noise_of_one_statistic_is_independent_between_tables(name: str, crowds: Crowds) -> None:
    first, second = (noise_of(crowds(name), table)[LARGE] for table in "12")
    check_independent(first, second)


@each("name", drawn, every=6)
def test_two_runs_of_drawn_noise_are_independent(name: str, engine: DuckDB) -> None:
    mechanism, crowd = made(name, engine)
    # The bits go on where the first run left them.
    check_independent(noise_of(crowd)[LARGE], noise_of(published(mechanism, engine))[LARGE])


@pytest.mark.parametrize("name", ["fresh, p-table", "eps-dp"])
def test_without_a_seed_no_run_is_like_another(name: str, engine: DuckDB) -> None:
    whole = EACH * output_of(CROWD).sensitivity(spsn=True)
    mechanism = Fresh(ptable("p-table")) if name.startswith("fresh") else EpsDP(Budget(whole))
    first, second = (noise_of(published(mechanism, engine))[LARGE] for _ in range(2))
    # No seed: the limit is the one at which shared noise is rejected, so that it never fails by chance.
    assert dependence(first, second) > REJECT
    assert dependence(first, first) < REJECT


@with_noise
def test_noises_of_different_cells_are_independent(name: str, crowds: Crowds) -> None:
    noise = noise_of(crowds(name))
    for one, other, both in (
        (noise[:, :-1], noise[:, 1:], LARGE[:, :-1] & LARGE[:, 1:]),
        (noise[:-1], noise[1:], LARGE[:-1] & LARGE[1:]),
    ):
        check_independent(one[both], other[both])


@with_noise
def test_noises_of_a_part_and_its_total_are_independent(name: str, crowds: Crowds) -> None:
    noise, total = noise_of(crowds(name)), crowds(name).totals("1") - TOTALS
    check_independent(noise[::2][BOTH_LARGE], total[BOTH_LARGE])


@each("name", jointly, every=3)
def test_noises_of_all_parts_and_their_total_are_independent(name: str, crowds: Crowds) -> None:
    noise, total = noise_of(crowds(name)), crowds(name).totals("1") - TOTALS
    check_independent((noise[::2] + noise[1::2])[BOTH_LARGE], total[BOTH_LARGE])


def test_plain_keys_leave_a_total_and_its_parts_dependent(crowds: Crowds) -> None:
    name = "cell-key plain, p-table"
    noise, total = noise_of(crowds(name)), crowds(name).totals("1") - TOTALS
    assert dependence((noise[::2] + noise[1::2])[BOTH_LARGE], total[BOTH_LARGE]) < REJECT


@each("name", lambda: [name for name in noisy() if name.startswith(("coordinates", "fresh", "eps-dp"))], every=3)
def test_populations_get_noise_of_their_own(name: str, crowds: Crowds) -> None:
    check_independent(noise_of(crowds(name), "1")[LARGE], noise_of(crowds(name), "3")[LARGE])


@each("name", lambda: [name for name in noisy() if name.startswith("cell-key")], every=3)
def test_the_same_participants_in_another_population_get_the_same_noise(name: str, crowds: Crowds) -> None:
    first, third = (noise_of(crowds(name), table) for table in "13")
    assert np.array_equal(first[COUNTS > 0], third[COUNTS > 0])


@pytest.mark.parametrize("zeros", one_in(2, [False, True]))
@pytest.mark.parametrize("noise", ["p-table", "geometric"])
def test_noise_by_coordinates_changes_with_the_version_and_with_the_count(
    noise: str, zeros: bool, engine: DuckDB
) -> None:
    given = LAWS["geometric"][0] if noise == "geometric" else ptable("p-table, zeros" if zeros else "p-table")
    asked = zeros and noise == "geometric"
    first, again = (
        noise_of(published(Coordinates(given, SECRET, version=version, perturb_zeros=asked), engine))
        for version in ("1", "2")
    )
    check_independent(first[LARGE], again[LARGE])
    # One person more in every second large cell: new noise there, and the noise it had everywhere else.
    more = LARGE & (np.indices(COUNTS.shape).sum(axis=0) % 2 == 0)
    changed = published(Coordinates(given, SECRET, perturb_zeros=asked), engine, COUNTS + more)
    after = changed.parts("1") - COUNTS - more
    check_independent(first[more], after[more])
    assert np.array_equal(first[~more], after[~more])
