"""Real persons from secret to release: census and survey records of three countries, protected by the command."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import ReleaseError
from discreet.programme.model import LEVEL, code_columns
from discreet.release.release import Release, open_release
from discreet.sources.ons_sample import ons_files as ons
from tests.journeys.running import DATA, PROGRAMMES, Cells, cells, discreet, installed_discreet, true_cells

if TYPE_CHECKING:
    from pathlib import Path

SIGMAS = 5
"""Every run has a new secret: figures may be off by this many standard errors, once in two million runs."""

Rule = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True)
class Persons:
    """A data set: how it is protected, and how its universes read in plain Python.

    The commands run as they are installed, or in this process and without what takes long to assess.
    A variance that is wrong by the share `noticed` is noticed, practically always: there are cells enough.
    """

    name: str
    id: str
    variance: float
    bound: int
    noticed: float
    threshold: int = 0
    installed: bool = True
    flags: tuple[str, ...] = ()
    universes: dict[str | None, Rule] = field(default_factory=lambda: {None: lambda _: True})


ONS = Persons(
    "ons_teaching",
    "person_id",
    variance=3,
    bound=5,
    noticed=0.35,
    universes={
        None: lambda _: True,
        "BASE = 1": lambda person: person["population_base"] == 1,
        "BASE = 1 and HOURS != -9": lambda person: person["population_base"] == 1 and person["hours_worked"] != -9,
    },
)
ONS_HERE = replace(ONS, name="ons_teaching_here", installed=False)
EMPLOYED = "INDUSTRY in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)"
NIST = Persons(
    "nist_acs",
    "RECORD",
    variance=3,
    bound=5,
    noticed=0.35,
    threshold=1,
    flags=("--missing", "category"),
    universes={None: lambda _: True, EMPLOYED: lambda person: person["INDP_CAT"] not in {18, None}},
)
ITALY = Persons("italy", "person_id", variance=3, bound=5, noticed=0.1)


@dataclass(frozen=True, eq=False)
class Journey:
    """What is there once the commands have run."""

    persons: Persons
    data: Path
    out: Path
    secret: Path
    told: dict[str, Any]
    assessed: dict[str, Any]

    @cached_property
    def release(self) -> Release:
        return open_release(self.out)

    @cached_property
    def published(self) -> dict[str, Cells]:
        return {name: cells(self.release.table(name)) for name in self.release.ids}

    @cached_property
    def truth(self) -> dict[str, Cells]:
        return {name: true_cells(self.out, name) for name in self.release.ids}

    @cached_property
    def large(self) -> int:
        """Return the count from which on the last row of the p-table serves."""
        return len(self.release.record.noise.rows) - 1

    def noise(self, table: str, cell: tuple[str, ...]) -> int:
        return self.published[table].get(cell, 0) - self.truth[table][cell]

    def finest(self, table: str) -> Iterator[tuple[str, ...]]:
        """Give the occupied cells of a table that overlap nowhere: those with a finest code in every column."""
        programme = self.release.programme
        shown = next(entry for entry in programme.tables if entry.id == table)
        codes = [set(breakdown.levels[-1].codes or ()) for breakdown in shown.breakdowns]
        for cell in self.truth[table]:
            if all(code in known for code, known in zip(cell, codes, strict=True)):
                yield cell


def italian_persons(path: Path) -> Path:
    """Write one record per person: every row of the counts, repeated by its count."""
    counts = pq.read_table(DATA / "italy/counts.parquet")
    areas, ages = counts["lau_code"].combine_chunks(), counts["age"].combine_chunks()
    parts = []
    for sex, column in (("M", "male"), ("F", "female")):
        times = np.repeat(np.arange(counts.num_rows), counts[column].to_numpy())
        parts.append(pa.table({"lau_code": areas.take(times), "age": ages.take(times), "sex": [sex] * len(times)}))
    persons = pa.concat_tables(parts)
    pq.write_table(persons.append_column("person_id", pa.array(np.arange(1, persons.num_rows + 1))), path)
    return path


@pytest.fixture(scope="module")
def journeys(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Persons], Journey]:
    """Give the journey of a data set, made once."""
    made: dict[str, Journey] = {}

    def of(persons: Persons) -> Journey:
        if persons.name not in made:
            made[persons.name] = travel(persons, tmp_path_factory.mktemp(persons.name))
        return made[persons.name]

    return of


@pytest.fixture(
    params=[pytest.param(each, id=each.name, marks=pytest.mark.slow) for each in (ONS_HERE, ONS, NIST, ITALY)]
)
def journey(request: pytest.FixtureRequest, journeys: Callable[[Persons], Journey]) -> Journey:
    return journeys(request.param)


def travel(persons: Persons, folder: Path) -> Journey:
    """Run the commands: a secret, the release, its assessment."""
    data, programme = DATA / persons.name / "persons.parquet", PROGRAMMES / f"{persons.name}.toml"
    if persons is ITALY:
        data = italian_persons(folder / "persons.parquet")
    if persons.name.startswith("ons"):
        data, programme = ons.records(), ons.programme()
    secret, out = folder / "office.secret", folder / "release"
    command = installed_discreet if persons.installed else discreet
    command("keys", "new", secret)
    law = ("--variance", str(persons.variance), "--bound", str(persons.bound), "--threshold", str(persons.threshold))
    source = ("protect", data, "--programme", programme, "--id", persons.id)
    told = command(*source, *law, *persons.flags, "--secret-file", secret, "--keep-exact", "--out", out, "--json")
    assessed = command("assess", out, *(() if persons.installed else ("--measures", "averaging")), "--json")
    return Journey(persons, data, out, secret, json.loads(told), json.loads(assessed))


def direct_count(journey: Journey) -> dict[str, Cells]:
    """Return all tables, counted person by person."""
    programme, rules = journey.release.record.published(), journey.persons.universes
    found: dict[str, Counter[tuple[str, ...]]] = {table.id: Counter() for table in programme.tables}
    places: dict[tuple[str, Any], list[str]] = {}

    def shown(breakdown: Any, value: object) -> list[str]:  # noqa: ANN401 - a breakdown of the programme
        if (breakdown.code, value) not in places:
            topic = programme.topics[breakdown.topic]
            assert topic.tree
            known = {code for level in breakdown.levels for code in level.codes}
            path = topic.tree.path("_U" if value is None else str(value))
            places[breakdown.code, value] = ["_T", *(code for code in path if code in known)]
        return places[breakdown.code, value]

    for person in pq.read_table(journey.data).to_pylist():
        for table in programme.tables:
            if rules[table.universe](person):
                columns = [programme.topics[b.topic].column or b.topic for b in table.breakdowns]
                values = [shown(b, person[c]) for b, c in zip(table.breakdowns, columns, strict=True)]
                found[table.id].update(product(*values))
    return {name: dict(counter) for name, counter in found.items()}


def test_the_true_counts_are_those_of_a_count_by_hand(journey: Journey) -> None:
    if journey.persons is not ITALY:
        assert journey.truth == direct_count(journey)
        return
    # The counts themselves are at hand: each belongs to four areas and to four ages, the totals among them.
    tree = {name: topic.tree for name, topic in journey.release.record.published().topics.items()}
    expected: Counter[tuple[str, ...]] = Counter()
    assert tree["GEO"]
    assert tree["AGE"]
    for row in pq.read_table(DATA / "italy/counts.parquet").to_pylist():
        for area in ("_T", *tree["GEO"].path(row["lau_code"])):
            for age in ("_T", *tree["AGE"].path(str(row["age"]))):
                expected[area, age] += row["male"] + row["female"]
    assert journey.truth["ages"] == {cell: count for cell, count in expected.items() if count}


def test_no_count_is_further_from_the_truth_than_was_said_and_zeros_stay(journey: Journey) -> None:
    bound = next(result["value"] for result in journey.told["results"] if result["name"] == "largest_noise")
    assert bound == journey.persons.bound
    furthest = 0
    for table, truth in journey.truth.items():
        assert journey.published[table].keys() <= truth.keys()  # a cell that is empty is not published
        noise = [abs(journey.noise(table, cell)) for cell in truth]
        assert max(noise) <= bound
        furthest = max(furthest, *noise)
        assert min(journey.published[table].values()) > journey.persons.threshold
    assert furthest >= bound - 1  # there are enough cells to come close to the bound


def test_noise_of_large_counts_has_mean_0_and_the_variance_that_was_promised(journey: Journey) -> None:
    law = journey.release.record.noise.large
    assert law.variance == pytest.approx(journey.persons.variance, rel=1e-6)
    noise = np.array([
        journey.noise(table, cell)
        for table in journey.release.ids
        for cell in journey.finest(table)
        if journey.truth[table][cell] >= journey.large
    ])  # fmt: skip
    values = np.arange(-journey.persons.bound, journey.persons.bound + 1)
    fourth = float(np.dot(values.astype(float) ** 4, law.pmf(values)))
    error = sqrt((fourth - law.variance**2) / len(noise))
    assert abs(noise.mean()) < SIGMAS * sqrt(law.variance / len(noise))
    assert abs(np.mean(noise**2) - law.variance) < SIGMAS * error
    assert 2 * SIGMAS * error < journey.persons.noticed * law.variance


def test_totals_do_not_add_up_and_the_release_says_so(journey: Journey) -> None:
    assert "totals can differ slightly from the sums of their parts" in journey.release.description["noise"]["totals"]
    law, gaps = journey.release.record.noise.large, np.array(list(gaps_between_sexes(journey).values()))
    # Three independent noises: mixed keys leave no relation between a total and its parts.
    assert np.mean(gaps**2) == pytest.approx(3 * law.variance, rel=SIGMAS * sqrt(2 / len(gaps)))
    assert abs(gaps.mean()) < SIGMAS * sqrt(3 * law.variance / len(gaps))
    assert np.mean(gaps == 0) < 0.25
    assert len(gaps) > 500


def gaps_between_sexes(journey: Journey) -> dict[tuple[str, frozenset[tuple[str, str]]], int]:
    """Return published total minus published parts, once for every total of large parts, whatever tables show it."""
    found = {}
    for table in journey.release.record.published().tables:
        topics = [breakdown.topic for breakdown in table.breakdowns]
        if "SEX" not in topics:
            continue
        place, truth = topics.index("SEX"), journey.truth[table.id]
        for cell, count in truth.items():
            parts = [(*cell[:place], sex, *cell[place + 1 :]) for sex in table.breakdowns[place].levels[0].codes or ()]
            if cell[place] == "_T" and all(truth.get(part, 0) >= journey.large for part in parts):
                assert count == sum(truth[part] for part in parts)
                coordinates = frozenset((t, code) for t, code in zip(topics, cell, strict=True) if code != "_T")
                parted = sum(journey.noise(table.id, part) for part in parts)
                found[table.population, coordinates] = journey.noise(table.id, cell) - parted
    return found


def test_a_count_that_many_tables_show_is_the_same_in_all_of_them(journey: Journey) -> None:
    compared = 0
    for one, other in combinations(journey.release.record.published().tables, 2):
        if one.population != other.population:
            continue
        shared = {b.topic for b in one.breakdowns} & {b.topic for b in other.breakdowns}
        codes: dict[str, set[str]] = {}
        for table in (one, other):
            for b in table.breakdowns:
                known = {"_T"} | {code for level in b.levels for code in level.codes or ()}
                codes[b.topic] = codes.get(b.topic, known) & known
        margins = []
        for table in (one, other):
            topics = [b.topic for b in table.breakdowns]
            margin = {}
            for cell, value in journey.published[table.id].items():
                place = dict(zip(topics, cell, strict=True))
                if all(code in codes[t] if t in shared else code == "_T" for t, code in place.items()):
                    margin[frozenset((t, place[t]) for t in shared)] = value
            margins.append(margin)
        assert margins[0] == margins[1]
        compared += len(margins[0])
    assert compared > 50


def test_the_public_folder_holds_nothing_secret(journey: Journey) -> None:
    description = journey.release.description
    tables = {f"tables/{name}.parquet" for name in journey.release.ids}
    files = {path.relative_to(journey.out).as_posix(): path for path in journey.out.rglob("*") if path.is_file()}
    assert files.keys() == {"README.md", "release.json"} | tables
    secret = journey.secret.read_bytes().strip()
    for path in files.values():
        content = path.read_bytes()
        assert secret not in content
        assert bytes.fromhex(secret.decode()) not in content
        assert str(PROGRAMMES).encode() not in content
        assert str(journey.data).encode() not in content
    public = {
        "schema",
        "kind",
        "name",
        "noise",
        "absent",
        "format",
        "columns",
        "files",
        "programme",
        "readme",
        "counts",
    }
    assert description.keys() == public
    assert not {"variance", "parameters", "records", "data_fingerprint", "key_version"} & description["noise"].keys()
    for table in journey.release.record.published().tables:
        path = journey.out / f"tables/{table.id}.parquet"
        names = pq.read_schema(path).names
        assert code_columns(names) == [breakdown.code for breakdown in table.breakdowns]
        levels = {f"{code}{LEVEL}" for code in code_columns(names)}
        assert set(names) - {*code_columns(names), "value"} <= levels
        assert not pq.read_metadata(path).metadata
        same = [journey.noise(table.id, cell) == 0 for cell in journey.truth[table.id]]
        assert np.mean(same) < 0.6  # these are not the true counts


def test_the_curators_folder_is_the_curators_alone(journey: Journey, tmp_path: Path) -> None:
    curator = journey.out.with_name("release.curator")
    assert curator.stat().st_mode & 0o777 == 0o700
    assert journey.secret.stat().st_mode & 0o777 == 0o600
    assert not any(journey.secret.read_bytes().strip() in path.read_bytes() for path in curator.rglob("*.*"))
    # A data user has the public folder alone: it can be read, and tells nobody how the noise was made.
    copy = shutil.copytree(journey.out, tmp_path / "copy")
    assert cells(open_release(copy).table(journey.release.ids[0])) == journey.published[journey.release.ids[0]]
    with pytest.raises(ReleaseError, match="Only the curator"):
        _ = open_release(copy).record


def test_what_is_assessed_is_what_was_released(journey: Journey) -> None:
    assert journey.told["read"]["records"] == pq.read_metadata(journey.data).num_rows
    assert journey.told["written"]["rows"] == sum(len(table) for table in journey.published.values())
    settings = journey.assessed["settings"]
    assert (settings["variance"], settings["bound"]) == (journey.persons.variance, journey.persons.bound)
    success = next(entry for entry in journey.assessed["results"] if entry["name"] == "averaging_success")
    assert 0 < success["value"] < 1
    assert journey.assessed["statistics"]["unique"] < journey.assessed["statistics"]["published"]
    left_out = len({table.unit for table in journey.release.record.published().tables}) > 1
    assert any("Not in these figures" in warning for warning in journey.assessed["warnings"]) == left_out


@pytest.mark.slow
def test_missing_values_are_a_category_of_the_topics_that_need_one(journeys: Callable[[Persons], Journey]) -> None:
    journey = journeys(NIST)
    topics = {topic.column or name: topic for name, topic in journey.release.record.published().topics.items()}
    missing = {column: pq.read_table(journey.data, columns=[column])[0].null_count for column in topics}
    with_category = {column for column, topic in topics.items() if topic.tree and "_U" in topic.tree.leaves}
    assert with_category == {column for column, count in missing.items() if count}
    assert journey.truth["3"]["_T", "_T", "_U", "_T"] == missing["EDU"]
    assert journey.truth["2"]["_T", "_T", "_T", "_U"] == missing["MSP"]


@pytest.mark.slow
def test_a_region_of_one_province_has_its_noise(journeys: Callable[[Persons], Journey]) -> None:
    published = journeys(ITALY).published["provinces"]
    region = {cell[1:]: value for cell, value in published.items() if cell[0] == "IT-23"}
    assert region == {cell[1:]: value for cell, value in published.items() if cell[0] == "AO"}
    assert len(region) > 100


@pytest.mark.slow
def test_an_age_group_that_is_not_split_has_one_noise(journeys: Callable[[Persons], Journey]) -> None:
    published = journeys(ONS).published["everybody"]
    broad = {cell[:-1]: value for cell, value in published.items() if cell[-1] == "Y0-15"}
    assert broad == {cell[:-1]: value for cell, value in published.items() if cell[-1] == "1"}
    assert len(broad) > 30
