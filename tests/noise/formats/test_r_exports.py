"""p-tables as R writes them: whatever function and options, the same table is read."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from discreet.errors import PTableFileError
from discreet.noise.formats.ptable_files import read_ptable
from tests.each import each
from tests.needs import program

DATA = Path(__file__).parents[2] / "data" / "formats"
SAS = DATA / "cnts_D5_V3_js2_sas.txt"
HEAD, *LINES = [[field.strip() for field in line.split(";")] for line in SAS.read_text().splitlines()]
R = """
x <- read.table(commandArgs(TRUE)[1], sep = ";", header = TRUE)
x$type <- "all"
y <- x[, c("type", "v", "p_int_ub", "i", "p", "j", "p_int_lb")]
write.csv(x, "csv.csv")
write.csv(y, "any_order.csv", row.names = FALSE)
write.csv2(y, "csv2.csv")
write.table(x, "table.txt")
write.table(y, "plain.txt", quote = FALSE, row.names = FALSE, sep = "\\t")
y$type <- "freqs"
options(digits = 17)
write.csv(format(y, digits = 17), "digits.csv", quote = TRUE, row.names = FALSE)
names(y) <- sub("p_int_ub", "kum_p_o", sub("p_int_lb", "kum_p_u", names(y)))
write.csv2(y, "older.csv", row.names = FALSE)
write.csv(x[, setdiff(names(x), "p_int_lb")], "without_lower.csv", row.names = FALSE)
"""


def test_every_way_of_writing_in_r_is_read_as_the_same_table(tmp_path: Path) -> None:
    subprocess.run([program("Rscript"), "-e", R, SAS], check=True, cwd=tmp_path)
    expected = read_ptable(SAS)
    written = sorted(tmp_path.iterdir())
    assert len(written) == 8
    assert len({path.read_bytes() for path in written}) == 8
    for path in written:
        found = read_ptable(path)
        assert found.rounded == expected.rounded, path.name
        assert found.key_space == expected.key_space


def text(names: list[str], mark: str = ",", **changes: str) -> str:
    """Return the table with some columns, one line changed."""
    rows = [dict(zip(HEAD, line, strict=True)) | {"type": "all"} for line in LINES]
    rows[1] |= changes
    return "\n".join([mark.join(names), *(mark.join(row[name] for name in names) for row in rows)]) + "\n"


@each(
    ("names", "mark", "changes"),
    [
        (["v", "j", "i", "p", "p_int_lb", "p_int_ub"], ",", {"p": "0.73446954000000002"}),
        (["type", "v", "j", "i", "p", "p_int_ub"], ";", {"p": "0,73446954", "p_int_ub": "0,73446954"}),
    ],
)
def test_order_and_last_digits_do_not_matter(
    names: list[str], mark: str, changes: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text(names, mark, **changes))
    assert read_ptable(tmp_path / "t.csv").rounded == read_ptable(SAS).rounded


@each(
    ("names", "changes", "message"),
    [
        (HEAD, {"p": "0.7344695405"}, r"line 3: p is '0\.7344695405', not a multiple of 1e-08"),
        (HEAD, {"p": "0.8"}, r"line 3: row i = 1, v = -1: p is 0\.80000000, but the interval is 0\.73446954 wide"),
        ([*HEAD, "type"], {"type": "even"}, "line 3: is a p-table for magnitudes"),
        ([*HEAD, "type"], {"type": "all,x"}, "line 3: 8 fields where 7 are expected"),
        ([*HEAD, "type"], {"type": '"open'}, "line 3: cannot be read as fields"),
        ([*HEAD, "type"], {"type": "x" * 140_000}, "line 3: cannot be read as fields"),
        (HEAD, {"v": "x"}, "line 3: v is 'x', not a whole number"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    names: list[str], changes: dict[str, str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text(names, **changes))
    with pytest.raises(PTableFileError) as error:
        read_ptable(tmp_path / "t.csv")
    assert re.search(message, str(error.value)), str(error.value)
