"""Records: JSON there and back, what is public, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import (
    InfeasibleError,
    ParameterError,
    ProgrammeError,
    PTableFileError,
    RecordFileError,
    UnknownNameError,
)
from discreet.mechanisms.cell_key import CellKey
from discreet.mechanisms.exact import Exact
from discreet.noise.ptable import PTable
from discreet.programme.programme_files import load_programme
from discreet.programme.programme_json import programme_from_json, programme_to_json
from discreet.release.record import Record, record_from_json
from tests.each import each
from tests.release.small_release import PROGRAMME, SECRET

PATH = Path("record.json")
DEFINITION = programme_to_json(PROGRAMME)
RECORD = Record(
    programme="eu2021:LU",
    parameters={"variance": 3.0, "bound": 7, "threshold": 1},
    key_version="2021-a",
    data_fingerprint="0123",
    made_by="discreet 0.1.0",
)


def test_a_record_survives_json() -> None:
    assert record_from_json(RECORD.to_json(), PATH) == RECORD


def test_the_law_is_that_of_the_record() -> None:
    assert RECORD.variance == pytest.approx(3)
    assert RECORD.noise.settings is not None
    geometric = Record(programme="x", law="geometric", parameters={"epsilon": 0.5})
    assert geometric.variance == pytest.approx(geometric.noise.large.variance)
    assert geometric.noise.large.bound == float("inf")


def test_the_public_part_holds_nothing_exact_and_nothing_secret() -> None:
    told = RECORD.public()
    assert told["typical_noise"] == 1.7
    assert told["bound"] == "not more than about 10"
    text = json.dumps(told)
    for secret in ("2021-a", "0123", "threshold", '"variance"', ": 7", "mixed"):
        assert secret not in text
    assert "bound" not in Record(programme="x", law="geometric", parameters={"epsilon": 0.5}).public()


def test_a_bound_is_never_told_exactly() -> None:
    for bound in (4, 5, 9, 10, 20):
        record = Record(programme="x", parameters={"variance": 2, "bound": bound})
        assert f"about {bound}" not in record.public()["bound"].split("than ")[1] + " "


@each(
    ("change", "error", "message"),
    [
        ({"law": "laplac"}, UnknownNameError, "no law 'laplac'. Did you mean laplace"),
        ({"mechanism": "cellkey"}, UnknownNameError, "Did you mean cell-key"),
        ({"parameters": {"variance": 2, "bound": 5, "threshold": 2}}, InfeasibleError, "row 1"),
        ({"law": "geometric", "parameters": {}}, ParameterError, "needs --epsilon. Example: --epsilon 0.5"),
        (
            {"law": "geometric", "parameters": {"eps": 1}},
            UnknownNameError,
            "parameter of the noise distribution geometric 'eps'",
        ),
        ({"law": "laplace", "parameters": {"scale": -1}}, ParameterError, "scale must be a positive number"),
        ({"spsn": "no"}, ParameterError, "spsn must be of type bool"),
        (
            {"spsn": False},
            ParameterError,
            "cell-key always draws the same noise for the same participants, so spsn cannot be false",
        ),
        ({"mechanism": "fresh"}, ParameterError, "fresh never draws the same noise for the same participants"),
        (
            {"mechanism": "eps-dp"},
            ParameterError,
            "eps-dp needs the law geometric or laplace, not max-entropy",
        ),
        ({"key_mode": "foo"}, UnknownNameError, "no key_mode 'foo'"),
        ({"parameters": None}, ParameterError, "parameters must be of type dict"),
        ({"programme": 5}, ParameterError, "programme must be of type str"),
        ({"law": None}, UnknownNameError, "no law 'None'"),
        ({"colour": "red"}, UnknownNameError, "no entry of a record 'colour'"),
        ({"perturb_zeros": "yes"}, ParameterError, "perturb_zeros must be of type bool"),
        ({"non_negative": 1}, ParameterError, "non_negative must be of type bool"),
        (
            {"privacy": "much"},
            ParameterError,
            "privacy of a record needs the numbers epsilon and delta, and the text condition",
        ),
        (
            {"privacy": {"epsilon": 1, "delta": 0}},
            ParameterError,
            "privacy of a record needs the numbers epsilon and delta",
        ),
        (
            {"privacy": {"epsilon": "1", "delta": 0, "condition": ""}},
            ParameterError,
            "privacy of a record needs the numbers",
        ),
        (
            {"law": "truncated", "parameters": {"bound": 5}},
            ParameterError,
            "needs `of`: the distribution to truncate, with its",
        ),
        (
            {"law": "truncated", "parameters": {"of": "laplace", "bound": 5}},
            ParameterError,
            "needs `of`: the distribution",
        ),
        (
            {"law": "truncated", "parameters": {"of": {"law": "lapace", "parameters": {}}, "bound": 5}},
            UnknownNameError,
            "no noise distribution to truncate 'lapace'. Did you mean laplace",
        ),
        (
            {"law": "truncated", "parameters": {"of": {"law": "laplace", "parameters": {}}, "bound": 5}},
            ParameterError,
            "needs --scale",
        ),
        (
            {"law": "truncated", "parameters": {"of": {"law": "laplace", "parameters": {"scale": 2}}}},
            ParameterError,
            "bound must be a positive whole number",
        ),
    ],
)
def test_contradictions_are_refused(change: dict[str, object], error: type[Exception], message: str) -> None:
    content = {**json.loads(RECORD.to_json()), **change}
    with pytest.raises(error, match=message):
        record_from_json(json.dumps(content), PATH)


@each(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", "is not a record of schema"), ('{"schema": "discreet/2"}', "is not a record"),
     ('{"schema": "discreet/1", "kind": "record"}', "has no programme")],
)  # fmt: skip
def test_files_that_are_no_records_are_refused(text: str, message: str) -> None:
    with pytest.raises(RecordFileError, match=message):
        record_from_json(text, PATH)


# --- What a release writes down ---


def test_a_solved_ptable_is_solved_again_from_its_settings() -> None:
    mechanism = CellKey(PTable.max_entropy(variance=3, bound=7, threshold=1), secret=SECRET)
    record = Record(programme="x", **mechanism.described())
    assert (record.law, record.ptable_text) == ("max-entropy", None)
    assert record_from_json(record.to_json(), PATH).noise == mechanism.noise


@pytest.mark.parametrize("key_space", [256, 10**8, 2**32])
def test_a_ptable_from_a_file_is_written_out_whole(key_space: int) -> None:
    solved = PTable.max_entropy(variance=2, bound=4)
    given = replace(solved, settings=None, key_space=key_space, repeat=2)
    record = Record(programme="x", **CellKey(given, secret=SECRET).described())
    assert record.law == "p-table"
    assert record.ptable_text
    again = record_from_json(record.to_json(), PATH)
    assert again == record
    assert again.noise == record.noise
    assert (again.noise.key_space, again.noise.repeat, again.noise.settings) == (key_space, 2, None)
    counts, keys = np.arange(200) % 9, np.arange(200, dtype=np.uint32)
    drawn, expected = (table.draw(counts, keys, mode="plain") for table in (again.noise, given))
    np.testing.assert_array_equal(drawn, expected)
    assert again.bound == 4
    assert again.variance == pytest.approx(record.variance)
    assert "p-table" not in json.dumps(again.public())


@each("text", [None, "", "nonsense", "schema = 5"])
def test_a_ptable_that_cannot_be_read_is_refused(text: str | None) -> None:
    content = {**json.loads(RECORD.to_json()), "law": "p-table", "parameters": {}, "ptable_text": text}
    with pytest.raises(PTableFileError, match=r"record\.json"):
        record_from_json(json.dumps(content), PATH)


def test_the_programme_is_the_one_that_was_published() -> None:
    record = Record(programme="eu2021:LU", parameters={"variance": 3, "bound": 7}, definition=DEFINITION)
    assert record_from_json(record.to_json(), PATH).published() == programme_from_json(DEFINITION)
    # A record without a definition means the programme by its name.
    assert RECORD.published() == load_programme("eu2021:LU")
    assert RECORD.published() != record.published()


def test_a_definition_that_is_wrong_is_told_when_it_is_asked_for() -> None:
    record = replace(RECORD, definition={"name": "x"})
    with pytest.raises(ProgrammeError, match="lacks the key"):
        record.published()


def test_where_the_programme_lies_is_not_told() -> None:
    record = replace(RECORD, programme="census/secret project.toml", definition=DEFINITION)
    assert record.public()["programme"] == DEFINITION["name"]
    assert "secret" not in json.dumps(record.public())


def test_a_release_without_noise_says_that_it_is_not_for_publication() -> None:
    record = Record(programme="x", records=3000, missing="drop", **Exact().described())
    assert record_from_json(record.to_json(), PATH) == record
    assert record.public() == {"programme": "x", "method": "none: these are true counts, not for publication"}
    for ask in (lambda: record.noise, lambda: record.variance):
        with pytest.raises(
            ParameterError, match="This release contains true counts without noise, so there is no noise to assess"
        ):
            ask()


@pytest.mark.parametrize(
    "change", [{"law": "none", "parameters": {}}, {"mechanism": "exact"}, {"mechanism": "exact", "law": "geometric"}]
)
def test_no_noise_and_a_mechanism_with_noise_do_not_go_together(change: dict[str, object]) -> None:
    content = {**json.loads(RECORD.to_json()), **change}
    with pytest.raises(ParameterError, match="The law none is valid only for the mechanism exact"):
        record_from_json(json.dumps(content), PATH)


def test_what_was_read_is_the_curators_to_know() -> None:
    record = replace(RECORD, records=602_005, missing="category")
    again = record_from_json(record.to_json(), PATH)
    assert (again.records, again.missing) == (602_005, "category")
    for secret in ("602", "category", "0123", "2021-a"):
        assert secret not in json.dumps(record.public())


# --- Zeros, negative counts, privacy ---


@each(
    ("record", "zeros"),
    [
        (RECORD, False),
        (replace(RECORD, parameters={"variance": 3, "bound": 7, "perturb_zeros": True}), True),
        (Record(programme="x", law="geometric", parameters={"epsilon": 1}), False),
        (Record(programme="x", law="geometric", parameters={"epsilon": 1}, perturb_zeros=True), True),
    ],
)
def test_every_true_count_has_its_law(record: Record, zeros: bool) -> None:
    assert record.zeros_are_noisy is zeros
    assert (record.noise.row(0) is not None) is zeros
    for count in (1, 2, 50):
        law = record.noise.row(count)
        assert law is not None
        assert law == record.noise.rows[min(count, len(record.noise.rows) - 1)]


def test_what_is_cut_at_zero_is_told_to_everybody() -> None:
    cut = replace(RECORD, non_negative=True)
    told = cut.public()
    assert told.pop("negative") == ("Negative values are published as 0, so small counts are too high on average.")
    assert told == RECORD.public()
    assert record_from_json(cut.to_json(), PATH).non_negative is True


def test_a_promise_of_privacy_is_told_with_its_condition_and_nothing_else() -> None:
    promise = {"epsilon": 2.0, "delta": 0.0, "condition": "for one person", "sensitivity": 12, "tables": {"1": 2.0}}
    record = Record(
        programme="x", mechanism="eps-dp", law="geometric", parameters={"epsilon": 0.5}, spsn=False, privacy=promise
    )
    assert record_from_json(record.to_json(), PATH) == record
    assert record.public()["privacy"] == {"epsilon": 2.0, "delta": 0.0, "condition": "for one person"}
    assert "privacy" not in RECORD.public()


def test_a_record_of_before_has_no_noise_on_zeros_and_no_promise() -> None:
    content = json.loads(RECORD.to_json())
    for later in ("perturb_zeros", "non_negative", "privacy"):
        del content[later]
    assert record_from_json(json.dumps(content), PATH) == RECORD
