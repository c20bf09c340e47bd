"""How files are read."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import ParameterError

BLOCK = 1 << 22
UTF8 = "utf-8"
SIGNS = 'aZ09,;\t|"\r\n'
"""Letters, digits, delimiters, quotes and line ends of CSV."""


@dataclass(frozen=True)
class Reading:
    """How files are read.

    Attributes:
        block: how many values at a time, about.
        forgiving: whether a CSV file may end inside a quote, which may have swallowed records.
        encoding: of the text of CSV files.
    """

    block: int = BLOCK
    forgiving: bool = False
    encoding: str = UTF8

    def __post_init__(self) -> None:
        try:
            plain = SIGNS.encode(self.encoding)
        except (LookupError, UnicodeError):
            plain = b""
        # Lines, delimiters and quotes are found by their bytes.
        if plain != SIGNS.encode():
            raise ParameterError(
                f"{self.encoding!r} is not an encoding in which CSV files can be read. Name one in which each sign of "
                "ASCII is one byte, such as latin-1, cp1252 or utf-8.",
                parameter="encoding",
            )


AS_USUAL = Reading()
