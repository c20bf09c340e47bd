"""Files of overlaps: pairs in the order of the file, and every mistake with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from discreet.attacks.attacker_view import read_overlaps
from discreet.errors import DataFileError, InputError, UnknownNameError
from tests.tabulation.small_data import by, programme, topic

if TYPE_CHECKING:
    from pathlib import Path

GEO = topic("GEO", {"n": "", "s": "", "n1": "n", "n2": "n"})
GRID = topic("GRID", "g1 g2")
MAP = programme([GEO, GRID], [by(GEO)], [by(GRID)])


def put(folder: Path, text: str | bytes) -> Path:
    path = folder / "map.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_pairs_are_of_the_finest_codes_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = read_overlaps(put(tmp_path, "GEO,GRID\nn1,g1\nn2,g1\n\ns,g2\n"), MAP)
    assert found.topics == ("GEO", "GRID")
    assert list(found.pairs) == [("n1", "g1"), ("n2", "g1"), ("s", "g2")]


def test_topics_may_stand_in_either_order_and_codes_in_quotes(tmp_path: Path) -> None:
    found = read_overlaps(put(tmp_path, 'GRID,GEO\r\n"g1",n1\r\n'), MAP)
    assert (found.topics, list(found.pairs)) == (("GRID", "GEO"), [("g1", "n1")])


def test_a_header_alone_says_that_nothing_meets(tmp_path: Path) -> None:
    assert list(read_overlaps(put(tmp_path, "GEO,GRID\n"), MAP).pairs) == []


@pytest.mark.parametrize("text", ["", "\n\n", "GEO\n", "GEO,GRID,SEX\n", "GEO;GRID\nn1;g1\n"])
def test_it_must_begin_with_two_topics(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataFileError, match=r"map\.csv does not begin with the names of two topics\. Give a CSV file"):
        read_overlaps(put(tmp_path, text), MAP)


def test_an_unknown_topic_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no topic in .*map\.csv 'GRIT'\. Did you mean GRID\?"):
        read_overlaps(put(tmp_path, "GEO,GRIT\nn1,g1\n"), MAP)


@pytest.mark.parametrize("code", ["n", "g1", "n3", ""])
def test_a_code_that_is_not_of_the_finest_level_is_refused_with_its_line(tmp_path: Path, code: str) -> None:
    with pytest.raises(UnknownNameError, match=r"no code of topic GEO \(line 3 of .*map\.csv\)"):
        read_overlaps(put(tmp_path, f"GEO,GRID\nn1,g1\n{code},g2\n"), MAP)


@pytest.mark.parametrize(("line", "values"), [("n1", 1), ("n1,g1,x", 3)])
def test_a_line_must_be_a_pair(tmp_path: Path, line: str, values: int) -> None:
    with pytest.raises(DataFileError, match=rf"map\.csv has {values} values in line 3\."):
        read_overlaps(put(tmp_path, f"GEO,GRID\nn1,g1\n{line}\n"), MAP)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"none\.csv cannot be read: No such file or directory\."):
        read_overlaps(tmp_path / "none.csv", MAP)
    with pytest.raises(DataFileError, match=r"map\.csv cannot be read: it is not a CSV file in UTF-8\."):
        read_overlaps(put(tmp_path, b"GEO,GRID\n\xff,g1\n"), MAP)


def test_lines_are_counted_as_they_stand(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 4"):
        read_overlaps(put(tmp_path, "GEO,GRID\n\nn1,g1\nx,g2\n"), MAP)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    assert list(read_overlaps(put(tmp_path, b"\xef\xbb\xbfGEO,GRID\nn1,g1\n"), MAP).pairs) == [("n1", "g1")]
