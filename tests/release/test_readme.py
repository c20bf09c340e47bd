"""The page for data users: its queries run without our library and give the published values."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import ReleaseError
from discreet.mechanisms.exact import Exact
from discreet.protection.pipeline import protect
from discreet.protection.repetition import verify
from discreet.release.disclosed_noise import noise_sentences
from discreet.release.table_files import FORMATS
from tests.protection.office import curator, make, put_people
from tests.protection.town import TOWN, people
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from pathlib import Path

    from discreet.engines.duckdb import DuckDB
    from discreet.release.release import Release


def answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[Any, ...]]]:
    """Return the rows that the queries of a page give, run in the folder of the release."""
    monkeypatch.chdir(folder)
    queries = re.findall(r"```sql\n(.*?);\n```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    with duckdb.connect() as connection:
        return [connection.execute(query).fetchall() for query in queries]


def published(release: Release, table: str, **codes: str) -> int:
    """Return a published count; a cell without a row is 0."""
    names = [breakdown.code for each in release.programme.tables if each.id == table for breakdown in each.breakdowns]
    wanted = dict.fromkeys(names, "_T") | codes
    rows = release.table(table).to_pylist()
    return sum(row["value"] for row in rows if all(row[name] == code for name, code in wanted.items()))


@pytest.mark.parametrize("form", FORMATS)
def test_the_three_queries_give_published_values(
    form: str, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = make(put_people(tmp_path), tmp_path / "rel", form=form, engine=engine)
    (count,), margin, (share,) = answers(tmp_path / "rel", monkeypatch)
    area = TOWN.topics["GEO"].levels[-1].codes[0]  # type: ignore[index]  # it has codes
    assert count == (published(release, "1", GEO=area),)
    assert dict(margin) == {code: published(release, "1", AGE=code) for code in ("Y1", "Y2", "O")}
    young = published(release, "1", AGE="Y") / published(release, "1")
    assert share[0] == pytest.approx(young)
    assert share[1] < young < share[2]


def test_the_interval_of_the_share_covers_in_95_percent_of_releases_and_less_with_more_noise(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = make(put_people(tmp_path), tmp_path / "rel", engine=engine)
    share, lower, upper = answers(tmp_path / "rel", monkeypatch)[-1][0]
    whole, size = published(release, "1"), release.description["noise"]["typical_noise"]
    width = 1.96 * size * np.sqrt(1 + share**2) / whole
    assert (lower, upper) == pytest.approx((share - width, share + width))
    random, true = np.random.default_rng(1), 0.4
    for scale, least, most in ((1.0, 0.93, 0.97), (1.3, 0.80, 0.90)):
        parts = 400 + random.normal(0, scale * size, 20_000)
        wholes = 1000 + random.normal(0, scale * size, 20_000)
        shares = parts / wholes
        covered = np.abs(shares - true) <= 1.96 * size * np.sqrt(1 + shares**2) / wholes
        assert least < covered.mean() < most


def test_names_codes_and_files_are_quoted(tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = topic("O'D\"D", {"it's": "", '"': "", "001": "it's", "a": "it's"})
    data = pa.table({"O'D\"D": ["001", "a", '"'] * 20})
    out = tmp_path / "rel"
    out.mkdir()
    for form in FORMATS:
        release = protect(data, programme([odd], [by(odd)]), Exact(), form=form, out=out / form, engine=engine)
        total, margin, share = answers(out / form, monkeypatch)
        assert total == [(60,)]
        assert dict(margin) == {"001": 20, "a": 20, '"': 20}
        assert share == [(pytest.approx(2 / 3),)]
        assert release.table(release.ids[0]).column_names == ["O'D\"D", "O'D\"D_level", "value"]


@pytest.mark.parametrize("weighted_only", [False, True])
def test_weighted_counts_are_named(
    weighted_only: bool, tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = people(300).append_column("W", pa.array(np.full(300, 2.0)))
    protect(data, TOWN, Exact(), weight="W", weighted_only=weighted_only, out=tmp_path / "rel", engine=engine)
    total = protect(data, TOWN, Exact(), engine=engine)
    area = TOWN.topics["GEO"].levels[-1].codes[0]  # type: ignore[index]  # it has codes
    assert answers(tmp_path / "rel", monkeypatch)[0] == [
        (published(total, "1", GEO=area) * (2 if weighted_only else 1),)
    ]


def test_a_changed_or_missing_page_is_found(tmp_path: Path, engine: DuckDB) -> None:
    make(put_people(tmp_path), tmp_path / "rel", engine=engine)
    page = tmp_path / "rel" / "README.md"
    page.write_text(page.read_text(encoding="utf-8") + "more", encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"README\.md that is damaged or was changed"):
        verify(tmp_path / "rel")
    page.unlink()
    with pytest.raises(ReleaseError, match=r"no file README\.md"):
        verify(tmp_path / "rel")
    assert curator(tmp_path / "rel").is_dir()


def test_codes_that_look_like_formulas_and_names_with_blanks_are_found(
    tmp_path: Path, engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = topic("ODD", {"@1": "", "b\nc": "", "@2": "@1", "@3": "@1"})
    spaced = replace(odd, levels=tuple(replace(level, name=f"my {level.name}") for level in odd.levels))
    data = pa.table({"ODD": ["@2", "@3", "b\nc"] * 20})
    for form in FORMATS:
        out = tmp_path / form
        protect(data, programme([spaced], [by(spaced)]), Exact(), form=form, out=out, engine=engine)
        total, margin, share = answers(out, monkeypatch)
        assert total == [(60,)]
        assert sorted(count for _, count in margin) == [20, 20, 20]
        assert share == [(pytest.approx(2 / 3),)]


def test_the_size_includes_the_mean_and_weights_are_explained() -> None:
    told = {"method": "random noise", "typical_noise": 12.4, "mean_noise": 2.0, "bound": "not more than about 50"}
    first, mean, bound = noise_sentences(told, ["value"])
    assert "12.6" in first
    assert "+2.0" in mean
    assert "about 50" in bound
    assert any("mean weight" in each for each in noise_sentences(told, ["value", "weighted"]))
