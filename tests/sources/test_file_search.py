"""Which files are meant: by a path, a folder, a pattern or a list."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import DataFileError, InputError
from discreet.sources.data_files import find_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("census/b.parquet", "census/a.parquet", "census/c.csv", "census/more/d.PARQUET", "census/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    return tmp_path


def found(folder: Path, *given: str) -> tuple[str, list[str]]:
    name, files = find_files([folder / item for item in given])
    return name, [path.relative_to(folder).as_posix() for path in files]


def test_a_path_is_a_file_whether_it_is_there_or_not(folder: Path) -> None:
    assert found(folder, "census/c.csv") == ("c.csv", ["census/c.csv"])
    assert found(folder, "census/x.csv") == ("x.csv", ["census/x.csv"])
    assert find_files(["x.csv"]) == ("x.csv", [Path("x.csv")])


def test_a_folder_is_its_parquet_files_or_else_its_csv_files(folder: Path) -> None:
    assert found(folder, "census") == ("census (2 files)", ["census/a.parquet", "census/b.parquet"])
    assert found(folder, "census/more") == ("more (1 file)", ["census/more/d.PARQUET"])
    for name in ("a.parquet", "b.parquet"):
        (folder / "census" / name).rename(folder / f".{name}")
    (folder / "census" / "a.csv.gz").write_text("1")
    (folder / "census" / ".hidden.parquet").write_text("1")
    (folder / "census" / "folder.parquet").mkdir()
    assert found(folder, "census") == ("census (2 files)", ["census/a.csv.gz", "census/c.csv"])


def test_the_folder_one_is_in_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "census")
    assert find_files(["."]) == ("census (2 files)", [Path("a.parquet"), Path("b.parquet")])
    (folder / "empty").mkdir()
    monkeypatch.chdir(folder / "empty")
    with pytest.raises(
        DataFileError, match=r"^empty contains no files with the extension \.parquet, \.csv, \.csv\.gz\. Specify"
    ):
        find_files(["."])


def test_a_pattern_is_the_files_that_match_in_the_order_of_their_names(folder: Path) -> None:
    two = ["census/a.parquet", "census/b.parquet"]
    assert found(folder, "census/*.parquet") == ("census/*.parquet (2 files)", two)
    assert found(folder, "census/[ab].p?rquet") == ("census/[ab].p?rquet (2 files)", two)
    name, files = found(folder, "census/**/*.[pP]*")
    assert (name, files) == ("census/**/*.[pP]* (3 files)", [*two, "census/more/d.PARQUET"])
    assert found(folder, "c*/c.csv") == (f"{folder.name}/c*/c.csv (1 file)", ["census/c.csv"])
    assert "census/more" not in found(folder, "census/**")[1]


def test_a_pattern_without_a_folder_is_its_own_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "census")
    assert find_files(["*.csv"]) == ("*.csv (1 file)", [Path("c.csv")])


def test_a_file_called_like_a_pattern_is_a_file(folder: Path) -> None:
    (folder / "census" / "[a].csv").write_text("1")
    assert found(folder, "census/[a].csv") == ("[a].csv", ["census/[a].csv"])


def test_a_list_is_all_its_files_in_the_order_of_their_names(folder: Path) -> None:
    name, files = found(folder, "census/c.csv", "census/*.parquet", "census/more")
    assert name == "a.parquet and 3 more"
    assert files == ["census/a.parquet", "census/b.parquet", "census/c.csv", "census/more/d.PARQUET"]
    assert found(folder, "census/c.csv", "census/a.parquet")[0] == "a.parquet and 1 more"


def test_where_nothing_is_it_is_said(folder: Path) -> None:
    with pytest.raises(DataFileError, match=r"^No file matches .*/census/\*\.orc\. Check the pattern and its folder"):
        found(folder, "census/*.orc")
    with pytest.raises(DataFileError, match="No file matches"):
        found(folder, "census/m*")
    (folder / "empty").mkdir()
    (folder / "empty" / "notes.txt").write_text("1")
    with pytest.raises(DataFileError, match=r"^empty contains no files .* files in its subfolders as \*\*/\*\.p"):
        found(folder, "empty")


@pytest.mark.parametrize("text", ["", "a,b\n1,canary\n", "canary\0"])
def test_data_in_place_of_a_path_are_not_shown(text: str) -> None:
    with pytest.raises(InputError, match=r"an empty text or a text with line breaks. Specify the path") as caught:
        find_files([text])
    assert "canary" not in str(caught.value)


def test_a_path_that_no_system_takes_is_told() -> None:
    with pytest.raises(DataFileError, match=r"cannot be read: File name too long. Check the path"):
        find_files(["x" * 5_000 + ".csv"])
