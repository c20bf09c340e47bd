"""Verify: a release is as it was published, and the data give it again; whatever is not in order is named."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DataFileError, ParameterError, ReleaseError, SecretError
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.coordinates import Coordinates
from discreet.mechanisms.eps_dp import EpsDP
from discreet.mechanisms.exact import Exact
from discreet.mechanisms.fresh import Fresh
from discreet.mechanisms.mechanism import MECHANISMS
from discreet.mechanisms.privacy_budget import Budget
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.ptable import PTable
from discreet.programme.model import Programme, Table
from discreet.protection.repetition import MOST_NAMED, verify
from discreet.release.release import open_release
from discreet.release.table_files import FORMATS, read_table, write_table
from tests.protection.office import OTHER_SECRET, PERSONS, cell_key, curator, files, make, put, put_people
from tests.protection.town import SECRET, TOWN, people
from tests.quick import examples, one_in, rows_in
from tests.tabulation.small_data import by, topic, without_levels

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.engines.duckdb import DuckDB
    from discreet.mechanisms.mechanism import Mechanism

SOLVED = PTable.max_entropy(variance=2, bound=5)
KEYED = (cell_key(), Coordinates(SOLVED, SECRET), Exact())
DRAWN = (Fresh(SOLVED), EpsDP(Budget(60.0)))
TABLES = len(TOWN.tables)


@pytest.fixture(scope="module", params=FORMATS)
def office(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, engine: DuckDB) -> Path:
    """Return a folder with data and a release of them."""
    folder = tmp_path_factory.mktemp("office")
    make(put_people(folder), folder / "rel", form=request.param, engine=engine)
    return folder


@pytest.fixture
def out(office: Path, tmp_path: Path) -> Path:
    """Return a copy of the release; its data lie beside it."""
    shutil.copytree(office, tmp_path, dirs_exist_ok=True)
    return tmp_path / "rel"


def table(out: Path, number: int = 0) -> Path:
    """Return the file of a table."""
    return sorted((out / "tables").iterdir())[number]


def change_description(out: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Change the entry of the first table in release.json."""
    content = json.loads((out / "release.json").read_text())
    change(content["files"][0])
    (out / "release.json").write_text(json.dumps(content))


# --- Files ---


def test_a_release_as_it_was_published_is_in_order(out: Path) -> None:
    found = verify(out)
    assert (found.release, found.files, found.repeated) == (out, TABLES, None)
    assert found.described is True
    assert found.sentence == f"Every file matches release.json ({TABLES} files), and release.json matches its record."


def test_the_public_folder_alone_is_enough_for_its_files(out: Path) -> None:
    curator(out).rename(out.parent / "elsewhere")
    found = verify(out)
    assert (found.files, found.described) == (TABLES, None)
    assert "it is unknown whether release.json is the published one" in found.sentence


@pytest.mark.parametrize("place", [0, -1])
def test_any_changed_byte_is_found_and_its_file_named(out: Path, place: int) -> None:
    content = bytearray(table(out).read_bytes())
    content[place] ^= 1
    table(out).write_bytes(bytes(content))
    what = f"has a file tables/{table(out).name} that is damaged or was changed"
    with pytest.raises(ReleaseError, match=re.escape(f"it {what}. Restore these files from a backup")):
        verify(out)


def test_a_changed_value_in_a_sound_file_is_found(out: Path) -> None:
    path = table(out)
    write_table("x", read_table(path).slice(1), path.parent, path.suffix[1:], path.stem)
    with pytest.raises(ReleaseError, match=f"a file tables/{path.name} that is damaged or was changed"):
        verify(out)


def test_a_missing_file_is_named(out: Path) -> None:
    path = table(out)
    path.unlink()
    with pytest.raises(ReleaseError, match=f"differs from the published release: it has no file tables/{path.name}"):
        verify(out)


@pytest.mark.parametrize(
    "name", ["notes.txt", "tables/x.csv", "tables/deep/1.parquet", ".DS_Store", ".git/config", "tables/.1.parquet.swp"]
)
def test_a_file_that_does_not_belong_there_is_named(out: Path, name: str) -> None:
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("true counts")
    with pytest.raises(ReleaseError, match=f"it has a file {name} that is not part of it"):
        verify(out)


def test_a_link_that_leads_nowhere_and_a_pipe_are_named(out: Path) -> None:
    (out / "link").symlink_to("nowhere")
    os.mkfifo(out / "tables" / "pipe")
    with pytest.raises(ReleaseError, match=r"a file link that is not part of it; a file tables/pipe that is not part"):
        verify(out)


# --- Forgeries of release.json ---


def forge(out: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads((out / "release.json").read_text())
    change(content)
    (out / "release.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def forget_digest(out: Path) -> None:
    """Take the digest out of the record, as if an older version had written it."""
    path = curator(out) / "record.json"
    record = json.loads(path.read_text())
    assert record.pop("release_digest") == hashlib.sha256((out / "release.json").read_bytes()).hexdigest()
    path.write_text(json.dumps(record))


def remove_table(content: dict[str, Any], out: Path) -> None:
    """Remove a table with its entry, its file and its definition."""
    entry = content["files"].pop()
    (out / entry["file"]).unlink()
    content["programme"]["tables"] = [table for table in content["programme"]["tables"] if table["id"] != entry["id"]]


PROMISE = {"epsilon": 0.1, "delta": 0, "condition": "none"}
FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "promise": (lambda content: content["noise"].update(privacy=PROMISE), "noise.privacy was added"),
    "bound": (lambda content: content["noise"].update(bound="not more than about 5"), "noise.bound was changed"),
    "no bound": (lambda content: content["noise"].pop("bound"), "noise.bound is missing"),
    "method": (lambda content: content["noise"].update(method="none: true counts"), "noise.method was changed"),
    "size": (lambda content: content["noise"].update(typical_noise=1.5), "noise.typical_noise was changed"),
    "sharing": (
        lambda content: content["noise"].update(same_count_same_noise=False),
        "noise.same_count_same_noise was",
    ),
    "name": (lambda content: content.update(name="another town"), "name was changed"),
    "label": (lambda content: content["programme"].update(name="another town"), "programme.name was changed"),
    "entry": (lambda content: content.update(licence="none"), "licence was added"),
    "schema": (lambda content: content["files"][0].update(note="x"), "files.1.note was added"),
    "order": (lambda content: content["files"].reverse(), "files are in another order"),
}


@pytest.fixture
def small(tmp_path: Path, engine: DuckDB) -> Path:
    make(put_people(tmp_path), tmp_path / "rel", engine=engine)
    return tmp_path / "rel"


@pytest.mark.parametrize(
    ("name", "digest"), [*((name, True) for name in FORGERIES), *rows_in(5, ((name, False) for name in FORGERIES))]
)
def test_a_forged_entry_is_found_without_the_data_and_named(name: str, digest: bool, small: Path) -> None:
    if not digest:
        forget_digest(small)
    assert verify(small).described
    change, what = FORGERIES[name]
    forge(small, change)
    with pytest.raises(
        ReleaseError, match=f"differs from the published release: it has a release.json in which {what}"
    ):
        verify(small)


@pytest.mark.parametrize("digest", [True, False], ids=["digest", "older"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_table_that_was_removed_with_its_entry_is_found(whole: bool, digest: bool, small: Path) -> None:
    if not digest:
        forget_digest(small)
    last = open_release(small).ids[-1]
    if whole:
        forge(small, lambda content: remove_table(content, small))
    else:
        forge(small, lambda content: (small / content["files"].pop()["file"]).unlink())
    with pytest.raises(ReleaseError, match=rf"a release.json in which files\.{last} is missing"):
        verify(small)


def test_a_table_that_was_added_with_its_entry_is_found(small: Path) -> None:
    def add(content: dict[str, Any]) -> None:
        content["files"].append({**content["files"][0], "id": "extra", "file": "tables/extra.parquet"})
        (small / "tables" / "extra.parquet").write_bytes(table(small).read_bytes())

    forge(small, add)
    with pytest.raises(ReleaseError, match=r"a release.json in which files\.extra was added"):
        verify(small)


def test_a_promise_that_is_in_the_record_too_is_not_what_the_data_give(small: Path) -> None:
    """A forger who can write to the curator's folder has both agree, and the digest with them."""
    forge(small, lambda content: content["noise"].update(privacy=PROMISE))
    path = curator(small) / "record.json"
    digest = hashlib.sha256((small / "release.json").read_bytes()).hexdigest()
    path.write_text(json.dumps({**json.loads(path.read_text()), "privacy": PROMISE, "release_digest": digest}))
    assert verify(small).described
    with pytest.raises(
        ReleaseError, match=r"in which noise\.privacy was added, compared with its repetition from the data"
    ):
        verify(small, data=small.parent / "people.parquet", secret=SECRET)


def test_the_sentences_of_an_older_release_may_be_others_and_that_is_said(small: Path) -> None:
    forget_digest(small)
    forge(small, lambda content: content.update(columns="As an older version said it."))
    data = small.parent / "people.parquet"
    for found in verify(small), verify(small, data=data, secret=SECRET):
        assert found.sentence.endswith("The record has no digest of release.json, so its sentences were not compared.")
    assert verify(small, data=data, secret=SECRET).repeated


@pytest.mark.parametrize("digest", [True, False], ids=["digest", "older"])
def test_a_bound_as_an_earlier_version_described_it_is_in_order(digest: bool, tmp_path: Path, engine: DuckDB) -> None:
    """Beside a size of 1.5 a bound below 5 leaves 3 and 4 alone; earlier versions took 2 for possible, too."""
    data, out = put_people(tmp_path), tmp_path / "rel"
    make(data, out, CellKey(PTable.max_entropy(variance=2.2, bound=4), secret=SECRET), engine=engine)
    assert open_release(out).description["noise"]["bound"] == "not more than about 10"
    forget_digest(out)
    for bound in (5, 20):
        text = f"not more than about {bound}"
        forge(out, lambda content, text=text: content["noise"].update(bound=text))  # type: ignore[misc]
        path = curator(out) / "record.json"
        found = hashlib.sha256((out / "release.json").read_bytes()).hexdigest() if digest else None
        path.write_text(json.dumps({**json.loads(path.read_text()), "release_digest": found}))
        if bound == 5:
            assert verify(out, data=data, secret=SECRET).repeated
    with pytest.raises(ReleaseError, match=r"noise\.bound was changed"):
        verify(out)


def describe_again(out: Path) -> None:
    """Describe the only table of a release by its bytes, as a version that escaped nothing did."""
    content = table(out).read_bytes()
    entry = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    forge(out, lambda told: (told["files"][0].update(entry), told.pop("escaped", None)))


@pytest.mark.parametrize("code", one_in(2, ["=1", "'=1"]))
def test_csv_of_an_earlier_version_which_escaped_nothing_is_in_order(code: str, tmp_path: Path, engine: DuckDB) -> None:
    kind = topic("KIND", f"{code} b")
    data = put_people(tmp_path, KIND=[code, "b"] * (PERSONS // 2))
    out, odd = tmp_path / "rel", Programme("odd", {"KIND": kind}, (Table("1", (by(kind),)),))
    made = make(data, out, programme=odd, form="csv", keep_exact=True, engine=engine)
    was = made.table("1").to_pydict()
    assert code in was["KIND"]
    assert verify(out, data=data, secret=SECRET).repeated
    forget_digest(out)
    for path in (table(out), curator(out) / "exact" / "1.csv"):
        path.write_bytes(path.read_bytes().replace(b"'" + code.encode(), code.encode()))
    describe_again(out)
    assert open_release(out).table("1").to_pydict() == was
    assert code in open_release(out).exact("1")["KIND"].to_pylist()
    assert verify(out, data=data, secret=SECRET).repeated
    table(out).write_bytes(table(out).read_bytes()[:-2] + b"7\n")
    describe_again(out)
    with pytest.raises(ReleaseError, match=r"1 of 1 tables differ \(1\)"):
        verify(out, data=data, secret=SECRET)


@pytest.mark.parametrize("form", FORMATS)
def test_a_release_of_the_first_schema_has_no_levels_and_is_in_order(form: str, tmp_path: Path, engine: DuckDB) -> None:
    data, out = put_people(tmp_path), tmp_path / "rel"
    made = make(data, out, form=form, engine=engine)
    held = make(data, None, engine=engine)
    assert any("AGE_level" in held.table(name).column_names for name in held.ids)
    files = [
        write_table(name, without_levels(held.table(name)), out / "tables", form, Path(file).stem).to_json()
        for name, file in made.files.items()
    ]
    forget_digest(out)
    path = out / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    later = {name: content.pop(name) for name in ("counts", "readme")}
    path.write_text(json.dumps({**content, "schema": "discreet/1", "files": files}), encoding="utf-8")
    (out / "README.md").unlink()
    assert later["counts"] == ["value"]
    assert "AGE_level" not in open_release(out).table("1").column_names
    assert verify(out, data=data, secret=SECRET).repeated
    # A page that somebody else added is not part of it.
    (out / "README.md").write_text("Ours")
    with pytest.raises(ReleaseError, match=r"README\.md that is not part of it"):
        verify(out)


def places(content: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path to every entry at any depth."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [found for name, value in inner for found in ((*path, name), *places(value, (*path, name)))]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    make(put_people(folder), folder / "rel", Coordinates(TwoSidedGeometric(epsilon=1), SECRET), tables=["1", "5"])
    assert verify(folder / "rel").described
    return folder / "rel"


@examples(given(data=st.data()), quick=12, slow=30, deadline=None)
def test_any_entry_that_is_changed_added_or_removed_is_found(published: Path, data: st.DataObject) -> None:
    path = published / "release.json"
    whole = path.read_bytes()
    content = json.loads(whole)
    *way, last = data.draw(st.sampled_from(places(content)))
    at = content
    for step in way:
        at = at[step]
    how = data.draw(st.sampled_from(["changed", "removed", "added"]))
    if how == "changed":
        other = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.just([]))
        at[last] = data.draw(other.filter(lambda value: (type(value), value) != (type(at[last]), at[last])))
    elif how == "removed":
        del at[last]
    elif isinstance(at, list):
        at.insert(int(last), data.draw(st.text()))
    else:
        at[data.draw(st.text().filter(lambda name: name not in at))] = data.draw(st.integers())
    try:
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8", "surrogatepass")
        with pytest.raises(ReleaseError):
            verify(published)
    finally:
        path.write_bytes(whole)


def test_another_number_of_rows_than_described_is_found(out: Path) -> None:
    change_description(out, lambda entry: entry.update(rows=7))
    first = json.loads((out / "release.json").read_text())["files"][0]["file"]
    with pytest.raises(ReleaseError, match=f"a file {first} with another number of rows than release.json states"):
        verify(out)


def test_several_faults_are_told_at_once_and_of_many_some(tmp_path: Path, engine: DuckDB) -> None:
    out = tmp_path / "rel"
    make(put_people(tmp_path), out, engine=engine)
    table(out, 0).unlink()
    table(out, 0).write_bytes(b"no table")
    with pytest.raises(ReleaseError) as caught:
        verify(out)
    assert "no file tables/1.parquet; a file tables/2.parquet that is damaged or was changed." in str(caught.value)
    for number in range(MOST_NAMED):
        (out / f"note{number}").write_text("mine")
    with pytest.raises(ReleaseError, match="note2 that is not part of it and 2 more"):
        verify(out)


def test_names_with_odd_words_are_told_whole(tmp_path: Path, engine: DuckDB) -> None:
    """A message is not taken apart to make another."""
    out = tmp_path / "it has no file. Take it"
    make(put_people(tmp_path), out, engine=engine)
    table(out).unlink()
    with pytest.raises(ReleaseError) as caught:
        verify(out)
    told = f"{out} differs from the published release: it has no file tables/1.parquet. Restore these files"
    assert str(caught.value).startswith(told)


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError):
        verify(tmp_path)


# --- Data ---


@pytest.mark.parametrize("mechanism", one_in(2, KEYED, ids=lambda mechanism: mechanism.name))
def test_data_that_give_the_same_bytes_are_told(mechanism: Mechanism, tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", mechanism, engine=engine)
    before = files(tmp_path)
    found = verify(tmp_path / "rel", data=data, secret=mechanism.secret)
    assert found.repeated is True
    assert found.sentence.endswith("and repeating the release from the data gives the same bytes.")
    assert files(tmp_path) == before


@pytest.mark.parametrize("mechanism", DRAWN, ids=lambda mechanism: mechanism.name)
def test_noise_that_is_drawn_anew_cannot_be_repeated_and_that_is_said(
    mechanism: Mechanism, tmp_path: Path, engine: DuckDB
) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", mechanism, engine=engine)
    found = verify(tmp_path / "rel", data=data)
    assert found.repeated is None
    assert f"the mechanism {mechanism.name} draws new noise in every run" in found.sentence
    table(tmp_path / "rel").unlink()
    with pytest.raises(ReleaseError, match="it has no file"):
        verify(tmp_path / "rel", data=data)


def test_every_mechanism_is_tried_above() -> None:
    assert {mechanism.name for mechanism in KEYED} == {
        name for name, kind in MECHANISMS.all().items() if kind.repeatable
    }


def test_the_release_is_looked_for_where_the_data_are_now(out: Path) -> None:
    moved = (out.parent / "people.parquet").rename(out.parent / "archive.parquet")
    assert verify(out, data=[str(moved)], secret=SECRET).repeated
    with pytest.raises(DataFileError, match=r"people\.parquet cannot be read"):
        verify(out, data=out.parent / "people.parquet", secret=SECRET)


@pytest.mark.parametrize("first", [0, 1])
def test_other_data_are_told_even_where_they_are_published_alike(out: Path, first: int) -> None:
    """One person less, and the same persons in another order, which changes the file but no count."""
    records = people(PERSONS)
    put(out.parent / "people.parquet", records.slice(first).take(list(range(PERSONS - first))[::-1]))
    with pytest.raises(
        ParameterError, match="The fingerprint of the data differs from that of the release to be repeated"
    ):
        verify(out, data=out.parent / "people.parquet", secret=SECRET)


def test_another_secret_and_none_are_refused(out: Path) -> None:
    data = out.parent / "people.parquet"
    with pytest.raises(SecretError, match="not the secret of the release"):
        verify(out, data=data, secret=OTHER_SECRET)
    with pytest.raises(SecretError, match="The secret of this release is missing"):
        verify(out, data=data)


def test_tables_that_come_out_otherwise_today_are_named(tmp_path: Path, engine: DuckDB) -> None:
    """The record of one release beside another of the same data and size of noise, as if the program had changed."""
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", engine=engine)
    make(data, tmp_path / "other", cell_key(version="2"), engine=engine)
    forget_digest(tmp_path / "other")
    (curator(tmp_path / "other") / "record.json").rename(curator(tmp_path / "rel") / "record.json")
    assert verify(tmp_path / "rel").described
    with pytest.raises(ReleaseError) as caught:
        verify(tmp_path / "rel", data=data, secret=SECRET)
    told = f"differs from its repetition with the data: {TABLES} of {TABLES} tables differ (1, 2, 3, 4, 5)."
    assert f"{told} It was made by discreet" in str(caught.value)


def test_the_record_of_another_release_is_told(tmp_path: Path, engine: DuckDB) -> None:
    data = put_people(tmp_path)
    make(data, tmp_path / "rel", engine=engine)
    make(data, tmp_path / "other", cell_key(version="2"), engine=engine)
    (curator(tmp_path / "other") / "record.json").rename(curator(tmp_path / "rel") / "record.json")
    with pytest.raises(ReleaseError, match=r"a release\.json that does not match the digest in its record"):
        verify(tmp_path / "rel")


def test_without_the_record_data_are_of_no_use(out: Path) -> None:
    curator(out).rename(out.parent / "elsewhere")
    with pytest.raises(ReleaseError, match=r"has no rel\.curator/record\.json next to it"):
        verify(out, data=out.parent / "people.parquet", secret=SECRET)
