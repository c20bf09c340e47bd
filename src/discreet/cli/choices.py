"""Names and defaults in help texts, repeated here so that `--help` loads no library; a test compares both."""

from __future__ import annotations

ATTACKERS = ("optimal", "paper")
RULES = ("levels", "flat")
MISSING = ("error", "category", "drop")
DISTRIBUTIONS = (
    "max-entropy", "geometric", "laplace", "gaussian", "discrete-gaussian", "uniform", "truncated-laplace",
    "truncated-gaussian",
)  # fmt: skip
MECHANISMS = ("cell-key", "coordinates", "fresh", "eps-dp", "exact")
KEY_MODES = ("mixed", "plain")
OBJECTIVES = ("entropy", "least-disclosure")
COMPARED_AT = ("equal-variance", "equal-risk")
COMPARED_ATTACKS = ("posterior-projection", "projection", "margins")
COMPARED_VARIANCE, COMPARED_BOUND = 2.0, 5
TABLE_FILES = ("parquet", "csv")
TABLE_FORMATS = ("csv", "csvw", "json-stat", "px", "sdmx-csv", "sdmx-ml", "xlsx")
PTABLE_FORMATS = ("csv", "toml", "tauargus", "sas", "cellkey", "ons")
PAPER_PARTS = (
    "privacy", "bound", "margins", "averaging", "redundancy", "settings", "small_areas", "accuracy", "parameter_space",
    "attackers",
)  # fmt: skip
TARGET_CELLS = 100_000
MAX_BOUND = 10
CUTS = 3
MOST_CATEGORIES = 500
LOCK_TIMEOUT = 30.0
KEY_COLUMN = "RECORD_KEY"
SECRET_VARIABLE = "DISCREET_SECRET"  # noqa: S105 - the name of the variable
UTF8 = "utf-8"
