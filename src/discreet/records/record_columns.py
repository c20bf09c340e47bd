"""The columns of the data that are no topics: what a record is known by, and what it stands for."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import ParameterError


@dataclass(frozen=True)
class RecordColumns:
    """Columns by their role.

    Attributes:
        id: a stable id to make record keys from.
        key: a ready-made key; of a row that stands for several persons, the sum of theirs.
        count: how many persons a row stands for, in data that are tabulated already; one if left out.
        weight: the weight of a row.
    """

    id: str | None = None
    key: str | None = None
    count: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        if self.id is not None and self.key is not None:
            raise ParameterError("Give an id to make keys from or a ready-made key, not both.", parameter="key")
        if self.id is not None and self.count is not None:
            raise ParameterError(
                "A row with a count stands for several persons and has no id of one. Leave --id out, and give the sum "
                "of their keys (--key) if there is one.",
                parameter="id",
            )
        named = self.columns
        twice = [column for column in named if named.count(column) > 1]
        if twice:
            raise ParameterError(f"Column {twice[0]} is named for two things at once. Correct one.", parameter="key")

    @property
    def columns(self) -> list[str]:
        """Return the columns that must be read."""
        return [column for column in (self.id, self.key, self.count, self.weight) if column is not None]
