"""Inputs that once ended a reader in a trace, a segmentation fault or not at all, and others of their kind.

Large ones are made when they are asked for, so that none is stored. A pipe is not among them: a file that the user
names may be one, as in `<(zcat table.gz)`, and is waited for.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DIGITS = "9" * 5_000
XML = '<?xml version="1.0" encoding="%s"?>'
BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(9))
ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 9 if n else "x"}">' for n in range(9))

CONTENTS: dict[str, Callable[[], bytes]] = {
    # Bytes
    "empty": lambda: b"",
    "a byte": lambda: b"\xff",
    "NUL bytes": lambda: bytes(10_000),
    "all bytes": lambda: bytes(range(256)) * 40,
    "byte order mark": lambda: b"\xef\xbb\xbf",
    "UTF-16": lambda: 'name = "x"\n'.encode("utf-16"),
    "surrogate": lambda: b'name = "\xed\xb3\xbf"\n',
    "blank lines": lambda: b"\n" * 100_000,
    "carriage returns": lambda: b"a\rb\r" * 1_000,
    "open quote": lambda: b'a,b\n"1,2\n3,4\n',
    "a word of 1 MB": lambda: b"x" * 1_000_000,
    "a comment of 1 MB": lambda: b"#" * 1_000_000,
    # Brackets and digits
    "200,000 brackets": lambda: b"[" * 200_000,
    "30,000 brackets in YAML": lambda: b"params: " + b"[" * 30_000,
    "30,000 braces in YAML": lambda: b"params: " + b"{a: " * 30_000,
    "30,000 dashes in YAML": lambda: b"params:\n  " + b"- " * 30_000,
    "aliases in YAML": f"{BOMB}\nparams:\n  ptable: *a8\n".encode,
    "aliases in parameters": f"params:\n{BOMB}\n".encode,
    "tags in YAML": lambda: b"params: !!timestamp x\n",
    "a date in YAML": lambda: b"params: 2001-99-99\n",
    "digits in YAML": f"params:\n  ptable:\n    i: [{DIGITS}]\n".encode,
    "hexadecimal digits in YAML": lambda: b"params:\n  ptable:\n    i: [0x" + b"f" * 5_000 + b"]\n",
    "5,000 arrays in TOML": lambda: b"a = " + b"[" * 5_000 + b"]" * 5_000,
    "5,000 tables in TOML": lambda: b".".join([b"a"] * 5_000) + b" = 1",
    "5,000 digits in TOML": f"name = {DIGITS}\nvariance = {DIGITS}".encode,
    "400 digits in TOML": f"variance = {'9' * 400}\nbound = {'9' * 400}".encode,
    "an infinite number": lambda: b"variance = 1e999\nbound = 5\n",
    "not a number": lambda: b"variance = nan\nbound = 5\n",
    "digits in a programme": f'[topics.A]\nsize = {DIGITS[:90]}\n[[tables]]\nid="1"\ncolumns=["A"]'.encode,
    "a p-table of 5,000 digits": f'kind = "p-table"\nschema = "discreet/1"\nkey_space = {DIGITS}'.encode,
    "5,000 arrays in JSON": lambda: b'{"schema":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "5,000 digits in JSON": f'{{"schema": {DIGITS}}}'.encode,
    "an infinite number in JSON": lambda: b'{"schema": 1e400, "files": Infinity}',
    "a list for an object": lambda: b"[]",
    "a long name": lambda: b'[topics."' + b"x" * 5_000 + b'"]\nsiez = 3\n',
    "a long message": lambda: b"x = " + b"y" * 5_000 + b"\n",
    # XML
    "200,000 elements": lambda: b"<a>" * 200_000 + b"</a>" * 200_000,
    "unknown encoding": f"{XML % 'klingon'}<Structure/>".encode,
    "encoding of many bytes": f"{XML % 'shift_jis'}<Structure/>".encode,
    "entities": f"{XML % 'utf-8'}<!DOCTYPE a [{ENTITIES}]><Structure>&e8;</Structure>".encode,
    "entities in UTF-16": lambda: f"{XML % 'utf-16'}<!DOCTYPE a [{ENTITIES}]><a>&e8;</a>".encode("utf-16"),
    "an empty structure": lambda: b'<Structure xmlns="x"/>',
    "a list without codes": lambda: b"<Structure><Codelists><Codelist id='A'/></Codelists></Structure>",
    # Tables
    "100,000 columns": lambda: b",".join(b"c%d" % n for n in range(100_000)) + b"\n",
    "columns of one name": lambda: b"a,a\n1,2\n",
    "too many fields": lambda: b"table,weight\n1,2,3\n",
    "too few fields": lambda: b"code,parent,label\na\n",
    "a weight of 5,000 digits": f"table,weight\n1,{DIGITS}\n2,nan\n".encode,
    "its own parent": lambda: b"code,parent,label\na,a,x\n",
    "a line per level": lambda: (
        b"code,parent,label\n0,,\n" + b"".join(b"%d,%d,\n" % (n, n - 1) for n in range(1, 3_000))
    ),
    "negative intervals": lambda: b"i,j,v,p,lower,upper\n0,0,0,1,-1,99999999999999999999\n",
    "one key of each": lambda: b"pcv,ckey,pvalue\n99999999999999999999,1,1\n",
    "a value of 20 MB": lambda: b"SEX,AGE\nF," + b"x" * 20_000_000 + b"\n",
    # Packed, and formats of data
    "packed zeros": lambda: gzip.compress(bytes(200_000_000), 1),
    "packed, cut short": lambda: gzip.compress(b"SEX,AGE\nF,Y\n" * 1_000)[:30],
    "Parquet without content": lambda: b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1",
    "Parquet of zeros": lambda: b"PAR1" + bytes(1_000) + b"\xe8\x03\x00\x00PAR1",
    "Parquet with a value of 20 MB": lambda: _parquet(20_000_000),
    "DuckDB of zeros": lambda: bytes(8) + b"DUCK" + bytes(10_000),
}
LARGE: dict[str, Callable[[], bytes]] = {
    "a value of 100 MB": lambda: b"SEX,AGE\nF," + b"x" * 100_000_000 + b"\n",
    "Parquet with a value of 100 MB": lambda: _parquet(100_000_000),
    "a text of 100 MB": lambda: b"# x\n" * 25_000_000,
}
"""Left to the slow tests."""


def _parquet(length: int) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"SEX": ["F", "M"], "AGE": ["Y", "x" * length]}), sink)
    return bytes(sink.getvalue().to_pybytes())


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


PLACES: dict[str, Callable[[Path], None]] = {
    "nothing": lambda _path: None,
    "a folder": lambda path: path.mkdir(),
    "a link to itself": _loop,
    "a link to nothing": lambda path: path.symlink_to(path.parent / "nowhere"),
    "no end": lambda path: path.symlink_to("/dev/zero"),
    "the null device": lambda path: path.symlink_to("/dev/null"),
}
"""What may stand where a file should be."""


def place(name: str, path: Path) -> None:
    """Put a hostile input where a reader looks for its file."""
    if name in PLACES:
        PLACES[name](path)
    else:
        path.write_bytes((CONTENTS | LARGE)[name]())


NAMES = (*CONTENTS, *LARGE, *PLACES)
