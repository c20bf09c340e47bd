"""`discreet utility`: of a release and of areas, as text and as JSON, and every mistake as one line."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.accuracy import release_utility
from discreet.accuracy.release_utility import CURATOR, MEANS, utility
from discreet.cli.utility import AS_TABLES, SUMMARISED
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.ptable import PTable
from discreet.noise.random_bits import SeededBits
from discreet.protection.pipeline import protect
from discreet.release.table_files import read_table, write_table
from tests.accuracy import by_hand
from tests.accuracy.small_release import TOML
from tests.cli import town
from tests.quick import one_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from discreet.engines.engine import Engine
    from tests.cli.town import Command, Done

UTILITY = ("utility", "out", "--details")
NOISE = ("--variance", "2", "--bound", "5")
OWN_KEYS = [
    "statistics", "cells", "distances", "by_size", "hellinger", "association", "additivity", "intervals", "tests",
    "areas", "small_areas", "targets", "decision",
]  # fmt: skip
"""As in docs/interfaces.md."""
KEYS = ["schema", "command", "settings", "results", "warnings"]


@pytest.fixture(scope="module", autouse=True)
def _few_tables() -> Iterator[None]:
    """Simulate tests with few tables: here it matters what is printed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release_utility, "TABLES", 50)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Path:
    """Return a folder with a release of the town and its true counts."""
    folder = tmp_path_factory.mktemp("town")
    town.publish(folder, engine)
    return folder


@pytest.fixture
def office(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder that may be spoilt."""
    return shutil.copytree(made, tmp_path / "office")


@pytest.fixture
def discreet(office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.setenv("COLUMNS", "120")
    return town.command(office, monkeypatch, capsys)


# --- A release ---


def test_sentences_come_first_then_tables_by_size(discreet: Command, office: Path) -> None:
    done = discreet(*UTILITY)
    assert (done.code, done.err) == (0, "")
    found = utility(office / "out")
    text, lines = " ".join(done.out.split()), done.out.splitlines()
    assert "Utility of out (true counts from out.curator/exact). " in text
    assert found.summary in text
    for label, results in found.sections().items():
        if label not in AS_TABLES:
            assert not results or any(line.startswith(label) for line in lines)
            assert all(result.sentence in text for result in results if result.name not in SUMMARISED)
    assert "By size of the true count, shares in percent:" in lines
    assert found.cells
    rows = [line.split() for line in lines if line[:1].isdigit()]
    for each in found.cells.by_size.classes:
        assert any(row[1] == f"{each.cells:,}" and row[0] == _span(each.low, each.high) for row in rows)
    assert [row[0] for row in rows if len(row) == 4] == [str(mean) for mean in MEANS]
    assert found.areas
    assert f"Small areas: {len(found.areas.codes)} areas of AREA," in text
    assert "Assumptions: a count that several tables show with the same noise is counted once;" in text
    assert lines[-1].startswith("Next: discreet compare")
    assert max(map(len, lines)) <= 120


def _span(low: int, high: int | None) -> str:
    return f"{low}+" if high is None else f"{low}-{high}" if low else "0"


def test_json_has_the_keys_of_every_command_and_its_own(discreet: Command, office: Path) -> None:
    done = discreet(*UTILITY, "--json", "--seed", "3")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert list(told) == [*KEYS, *OWN_KEYS]
    assert (told["schema"], told["command"], told["warnings"]) == ("discreet/1", "utility", [CURATOR])
    assert told["settings"] == {"release": "out", "truth": "out.curator/exact", "areas": "AREA", "seed": 3}
    found = utility(office / "out", seed=3)
    assert told["results"] == json.loads(json.dumps([result.to_json() for result in found.results]))
    expected = json.loads(json.dumps(found.to_json()))
    assert {name: told[name] for name in expected} == expected
    assert [*expected] == OWN_KEYS
    assert set(told["small_areas"]) == {
        "source", "areas", "unpopulated", "simulated", "deviation", "bound", "seed", "chances", "single",
        "broadband", "lost", "within", "assumptions",
    }  # fmt: skip


def test_figures_are_those_of_the_files(discreet: Command, office: Path) -> None:
    told = {each["name"]: each["value"] for each in json.loads(discreet(*UTILITY, "--json").out)["results"]}
    published, true = town.published(office / "out"), town.exact(office / "out")
    # Tables 1.1 and 2 count all persons and share the total and both sexes; table 1.2 counts women.
    persons = {("SEX", "AGE"): "1.1", ("AREA", "SEX"): "2"}
    pairs: dict[object, tuple[int, int]] = {}
    for topics, table in persons.items():
        for codes, count in true[table].items():
            cell = frozenset(one for one in zip(topics, codes, strict=True) if one[1] != "_T")
            pairs[cell] = (count, published[table].get(codes, 0))
    pairs |= {("women", codes): (n, published["1.2"].get(codes, 0)) for codes, n in true["1.2"].items()}
    distances = [abs(shown - count) for count, shown in pairs.values()]
    assert all(count > 0 for count, _ in pairs.values())
    assert told["mean_absolute_distance"] == pytest.approx(sum(distances) / len(distances))
    assert told["largest_distance"] == max(distances)
    assert told["false_zeros"] == sum(shown == 0 for _, shown in pairs.values()) / len(pairs)


def test_a_seed_prints_the_same_again(discreet: Command) -> None:
    one, same, other = (discreet(*UTILITY, "--seed", seed).out for seed in ("1", "1", "2"))
    assert one == same != other


def test_without_true_counts_it_is_said(discreet: Command, office: Path) -> None:
    shutil.rmtree(office / "out.curator" / "exact")
    done = discreet(*UTILITY)
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "(without true counts)" in text
    assert "Note: True counts are unavailable: only measures that data users can compute are reported." in text
    assert "By size of the true count" not in text
    assert "totals" in text
    told = json.loads(discreet(*UTILITY, "--json").out)
    assert told["settings"]["truth"] is None
    assert told["distances"] is told["small_areas"] is None
    assert len(told["warnings"]) == 1


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_truth_may_be_named_in_either_format(discreet: Command, office: Path, form: str) -> None:
    expected = json.loads(discreet(*UTILITY, "--json").out)
    (office / "truth").mkdir()
    for path in (office / "out.curator" / "exact").iterdir():
        write_table(path.stem, read_table(path), office / "truth", form)
    shutil.rmtree(office / "out.curator" / "exact")
    found = json.loads(discreet(*UTILITY, "--truth", "truth", "--json").out)
    assert found["settings"]["truth"] == "truth"
    assert found["results"] == expected["results"]


def test_areas_can_be_named(discreet: Command) -> None:
    told = json.loads(discreet(*UTILITY, "--areas", "AGE", "--json").out)
    assert told["settings"]["areas"] == "AGE"
    assert told["areas"] == {"topic": "AGE", "areas": 4}


def test_no_true_count_is_told(discreet: Command, office: Path, engine: Engine) -> None:
    """Counts that are told from any other number; of an area that is lost only what is published is said."""
    (office / "small.toml").write_text(TOML)
    frame = pa.table(by_hand.unlike_counts())
    noise = EpsDP(Budget(0.02), bits=SeededBits(11))
    protect(frame, office / "small.toml", noise, out=office / "big", count="n", keep_exact=True, engine=engine)
    true = {count for table in town.exact(office / "big").values() for count in table.values()}
    assert {733, 1009, 733 + 1009} <= true
    text, told = (discreet("utility", "big", "--details", *more) for more in ((), ("--json",)))
    assert text.code == told.code == 0
    assert "The largest of these areas is north, published as" in " ".join(text.out.split())
    for out in (text.out, told.out):
        assert not by_hand.whole_numbers(out) & true
    lost = [each["largest"] for each in json.loads(told.out)["small_areas"]["lost"]]
    assert any(lost)
    assert all(each["true"] == [] for each in lost if each)


# --- A release: what is refused ---


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def changed(office: Path, table: str, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the rows of the true counts of a table."""
    folder = office / "out.curator" / "exact"
    rows = read_table(folder / f"{table}.parquet")
    found = rows.to_pylist()
    change(found)
    write_table(table, pa.Table.from_pylist(found, schema=rows.schema), folder, "parquet")


def row(rows: list[dict[str, Any]], **codes: str) -> dict[str, Any]:
    (found,) = (each for each in rows if all(each[name] == code for name, code in codes.items()))
    return found


def add(rows: list[dict[str, Any]], number: int, **codes: str) -> None:
    row(rows, **codes)["value"] += number


def negative(rows: list[dict[str, Any]]) -> None:
    """Say that there is less than nobody where nobody lives."""
    rows.append({**rows[0], "AREA": "nowhere", "SEX": "M", "value": -1})


def without(office: Path, column: str) -> None:
    path = office / "out.curator" / "exact" / "2.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)


def in_words(office: Path) -> None:
    """Write counts as text."""
    path = office / "out.curator" / "exact" / "2.parquet"
    rows = pq.read_table(path)
    place = rows.column_names.index("value")
    pq.write_table(rows.set_column(place, "value", [["few"] * rows.num_rows]), path)


def of_another(office: Path) -> None:
    """Take the true counts of a town in which all but one live elsewhere."""
    records = [{**each, "AREA": "south"} for each in town.people()]
    (office / "other.csv").write_text(town.as_csv(records))
    noise = CellKey(PTable.max_entropy(variance=3, bound=5), secret=town.SECRET.encode())
    protect(office / "other.csv", office / "town.toml", noise, out=office / "other", id="PERSON_ID", keep_exact=True)


FITS = "out.curator/exact has a file 2.parquet that is inconsistent with the release: it"
REFUSED: dict[str, tuple[Callable[[Path], object], tuple[str, ...], str]] = {
    "a changed table": (
        lambda office: flip(office / "out" / "tables" / "2.parquet"),
        (),
        "out has a file tables/2.parquet that is damaged or was changed",
    ),
    "a missing table": (
        lambda office: (office / "out" / "tables" / "2.parquet").unlink(),
        (),
        "out has no file tables/2.parquet",
    ),
    "no release": (lambda office: shutil.rmtree(office / "out"), (), "out"),
    "a negative truth": (
        lambda office: changed(office, "2", negative),
        (),
        f"{FITS} has negative counts, first at AREA nowhere, SEX M",
    ),
    "a truth that does not add up": (
        lambda office: changed(office, "2", lambda rows: add(rows, 1, AREA="north", SEX="_T")),
        (),
        f"{FITS} has totals that are not the sums of their parts by AREA, the first at",
    ),
    "a truth too far away": (
        lambda office: changed(office, "2", lambda rows: add(rows, 50, AREA="north", SEX="F")),
        (),
        f"{FITS} differs from the published table by more than the bound of the noise, first at AREA north, SEX F",
    ),
    "a truth of another release": (
        of_another,
        ("--truth", "other.curator/exact"),
        "other.curator/exact has a file 2.parquet that is inconsistent with the release",
    ),
    "the release as its own truth": (lambda _: None, ("--truth", "out/tables"), "out/tables has a file"),
    "a truth without a table": (
        lambda office: (office / "out.curator" / "exact" / "2.parquet").unlink(),
        (),
        "out.curator/exact has no file 2.parquet with the true counts of 2",
    ),
    "a truth that is not there": (lambda _: None, ("--truth", "nowhere"), "nowhere has no file 1.1.parquet"),
    "a truth that is no folder": (lambda _: None, ("--truth", "town.csv"), "town.csv has no file 1.1.parquet"),
    "a damaged truth": (
        lambda office: (office / "out.curator" / "exact" / "2.parquet").write_bytes(b"x"),
        (),
        "out.curator/exact has a file 2.parquet that is damaged",
    ),
    "a truth without counts": (lambda office: without(office, "value"), (), f"{FITS} cannot be arranged as a grid"),
    "a truth without a column": (
        lambda office: without(office, "SEX"),
        (),
        f"{FITS} cannot be arranged as a grid. Table 2 has no column SEX",
    ),
    "a truth in words": (
        in_words,
        (),
        f"{FITS} cannot be arranged as a grid. Table 2 has no column value of whole numbers",
    ),
    "codes that nobody knows": (
        lambda office: changed(office, "2", lambda rows: rows[0].update(AREA="moon")),
        (),
        f"{FITS} cannot be arranged as a grid. Table 2 has codes in column AREA that its programme does not define",
    ),
    "an unknown topic": (lambda _: None, ("--areas", "ARAE"), "no topic of the tables 'ARAE'. Did you mean AREA"),
    "a variance": (
        lambda _: None,
        ("--variance", "2"),
        "The record of a release defines its noise; --variance cannot be given",
    ),
    "a bound": (lambda _: None, ("--bound", "2"), "The record of a release defines its noise; --bound cannot be given"),
    "a law": (lambda _: None, ("--law", "laplace"), "The record of a release defines its noise; --law cannot be given"),
    "an epsilon": (
        lambda _: None,
        ("--epsilon", "1"),
        "The record of a release defines its noise; --epsilon cannot be given",
    ),
    "a p-table": (
        lambda _: None,
        ("--ptable", "p.csv"),
        "The record of a release defines its noise; --ptable cannot be given",
    ),
}


def check_refused(done: Done, message: str) -> None:
    """One line on the error stream, and exit code 2."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize("mistake", one_in(2, REFUSED))
def test_a_mistake_with_a_release_ends_with_2_and_one_line(discreet: Command, office: Path, mistake: str) -> None:
    spoil, arguments, message = REFUSED[mistake]
    spoil(office)
    done = discreet(*UTILITY, *arguments)
    check_refused(done, message)
    assert str(town.PERSONS) not in done.err


def test_a_mistake_is_json_where_json_is_wanted(discreet: Command) -> None:
    done = discreet(*UTILITY, "--areas", "ARAE", "--json")
    assert done.code == 2
    found = json.loads(done.out)["error"]
    assert (found["type"], found["name"]) == ("UnknownNameError", "ARAE")


def test_flags_of_the_wrong_kind_are_refused(discreet: Command) -> None:
    for arguments in (("--seed", "-1"), ("--seed", "one"), ("--unheard-of",)):
        done = discreet(*UTILITY, *arguments)
        assert done.code == 2
        assert "Traceback" not in done.err


# --- Areas ---


def test_a_file_of_areas_under_a_law(discreet: Command, office: Path) -> None:
    (office / "towns.csv").write_text("area,name,F,M\na,Alt,3,4\nb,Neu,200,300\nc,Leer,0,0\n")
    done = discreet("utility", "towns.csv", *NOISE, "--details")
    assert (done.code, done.err) == (0, "")
    text = " ".join(done.out.split())
    assert "towns.csv: 2 areas with residents, noise typically ±1.4, at most 5" in text
    assert "excluded areas without residents: 1" in text
    told = json.loads(discreet("utility", "towns.csv", *NOISE, "--json").out)
    assert list(told) == [*KEYS, "small_areas", "targets", "decision"]
    assert told["settings"] == {"areas": "towns.csv", "variance": 2.0, "bound": 5, "seed": 0}
    assert (told["small_areas"]["areas"], told["small_areas"]["unpopulated"]) == (2, 1)
    law = PTable.max_entropy(variance=2, bound=5)
    singles = [3, 4, 7, 200, 300]
    chances = [
        float(law.rows[min(n, 5)].pmf(range(-5, 6))[[abs(x) > n / 5 for x in range(-5, 6)]].sum()) for n in singles
    ]
    expected = {each["name"]: each["value"] for each in told["results"]}["counts_off_by_20_percent"]
    # The total of the second area is no small count.
    assert expected == pytest.approx(sum(chances))


@pytest.mark.parametrize(
    ("noise", "settings"),
    [
        (("--epsilon", "0.5"), {"epsilon": 0.5}),
        (("--law", "laplace", "--scale", "2"), {"law": "laplace", "scale": 2.0}),
        (("--law", "gaussian", "--sigma", "2"), {"law": "gaussian", "sigma": 2.0}),
    ],
)
def test_any_law_can_be_tried_on_areas(
    discreet: Command, office: Path, noise: tuple[str, ...], settings: dict[str, Any]
) -> None:
    (office / "towns.csv").write_text("area,T\na,30\nb,60\n")
    told = json.loads(discreet("utility", "towns.csv", *noise, "--seed", "5", "--json").out)
    assert told["settings"] == {"areas": "towns.csv", **settings, "seed": 5}
    assert told["small_areas"]["bound"] is None
    # Of a file with totals alone nothing is said of women and men.
    assert not told["small_areas"]["simulated"]
    assert [each["what"] for each in told["small_areas"]["lost"]] == ["total"]


def test_lists_come_along(discreet: Command) -> None:
    done = discreet("utility", "lau:by-sex:PT", "--epsilon", "0.1", "--json")
    assert done.code == 0
    assert json.loads(done.out)["small_areas"]["areas"] == 4_260


AREAS: dict[str, tuple[str, str]] = {
    "a missing population": ("area,T\na,5\nb,\n", "towns.csv, record 2: area b has no population"),
    "a missing number of men": ("area,F,M\na,5,1\nb,5,\n", "towns.csv, record 2: area b has no number of men"),
    "a negative count": ("area,T\na,5\nb,-6\nc,-7\n", "towns.csv, record 2: area b has a negative count"),
    "a negative count of women": ("area,F,M\na,5,1\nb,-5,9\n", "towns.csv, record 2: area b has a negative count"),
    "sexes that do not add up": (
        "area,F,M,T\na,5,6,11\nb,5,6,12\nc,1,1,9\n",
        "towns.csv, record 2: area b has women and men that do not sum to its total",
    ),
    "a code twice": ("area,T\na,5\nb,6\na,7\n", "towns.csv, record 3: area a already occurs in record 1"),
    "no code": ("area,T\na,5\n,6\n", "towns.csv, record 2: area without a code"),
    "text for a number": (
        "area,name,T\na,Alt,5\nb,Neu,few\n",
        "towns.csv, record 2: area b (Neu) has a value that is not a whole number in column T",
    ),
    "part of a person": ("area,T\na,5\nb,6.5\n", "towns.csv, record 2: area b has a value that is not a whole number"),
    "a missing column": ("area,F,Men\na,1,2\n", "no column of towns.csv 'M'. Did you mean Men"),
    "no column of codes": ("aera,T\na,5\n", "no column of towns.csv 'area'. Did you mean aera"),
    "no column of counts": ("area,name\na,Alt\n", "no column of towns.csv 'T'"),
    "an empty file": ("", "towns.csv is empty"),
    "a head alone": ("area,T\n", "towns.csv has columns but no records"),
    "nobody anywhere": ("area,T\na,0\nb,0\n", "towns.csv: all areas are empty"),
}


@pytest.mark.parametrize("mistake", AREAS)
def test_a_mistake_in_areas_ends_with_2_and_names_the_first(discreet: Command, office: Path, mistake: str) -> None:
    content, message = AREAS[mistake]
    (office / "towns.csv").write_text(content)
    done = discreet("utility", "towns.csv", *NOISE)
    check_refused(done, message)
    assert "few" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lau:2015", *NOISE), "no list of areas 'lau:2015'. Did you mean lau:2016"),
        (("lau:2016:XX", *NOISE), "no country in lau:2016 'XX'"),
        (("lau:by-sex:FR", *NOISE), "no country in lau:by-sex 'FR'"),
        (("lau:", *NOISE), "no list of areas 'lau:'"),
        (("none.csv", *NOISE), "none.csv cannot be read: No such file"),
        (("none.parquet", *NOISE), "none.parquet cannot be read: No such file"),
        (("lau:2016:MT",), "The noise for these areas is missing. Example: --variance 2"),
        (("lau:2016:MT", "--truth", "x", *NOISE), "--truth is for a release"),
        (("lau:2016:MT", "--areas", "GEO", *NOISE), "--areas is for a release"),
        (("lau:2016:MT", "--variance", "2"), "needs --bound"),
        (("lau:2016:MT", "--law", "laplac", "--scale", "2"), "no noise distribution 'laplac'. Did you mean laplace"),
        (("lau:2016:MT", "--epsilon", "0"), "epsilon must be"),
        (("lau:2016:MT", "--epsilon", "1", "--variance", "2"), "--epsilon is for the noise distribution geometric"),
        (("lau:2016:MT", "--ptable", "p.csv"), "p.csv"),
    ],
)
def test_areas_or_noise_that_cannot_be_are_refused(discreet: Command, arguments: tuple[str, ...], message: str) -> None:
    check_refused(discreet("utility", *arguments), message)


def test_a_parquet_file_that_is_none_is_refused(discreet: Command, office: Path) -> None:
    (office / "towns.parquet").write_bytes(b"no parquet")
    check_refused(discreet("utility", "towns.parquet", *NOISE), "towns.parquet")
    pq.write_table(pa.table({"area": ["a"], "T": [[1, 2]]}), office / "odd.parquet")
    check_refused(discreet("utility", "odd.parquet", *NOISE), "odd.parquet has a column T with values that are neither")
