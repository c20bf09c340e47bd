from __future__ import annotations

import pyarrow.parquet as pq

from discreet.programme.programme_files import load_programme
from discreet.sources.ons_sample.ons_files import ID, programme, records


def test_the_records_have_the_columns_of_the_programme() -> None:
    columns = pq.read_table(records()).column_names
    spec = load_programme(programme())
    assert ID in columns
    assert {topic.column or name for name, topic in spec.topics.items()} <= set(columns)


def test_source_and_licence_stand_beside_them() -> None:
    text = records().with_name("README.md").read_text(encoding="utf-8")
    assert "Open Government Licence" in text
    assert "Office for National Statistics" in text


def test_there_are_ten_thousand_persons_with_an_id_each() -> None:
    ids = pq.read_table(records(), columns=[ID])[ID].to_pylist()
    assert len(set(ids)) == len(ids) == 10_000
