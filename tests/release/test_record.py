"""Records: JSON there and back, what is public, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.errors import InfeasibleError, ParameterError, RecordFileError, UnknownNameError
from discreet.release.record import Record, record_from_json

PATH = Path("record.json")
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
    assert RECORD.ptable().settings is not None
    geometric = Record(programme="x", law="geometric", parameters={"epsilon": 0.5})
    assert geometric.variance == pytest.approx(geometric.noise().variance)
    assert geometric.noise().bound == float("inf")


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


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"law": "laplac"}, UnknownNameError, "no law 'laplac'. Did you mean laplace"),
        ({"mechanism": "cellkey"}, UnknownNameError, "Did you mean cell-key"),
        ({"parameters": {"variance": 2, "bound": 5, "threshold": 2}}, InfeasibleError, "row 1"),
        ({"law": "geometric", "parameters": {}}, ParameterError, "needs epsilon. Give --epsilon: ε, privacy budget"),
        ({"law": "geometric", "parameters": {"eps": 1}}, UnknownNameError, "parameter of the law geometric 'eps'"),
        ({"law": "laplace", "parameters": {"scale": -1}}, ParameterError, "scale must be a positive number"),
        ({"spsn": "no"}, ParameterError, "spsn must be of type bool"),
        ({"spsn": False}, ParameterError, "cell-key gives the same participants the same noise; spsn cannot be false"),
        ({"mechanism": "fresh"}, ParameterError, "fresh does not give the same participants the same noise"),
        (
            {"mechanism": "eps-dp"},
            ParameterError,
            "eps-dp needs an unbounded law .geometric, laplace., not max-entropy",
        ),
        ({"key_mode": "foo"}, UnknownNameError, "no key_mode 'foo'"),
        ({"parameters": None}, ParameterError, "parameters must be of type dict"),
        ({"programme": 5}, ParameterError, "programme must be of type str"),
        ({"law": None}, UnknownNameError, "no law 'None'"),
        ({"colour": "red"}, UnknownNameError, "no entry of a record 'colour'"),
    ],
)
def test_contradictions_are_refused(change: dict[str, object], error: type[Exception], message: str) -> None:
    content = {**json.loads(RECORD.to_json()), **change}
    with pytest.raises(error, match=message):
        record_from_json(json.dumps(content), PATH)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", "is not a record of schema"), ('{"schema": "discreet/2"}', "is not a record"),
     ('{"schema": "discreet/1", "kind": "record"}', "has no programme")],
)  # fmt: skip
def test_files_that_are_no_records_are_refused(text: str, message: str) -> None:
    with pytest.raises(RecordFileError, match=message):
        record_from_json(text, PATH)
