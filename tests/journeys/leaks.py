"""What must stay hidden, in every form it could be written in, and the search for it in all that a run leaves."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.records.record_keys import RecordKeys, keys_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from discreet.programme.model import Breakdown, Programme, Table

KEY_SPACE = 1 << 32
RECOGNISABLE = 1000
"""Smaller counts are also sizes, seconds and codes; these are compared cell by cell."""
NUMBER = re.compile(r"(?<![0-9A-Za-z])(?<!\d\.)(\d{1,3}(?:[,_]\d{3})+|\d+)(?![0-9A-Za-z])")
HARMLESS = re.compile(r'"(?:bytes|memory|disk)": \d+|[\d,]+ a second|[\d,]+ records/s|(?:\w+_size|\w+_offset): \d+')
"""Sizes in bytes, places in a file and speeds: numbers that may be any."""
WINDOW = 12
"""So many signs of a secret in a row are a part of it, not chance."""

Record = dict[str, str]


@dataclass(frozen=True)
class Hidden:
    """What nobody but the curator may see.

    Attributes:
        secret: as it stands in its file.
        ids: of the records.
        keys: of the records.
        cells: true count and cell key of every cell of every table, margins and all.
        names: other values that tell who a record is.
    """

    secret: bytes
    ids: Sequence[str]
    keys: Sequence[int]
    cells: Mapping[str, Mapping[tuple[str, ...], tuple[int, int]]]
    names: Sequence[str] = field(default=())

    @property
    def counts(self) -> set[int]:
        """Return the true counts that can be told from other numbers."""
        return {count for cells in self.cells.values() for count, _ in cells.values() if count >= RECOGNISABLE}

    @cached_property
    def _secrets(self) -> set[bytes]:
        """Return every piece of the secret, and of what is derived from it, in every form."""
        material = hashlib.blake2b(self.secret, digest_size=64).digest()
        cipher = hashlib.blake2b(digest_size=16, key=material, person=b"discreet.mixing").digest()
        raw = bytes.fromhex(self.secret.decode())
        # The secret's own characters come once: their hexadecimal form is that of the raw bytes.
        return {piece for form in (raw, self.secret, material, cipher) for piece in _pieces(form)}

    @cached_property
    def _long(self) -> set[bytes]:
        """Return eight bytes for every key, digest and count as a column or an array would hold them."""
        digests = RecordKeys(self.secret).digests(pa.array(self.ids))
        keys = {*self.keys, *(key for cells in self.cells.values() for _, key in cells.values())}
        single = {*map(int, digests), *(key for key in keys if key > 1 << 24), *self.counts}
        pairs = (
            a.to_bytes(4, order) + b.to_bytes(4, order) for a, b in pairwise(self.keys) for order in ("little", "big")
        )
        return {*pairs, *(number.to_bytes(8, order) for number in single for order in ("little", "big"))}

    @cached_property
    def _words(self) -> dict[str, str]:
        """Return what each word that must not appear would be."""
        found = dict.fromkeys(self.ids, "id") | dict.fromkeys(self.names, "name")
        cell_keys = {key for cells in self.cells.values() for _, key in cells.values()}
        for kind, keys in (("record key", self.keys), ("cell key", cell_keys)):
            for key in keys:
                if key > 1 << 24:
                    found |= {f"{key:x}": kind, f"{key:08x}": kind, f"0x{key:x}": kind}
        return found

    @cached_property
    def _numbers(self) -> dict[int, str]:
        cell_keys = {key for cells in self.cells.values() for _, key in cells.values() if key > 1 << 24}
        ids = {int(each): "id" for each in self.ids if each.isdecimal()}
        keys = dict.fromkeys((key for key in self.keys if key > 1 << 24), "record key")
        return dict.fromkeys(self.counts, "true count") | dict.fromkeys(cell_keys, "cell key") | keys | ids

    def found(self, places: Mapping[str, bytes], *, but: Iterable[str] = ()) -> set[tuple[str, str]]:
        """Return what is shown where: kind and place.

        Args:
            places: everything that was written or said, by name.
            but: kinds that are allowed.
        """
        shown = {(kind, place) for place, content in places.items() for kind in self._in(content)}
        return {(kind, place) for kind, place in shown if kind not in set(but)}

    def _in(self, content: bytes) -> Iterator[str]:
        if any(piece in content for piece in self._secrets):
            yield "secret"
        if any(content[at : at + 8] in self._long for at in range(len(content) - 7)):
            yield "bytes"
        text = HARMLESS.sub("", content.decode("latin-1"))
        words = set(re.findall(r"[0-9A-Za-z-]+", text))
        yield from {self._words[word] for word in words & self._words.keys()}
        numbers = {int(re.sub("[,_]", "", number)) for number in NUMBER.findall(text)}
        yield from {self._numbers[number] for number in numbers & self._numbers.keys()}


def _pieces(form: bytes) -> Iterator[bytes]:
    """Give every run of a few signs of some bytes: as they are, in hexadecimal and in base 64."""
    for written in (form, form.hex().encode(), form.hex().upper().encode()):
        yield from (written[at : at + WINDOW] for at in range(len(written) - WINDOW + 1))
    for encode in (base64.b64encode, base64.urlsafe_b64encode, base64.b32encode):
        yield encode(form)[:WINDOW]
        yield encode(form)[-WINDOW - 4 : -4]


def hidden(
    programme: Programme,
    records: Sequence[Record],
    secret: bytes,
    *,
    id_column: str,
    key: str | None = None,
) -> Hidden:
    """Return what must stay hidden of some records, counted one by one."""
    ids = [record[id_column] for record in records]
    keys = (
        [int(made) for made in keys_of(RecordKeys(secret).digests(pa.array(ids)))]
        if key is None
        else [int(record[key]) for record in records]
    )
    cells = {table.id: _counted(programme, table, records, keys) for table in programme.tables}
    return Hidden(secret, ids, keys, cells, [record["NAME"] for record in records if "NAME" in record])


def _counted(
    programme: Programme, table: Table, records: Sequence[Record], keys: Sequence[int]
) -> dict[tuple[str, ...], tuple[int, int]]:
    count: Counter[tuple[str, ...]] = Counter()
    total: Counter[tuple[str, ...]] = Counter()
    for record, key in zip(records, keys, strict=True):
        # The one universe of these tests.
        if table.universe and record["SEX"] != "F":
            continue
        codes = [_codes(programme, breakdown, record[breakdown.topic]) for breakdown in table.breakdowns]
        for cell in product(*codes):
            count[cell] += 1
            total[cell] += key
    return {cell: (count[cell], total[cell] % KEY_SPACE) for cell in count}


def _codes(programme: Programme, breakdown: Breakdown, code: str) -> list[str]:
    tree = programme.topics[breakdown.topic].tree
    path = tree.path(code) if tree and code else (code or "_U",)
    shown = [step for level in breakdown.levels for step in path if step in (level.codes or ()) or step == "_U"]
    return list(dict.fromkeys(["_T", *shown]))


# --- All that a run leaves ---


def left_in(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder as it is, Parquet also as what it holds, and the names."""
    found = {
        f"names in {folder.name}": "\n".join(
            str(path.relative_to(folder)) for path in sorted(folder.rglob("*"))
        ).encode()
    }
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = f"{folder.name}/{path.relative_to(folder)}"
            found[name] = path.read_bytes()
            if path.suffix == ".parquet":
                found[f"{name}, decoded"] = _decoded(path).encode()
    return found


def _decoded(path: Path) -> str:
    """Return everything that a Parquet file says: schema, metadata, sizes, statistics, dictionaries and values."""
    file = pq.ParquetFile(path)
    told = [str(file.metadata), str(file.schema), str(file.schema_arrow.metadata), str(file.metadata.metadata)]
    for group in range(file.metadata.num_row_groups):
        rows = file.metadata.row_group(group)
        told += [str(rows), *(str(rows.column(number)) for number in range(rows.num_columns))]
    # Where the library keeps its objects in memory is not part of the file.
    told = [re.sub(r" object at 0x[0-9a-f]+", "", text) for text in told]
    for column in file.read().columns:
        whole = column.combine_chunks()
        if pa.types.is_dictionary(whole.type):
            told.append(str(whole.dictionary.to_pylist()))
        told.append("\n".join(map(str, whole.to_pylist())))
    return "\n".join(told)
