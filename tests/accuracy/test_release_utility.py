"""What the noise of a release does: every figure as by hand from its tables, with and without true counts."""

from __future__ import annotations

import dataclasses
import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.accuracy import release_utility as measured_module
from discreet.accuracy.release_utility import CURATOR, GUESSED, MEANS, UNEVEN, WITHOUT_TRUTH, utility
from discreet.accuracy.table_pairs import EACH, ONCE
from discreet.errors import ParameterError, ReleaseError, UnknownNameError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.by_count import transition_matrix
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.programme.programme_files import load_programme
from discreet.protection.pipeline import protect
from discreet.release.table_files import read_table, write_table
from tests.accuracy import by_hand
from tests.accuracy.small_release import PEOPLE, TOML, small_release
from tests.attacks.scenes import PTABLE, town_release
from tests.protection.town import SECRET, SEX, TOWN, people, squares
from tests.quick import one_in
from tests.tabulation.small_data import by, programme

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from discreet.accuracy.release_utility import Utility
    from discreet.engines.engine import Engine
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.release.release import Release

MADE: Mapping[str, tuple[Mechanism, dict[str, Any]]] = {
    "cell-key": (CellKey(PTABLE, secret=SECRET), {}),
    "coordinates": (Coordinates(PTable.max_entropy(variance=2, bound=3, threshold=1), SECRET), {}),
    "fresh": (Fresh(PTable.max_entropy(variance=2, bound=3), bits=SeededBits(1)), {}),
    "eps-dp": (EpsDP(Budget(12.0), bits=SeededBits(2)), {}),
    "eps-dp, none negative": (EpsDP(Budget(12.0), bits=SeededBits(2)), {"non_negative": True}),
    "eps-dp without SPSN": (EpsDP(Budget(30.0), spsn=False, bits=SeededBits(3)), {}),
    "exact": (Exact(), {}),
}
"""Releases of a town with two populations, in which one table's cells are all in another one too."""
SIMULATED = {f"level_{test}_at_{mean}" for test in ("exact", "naive", "aware") for mean in MEANS}
USERS_OWN = {"tables_apart", "totals_apart", "largest_gap", "interval_of_12", *SIMULATED}
"""Figures that need no true counts."""


@pytest.fixture(scope="module", autouse=True)
def _few_tables() -> Iterator[None]:
    """Simulate tests with few tables: here it matters that they are, not how well they do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured_module, "TABLES", 50)
        yield


@pytest.fixture(scope="module")
def releases(engine: Engine) -> dict[str, Release]:
    return {name: town_release(mechanism, engine=engine, **how) for name, (mechanism, how) in MADE.items()}


@pytest.fixture(scope="module")
def measured(releases: dict[str, Release]) -> dict[str, Utility]:
    return {name: utility(release) for name, release in releases.items()}


def values(found: Utility) -> dict[str, float]:
    named = {result.name: result.value for result in found.results}
    assert len(named) == len(found.results)
    return named


def without_truth(release: Release) -> Release:
    return dataclasses.replace(release, held_exact=None)


# --- Every figure by hand ---


@pytest.mark.parametrize("name", one_in(3, MADE))
def test_every_figure_is_that_of_the_tables(
    releases: dict[str, Release], measured: dict[str, Utility], name: str
) -> None:
    release = releases[name]
    expected = by_hand.figures(release, by_hand.area_counts(release, "GEO", "FM"), release.record.transition_matrix())
    found = values(measured[name])
    assert set(found) - set(expected) == SIMULATED
    assert {each: found[each] for each in expected} == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", MADE)
def test_lists_are_those_of_the_tables(releases: dict[str, Release], measured: dict[str, Utility], name: str) -> None:
    release, found = releases[name], measured[name]
    assert found.cells
    apart = {each.table: each.distance for each in found.cells.apart}
    assert apart == pytest.approx(by_hand.hellingers(release))
    assert set(apart) == set(release.ids)
    both = [(each.before, each.after) for each in found.cells.associations.measured]
    assert sorted(both) == [pytest.approx(pair) for pair in sorted(by_hand.cramers(release))]
    pairs = by_hand.all_pairs(release)
    noise = [pair.noise for pair in pairs]
    assert found.cells.distances.noise == {value: noise.count(value) for value in set(noise)}
    zeros = found.cells.zeros
    assert (zeros.occupied, zeros.empty) == (sum(p.true > 0 for p in pairs), sum(p.true == 0 for p in pairs))


@pytest.mark.parametrize("name", MADE)
def test_what_this_release_has_of_small_areas_is_counted(
    releases: dict[str, Release], measured: dict[str, Utility], name: str
) -> None:
    true, published = by_hand.area_counts(releases[name], "GEO", "FM")
    small = measured[name].small_areas
    assert small
    off = np.abs(published - true)
    for each in small.single:
        assert each.all.sampled == ((off > each.relative * true) & (true > 0)).sum()
    for each in small.broadband:
        wide = (true > 0).all(axis=0) & ((off > each.relative * true).all(axis=0))
        one_way = (published > true).all(axis=0) | (published < true).all(axis=0)
        assert each.all.sampled == (wide & one_way).sum()
    rows = {"total": -1, "women": 0, "men": 1}
    for lost in small.lost:
        gone = (true[rows[lost.what]] > 0) & (published[rows[lost.what]] <= 0)
        assert lost.sampled == gone.sum()
        assert (lost.largest is not None) == gone.any()


# --- What a count is taken for ---


def test_with_noise_of_its_own_each_table_counts_for_itself(measured: dict[str, Utility]) -> None:
    once, each = measured["cell-key"], measured["fresh"]
    assert (once.taken, each.taken) == (ONCE, EACH)
    for found in (once, each):
        cells = found.cells
        assert cells
        for result in (each for results in cells.sections(found.taken).values() for each in results):
            # What is expected is of every count once, so that it does not depend on who shares noise.
            assert result.assumptions[0] == (ONCE if result.name.startswith("expected") else found.taken)
    assert once.cells
    assert each.cells
    # Table 2 shows 12 cells, total, sexes and districts, that table 1 shows too; table 3 three of ages and the total.
    assert each.cells.zeros.occupied > once.cells.zeros.occupied
    assert len(each.cells.associations.tables) > len(once.cells.associations.tables)


def test_cells_of_all_populations_are_measured_and_areas_of_the_first(releases: dict[str, Release]) -> None:
    whole = releases["cell-key"]
    persons, adults = TOWN.populations.values()
    first, second = (
        town_release(programme=dataclasses.replace(TOWN, tables=tuple(tables))) for tables in (persons, adults)
    )
    cells = [utility(each).cells for each in (whole, first, second)]
    counted = [each.zeros.occupied for each in cells if each]
    assert counted[0] == counted[1] + counted[2]
    areas = [found for each in (whole, first, second) if (found := utility(each).areas)]
    assert areas[0].population == areas[1].population != areas[2].population


def test_noise_of_eps_dp_takes_counts_below_0_and_invents_persons(measured: dict[str, Utility]) -> None:
    private, cut = measured["eps-dp"], measured["eps-dp, none negative"]
    found, none_negative = values(private), values(cut)
    assert found["negative_counts"] > 0
    assert found["false_positives"] > 0
    assert "size_0" in found
    assert (none_negative["negative_counts"], none_negative["false_positives"]) == (0, found["false_positives"])
    # What is cut off at 0 lies nearer to a true count, which is never below it.
    assert none_negative["mean_absolute_distance"] < found["mean_absolute_distance"]
    assert private.certain is cut.certain is None
    assert private._intervals_json()[0]["minimum"] is None  # noqa: SLF001 - as it is printed


def test_true_counts_have_no_distance(measured: dict[str, Utility]) -> None:
    found = values(measured["exact"])
    ones = {"interval_coverage", "unchanged_counts", "all_totals_within_20"}
    assert {name: value for name, value in found.items() if value and name not in SIMULATED} == dict.fromkeys(ones, 1.0)
    for mean in MEANS:
        assert found[f"level_exact_at_{mean}"] == found[f"level_naive_at_{mean}"]
    sentences = str(measured["exact"])
    assert "All totals equal the sums of their parts." in sentences
    assert "All 6 areas keep their rank by size." in sentences


def test_30_percent_more_noise_is_told_by_the_mean_distance(engine: Engine) -> None:
    """The mean distance is that of the law within its standard error, and not that of one 30 percent wider."""
    topics = squares(30)
    given = programme(topics, [by(each) for each in topics])
    random = np.random.default_rng(3)
    codes = {each.name: random.choice(each.levels[-1].codes or (), 40_000) for each in topics}
    law, noise = transition_matrix(PTable.max_entropy(variance=2, bound=6)), np.arange(-6, 7)
    expected, square = (float(law.laws[-1] @ np.abs(noise) ** power) for power in (1, 2))
    for used, is_it in ((2.0, True), (2.0 * 1.3**2, False)):
        mechanism = Coordinates(PTable.max_entropy(variance=used, bound=6), SECRET)
        found = utility(protect(pa.table(codes), given, mechanism, keep_exact=True, engine=engine))
        assert found.cells
        # 900 counts of about 44, whose noise is that of large counts.
        error = ((square - expected**2) / found.cells.zeros.occupied) ** 0.5
        assert (abs(found.cells.distances.absolute.mean - expected) < 4 * error) == is_it


# --- Where true counts are ---


def test_a_folder_tells_what_memory_tells(tmp_path: Path, engine: Engine) -> None:
    made = small_release(tmp_path)
    area, sex, age = zip(*PEOPLE, strict=True)
    held = protect(
        pa.table({"AREA": area, "SEX": sex, "AGE": age, "id": range(len(PEOPLE))}),
        load_programme(tmp_path / "small.toml"),
        CellKey(PTable.max_entropy(variance=2, bound=3), secret=SECRET),
        id="id",
        keep_exact=True,
        engine=engine,
    )
    assert made.path
    found = [utility(each) for each in (made.path, str(made.path), made, held)]
    assert [each.truth for each in found] == [str(tmp_path / "release.curator" / "exact")] * 3 + ["memory"]
    expected = by_hand.figures(held, by_hand.area_counts(held, "AREA", "fm"), held.record.transition_matrix())
    for each in found:
        told = values(each)
        assert {name: told[name] for name in expected} == pytest.approx(expected)
        assert each.to_json() == found[0].to_json()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_true_counts_may_lie_elsewhere(tmp_path: Path, form: str) -> None:
    made = small_release(tmp_path, form=form)
    assert made.path
    before = utility(made.path)
    (tmp_path / "release.curator" / "exact").rename(tmp_path / "truth")
    found = utility(made.path, truth=tmp_path / "truth")
    assert found.truth == str(tmp_path / "truth")
    assert found.to_json() == before.to_json()
    assert utility(made.path).truth is None


@pytest.mark.parametrize(("has", "form"), [("parquet", "csv"), ("csv", "parquet")])
def test_true_counts_may_have_another_format(tmp_path: Path, has: str, form: str) -> None:
    made = small_release(tmp_path, form=has)
    assert made.path
    expected = utility(made.path).to_json()
    (tmp_path / "truth").mkdir()
    for table in made.ids:
        write_table(
            table, read_table(tmp_path / "release.curator" / "exact" / f"{table}.{has}"), tmp_path / "truth", form
        )
    assert utility(made.path, truth=tmp_path / "truth").to_json() == expected


def test_without_true_counts_there_is_what_users_can_tell_themselves(
    releases: dict[str, Release], measured: dict[str, Utility]
) -> None:
    for name, release in releases.items():
        found, known = utility(without_truth(release)), values(measured[name])
        assert values(found) == {each: known[each] for each in USERS_OWN}
        assert (found.truth, found.cells, found.small_areas) == (None, None, None)
        assert found.warnings[0] == WITHOUT_TRUTH
        told = found.to_json()
        assert [told[key] for key in ("distances", "by_size", "hellinger", "association", "small_areas")] == [
            None, [], [], [], None,
        ]  # fmt: skip
        for key in ("additivity", "intervals", "tests", "areas"):
            assert told[key] == measured[name].to_json()[key]
        assert "A count above 0" not in found.summary
    assert measured["cell-key"].warnings == (CURATOR,)


def test_without_a_record_the_law_is_the_one_that_is_told(tmp_path: Path) -> None:
    made = small_release(tmp_path)
    assert made.path
    shutil.rmtree(tmp_path / "release.curator")
    found = utility(made.path)
    assert set(values(found)) == USERS_OWN
    # What is told of a bound is vague, so no interval is certain.
    assert found.certain is None
    assert found.warnings == (WITHOUT_TRUTH, GUESSED)


def test_true_counts_of_another_release_are_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one = small_release(tmp_path / "one")
    other = town_release(out=tmp_path / "other" / "release")
    assert other.path
    with pytest.raises(
        ReleaseError, match=r"has no file .*parquet with the true counts of|is inconsistent with the release"
    ):
        utility(one, truth=tmp_path / "other" / "release.curator" / "exact")


# --- What can be asked for ---


def test_one_table_of_one_topic(engine: Engine) -> None:
    release = town_release(programme=programme([SEX], [by(SEX)]), data=people(80), engine=engine)
    found = utility(release, areas="SEX")
    true, published = by_hand.area_counts(release, "SEX", ())
    assert found.areas
    assert found.areas.topic == "SEX"
    assert (
        values(found)["mean_absolute_distance"]
        == np.abs(np.array([pair.noise for pair in by_hand.all_pairs(release)])).mean()
    )
    assert values(found)["totals_apart"] == float(published.sum() != release.table("1")["value"][0].as_py())
    assert found.small_areas
    assert found.small_areas.broadband == ()
    assert found.small_areas.single[0].all.number == (true > 0).sum()
    assert not {"largest_association_change", "areas_without_women"} & set(values(found))


def test_without_totals_nothing_is_said_of_them(engine: Engine) -> None:
    given = programme([*TOWN.topics.values()], [by(TOWN.topics[name], 1, 1, total=False) for name in ("SEX", "EMP")])
    found = utility(town_release(programme=given, engine=engine))
    assert not {"tables_apart", "totals_apart", "largest_gap"} & set(values(found))
    assert "totals" not in found.summary
    assert found.additivity.totals == 0


@pytest.mark.parametrize(("asked", "areas"), [("GEO", 6), ("AGE", 3), ("SEX", 2), ("EMP", 3)])
def test_areas_can_be_named(releases: dict[str, Release], asked: str, areas: int) -> None:
    found = utility(releases["cell-key"], areas=asked)
    assert found.areas
    if asked == "EMP":
        # Ages stand beside it in every table of all persons, and it has no total to stand alone.
        areas = len(found.areas.codes)
    assert (found.areas.topic, len(found.areas.codes)) == (asked, areas)
    assert found.to_json()["areas"] == {"topic": asked, "areas": areas}


def test_an_unknown_topic_of_areas_is_refused_with_those_there_are(releases: dict[str, Release]) -> None:
    with pytest.raises(UnknownNameError, match=r"no topic of the tables 'GOE'\. Did you mean GEO"):
        utility(releases["cell-key"], areas="GOE")


def test_a_seed_moves_what_is_simulated_and_nothing_else(releases: dict[str, Release]) -> None:
    release = releases["cell-key"]
    one, same, other = (values(utility(release, seed=seed)) for seed in (1, 1, 2))
    assert one == same
    moved = {name for name in one if one[name] != other[name]}
    assert moved
    assert moved <= SIMULATED
    with pytest.raises(ParameterError, match="seed"):
        utility(release, seed=-1)


def test_progress_is_told_table_by_table(releases: dict[str, Release]) -> None:
    told: list[tuple[str, int, int | None]] = []
    utility(releases["cell-key"], progress=lambda *step: told.append(step))
    tables = len(TOWN.tables)
    assert told == [("comparing", number, tables) for number in range(1, tables + 1)]


# --- How it is told ---


def test_an_uneven_budget_is_noted(engine: Engine) -> None:
    uneven = EpsDP(Budget(12.0, weights={"1": 5, "*": 1}), bits=SeededBits(2))
    assert utility(town_release(uneven, engine=engine)).warnings == (CURATOR, UNEVEN)


def test_the_summary_has_the_figures(measured: dict[str, Utility]) -> None:
    for name in ("cell-key", "eps-dp"):
        found, told = measured[name].summary, values(measured[name])
        off, gone = told["mean_absolute_distance"], told["lost_counts"]
        assert f"counts above 0: {off:.1f}; largest absolute error: {told['largest_distance']:g}." in found
        assert f"Lost counts: {gone:.1%} of counts above 0 are published as 0 or less." in found
        assert f"{told['totals_apart']:.1%} of totals have an additivity error" in found


def test_every_figure_has_a_sentence_and_what_it_rests_on(measured: dict[str, Utility]) -> None:
    for found in measured.values():
        assert str(found) == "\n".join(result.sentence for result in found.results)
        for result in found.results:
            assert result.sentence.endswith(".")
            assert result.equation
            assert result.assumptions or result.name == "largest_error"
            assert np.isfinite(result.value)


def test_all_of_it_is_json(measured: dict[str, Utility]) -> None:
    for found in measured.values():
        text = json.dumps(found.to_json(), allow_nan=False)
        assert list(json.loads(text)) == [
            "statistics", "cells", "distances", "by_size", "hellinger", "association", "additivity", "intervals",
            "tests", "areas", "small_areas", "targets", "decision",
        ]  # fmt: skip


# --- No true count is told ---


def test_no_true_count_is_told(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "small.toml").write_text(TOML)
    given = load_programme(tmp_path / "small.toml")
    # So much noise that areas of hundreds are lost, and named.
    release = protect(
        pa.table(by_hand.unlike_counts()),
        given,
        EpsDP(Budget(0.02), bits=SeededBits(11)),
        count="n",
        keep_exact=True,
        engine=engine,
    )
    found = utility(release)
    assert found.small_areas
    named = [each.largest for each in found.small_areas.lost if each.largest]
    assert named
    assert all(each.true == () for each in named)
    true = {pair.true for pair in by_hand.all_pairs(release)} - {0}
    assert {733, 1009, 733 + 1009, 32_172} <= true
    text = json.dumps(found.to_json()) + str(found) + found.summary
    numbers = by_hand.whole_numbers(text)
    assert len(by_hand.UNLIKE) in numbers
    assert not numbers & true
