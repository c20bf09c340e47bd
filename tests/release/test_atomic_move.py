"""Parts move into place one after the other, and a promise says which are still waiting."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from discreet.release.atomic_move import Moves, is_empty

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def moves(tmp_path: Path) -> Moves:
    folder = tmp_path / "hidden"
    for part in ("first", "second"):
        (folder / part / "inside").mkdir(parents=True)
        (folder / part / "inside" / "table").write_text("new")
        (folder / part / "about.json").write_text(f'"new {part}"')
    return Moves(folder, {"first": tmp_path / "a", "second": tmp_path / "b"})


def old(place: Path) -> None:
    place.mkdir()
    (place / "about.json").write_text('"old"')


def about(place: Path) -> str:
    return (place / "about.json").read_text().strip('"')


def test_nothing_waits_before_it_was_promised_or_after_it_was_forgotten(moves: Moves) -> None:
    assert moves.waiting() == []
    moves.commit(moves.sync_parts(), replace=True)
    assert moves.waiting() == ["first", "second"]
    assert moves.may_replace
    moves.forget()
    assert moves.waiting() == []
    assert not moves.may_replace


@pytest.mark.parametrize("before", ["nothing", "empty", "old"])
def test_parts_go_to_their_places(moves: Moves, before: str) -> None:
    for place in moves.places.values():
        if before != "nothing":
            old(place)
        if before == "empty":
            (place / "about.json").unlink()
    moves.commit(moves.sync_parts(), replace=True)
    moves.carry_out()
    assert moves.waiting() == []
    for part, place in moves.places.items():
        assert about(place) == f"new {part}"
        if before == "old":
            assert about(moves.folder / part) == "old"


@pytest.mark.parametrize(
    "change", ["a byte of the description", "a byte of a table", "the size of a table", "one file less"]
)
def test_a_part_that_was_changed_after_the_promise_does_not_move(moves: Moves, change: str) -> None:
    moves.commit(moves.sync_parts(), replace=True)
    table = moves.folder / "first" / "inside" / "table"
    if change == "one file less":
        table.unlink()
    elif change == "a byte of a table":
        table.write_text("now")
    elif change == "the size of a table":
        table.write_text("new, and more")
    else:
        (moves.folder / "first" / "about.json").write_text('"now first"')
    assert moves.waiting() == ["second"]


@pytest.mark.parametrize("before", ["nothing", "old"])
def test_if_the_second_move_is_refused_the_first_is_undone(
    moves: Moves, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before == "old":
        for place in moves.places.values():
            old(place)
    moves.commit(moves.sync_parts(), replace=True)
    rename, blocked = os.rename, moves.places["second"]

    def renamed(source: Path, target: Path) -> None:
        if blocked in {source, target}:
            raise PermissionError
        rename(source, target)

    monkeypatch.setattr("discreet.release.atomic_move._in_one_step", lambda _new, _old: False)
    monkeypatch.setattr(os, "rename", renamed)
    with pytest.raises(PermissionError):
        moves.carry_out_or_undo()
    assert [place.exists() for place in moves.places.values()] == [before == "old"] * 2
    if before == "old":
        assert [about(place) for place in moves.places.values()] == ["old", "old"]
    assert about(moves.folder / "first") == "new first"
    assert moves.waiting() == []


def test_a_folder_is_empty_or_not(tmp_path: Path) -> None:
    assert is_empty(tmp_path)
    (tmp_path / ".hidden").touch()
    assert not is_empty(tmp_path)
