"""Names that every published table has: the code of a total, and the columns of values."""

from __future__ import annotations

TOTAL = "_T"
"""The code of the total in every column."""
VALUE = "value"
"""The column of published counts."""
WEIGHTED = "weighted"
"""The column of weighted counts after it, where there are weights."""
