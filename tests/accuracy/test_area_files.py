"""Areas from lists and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.accuracy.area_counts import AreasError, load_areas
from discreet.errors import DataFileError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path


def file(folder: Path, text: str, name: str = "towns.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_list_by_sex_has_what_its_sources_say() -> None:
    areas = load_areas("lau:by-sex")
    assert (len(areas), areas.unpopulated, areas.simulated) == (31_514, 76, False)
    assert int(areas.total.sum()) == 197_360_311
    countries = {country: areas.countries.count(country) for country in ("DE", "ES", "IT", "PT")}
    assert countries == {"DE": 11_237, "ES": 8_116, "IT": 7_901, "PT": 4_260}
    place = areas.codes.index("ES_26048")
    assert (areas.names[place], areas.counts[:, place].tolist()) == ("Cidamón", [17, 19, 36])


def test_edition_2016_has_what_its_source_says() -> None:
    areas = load_areas("lau:2016")
    assert (len(areas), areas.unpopulated, areas.simulated) == (115_964, 352, True)
    assert int(areas.total.sum()) == 510_434_605
    assert len(set(areas.countries)) == 28
    assert int((areas.total > 10**6).sum()) == 14 + 1
    named = {"FR_65017": ("Aragnouet", 246), "CZ_561711": ("Blažejov", 439), "FR_12143": ("Mélagues", 60)}
    for code, (name, residents) in named.items():
        place = areas.codes.index(code)
        assert (areas.names[place], int(areas.total[place])) == (name, residents)


@pytest.mark.slow
def test_some_countries_of_a_list() -> None:
    malta = load_areas("lau:2016:MT")
    assert len(malta) == 68
    assert set(load_areas("lau:by-sex:pt,ES").countries) == {"ES", "PT"}


@pytest.mark.slow
def test_the_seed_draws_the_sexes() -> None:
    one, two, other = (load_areas("lau:2016:MT", seed=seed) for seed in (1, 1, 2))
    assert one.counts[0].tolist() == two.counts[0].tolist() != other.counts[0].tolist()


def test_unknown_lists_and_countries() -> None:
    with pytest.raises(UnknownNameError, match=r"no list of areas 'lau:by-sx'\. Did you mean lau:by-sex"):
        load_areas("lau:by-sx")
    with pytest.raises(UnknownNameError, match=r"no country in lau:by-sex 'FR'\. .*Available: DE, ES, IT, PT"):
        load_areas("lau:by-sex:FR")


def test_a_file_by_sex(tmp_path: Path) -> None:
    areas = load_areas(file(tmp_path, "area;name;country;F;M;T\n01;Alt;X;3;4;7\n02;;Y; 5 ;6;11\n"))
    assert (areas.codes, areas.names, areas.countries) == (("01", "02"), ("Alt", ""), ("X", "Y"))
    assert areas.counts.tolist() == [[3, 5], [4, 6], [7, 11]]
    assert not areas.simulated


def test_a_file_of_totals(tmp_path: Path) -> None:
    areas = load_areas(str(file(tmp_path, "area,group,T\na,X,70\nb,X,110\n")))
    # Nothing is made up of women and men.
    assert areas.counts.tolist() == [[70, 110]]
    assert not areas.simulated
    assert areas.countries == ("X", "X")


def test_columns_may_be_called_in_any_case_and_counts_end_in_a_point(tmp_path: Path) -> None:
    areas = load_areas(file(tmp_path, "Area,f, m,NAME\na,3.0,4.,Alba\n"))
    assert (areas.codes, areas.counts.ravel().tolist(), areas.names) == (("a",), [3, 4, 7], ("Alba",))


def test_a_parquet_file(tmp_path: Path) -> None:
    pq.write_table(pa.table({"area": [1, 2], "F": [3.0, 5.0], "M": [4, 6]}), tmp_path / "towns.parquet")
    areas = load_areas(tmp_path / "towns.parquet")
    assert (areas.codes, areas.total.tolist()) == (("1", "2"), [7, 11])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("area,F,Men\na,1,2\n", r"no column of towns.csv 'M'\. Did you mean Men.* Required columns: area, and F"),
        ("code,T\na,1\n", r"no column of towns.csv 'area'"),
        ("area,residents\na,1\n", r"no column of towns.csv 'T'.*F and M \(women, men\) or T \(residents\)"),
    ],
)
def test_columns_that_lack(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        load_areas(file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("area,name,T\na,Alt,5\nb,Neu,few\n", r"towns.csv, record 2: area b \(Neu\) has a value that is not a whole"),
        ("area,T\na,5.5\n", r"record 1: area a has a value that is not a whole number in column T"),
        ("area,T\na,5\nb,\n", r"record 2: area b has no population"),
        ("area,F,M\na,5,\n", r"record 1: area a has no number of men"),
        ("area,F,M,T\na,5,6,12\n", r"record 1: area a has women and men that do not sum to its total"),
        ("area,T\na,5\na,6\n", r"record 2: area a already occurs in record 1"),
        ("area,T\na,5\n,6\n", r"record 2: area without a code cannot be identified"),
    ],
)
def test_values_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AreasError, match=message) as error:
        load_areas(file(tmp_path, text))
    assert "few" not in str(error.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"none.csv cannot be read: No such file"):
        load_areas(tmp_path / "none.csv")
    with pytest.raises(DataFileError, match=r"towns.csv is empty"):
        load_areas(file(tmp_path, ""))
    with pytest.raises(DataFileError, match=r"towns.csv has columns but no records"):
        load_areas(file(tmp_path, "area,T\n"))
    (tmp_path / "latin.csv").write_bytes("area,name,T\na,Mélagues,5\n".encode("latin-1"))
    with pytest.raises(DataFileError, match=r"latin.csv is not text in UTF-8"):
        load_areas(tmp_path / "latin.csv")
    pq.write_table(pa.table({"area": ["a"], "T": [[1, 2]]}), tmp_path / "odd.parquet")
    with pytest.raises(DataFileError, match=r"odd.parquet has a column T with values that are neither text"):
        load_areas(tmp_path / "odd.parquet")
