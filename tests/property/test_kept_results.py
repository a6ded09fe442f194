"""A result that the memo keeps comes back as it was, whatever values it holds."""

import random
import sqlite3
import zlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sitegen.engine.cached_kinds import RESULT_BYTES, encoded_result, result_decoder
from sitegen.model.answers import AnsweredCase, CaseAnswer, JudgeWords, Turn
from sitegen.model.metrics import Counts
from sitegen.model.outcomes import REDACTED, Judgement, Unusable, Value
from sitegen.model.scorecards import (
    AlignmentPanel,
    AlignmentRow,
    Kappa,
    NotePanel,
    Panel,
    Result,
    Scorecard,
    TablePanel,
)
from sitegen.model.usage import Usage

CARD = Scorecard(status="scored", counts=Counts(), metrics=(), documents=(), fields=())
PANELS: tuple[Panel, ...] = (
    TablePanel(title="t", note="n", columns=(("x", "number"),), rows=(("1",),)),
    AlignmentPanel(
        document="d",
        path="items",
        algorithm="greedy",
        threshold=0.5,
        rows=(AlignmentRow(expected=0, similarity=0.25, paired_by="key", label="a"),),
    ),
    NotePanel(text="w"),
)
FRACTIONS = st.decimals(allow_nan=False, allow_infinity=False).filter(lambda number: "." in str(number))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    FRACTIONS,
    st.text(),
    st.just(REDACTED),
    st.builds(Unusable, literal=st.text(), reason=st.text()),
)
KEYS = st.one_of(st.just(""), st.text(max_size=2))
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner), st.dictionaries(KEYS, inner)), max_leaves=6)


ANSWER = CaseAnswer(
    document="c",
    variant="v",
    model="m",
    output="o",
    error="",
    passed=0.5,
    score=None,
    judges=(JudgeWords(name="j", score=1.0, reasons="so", details="{}"),),
    usage=Usage(tokens_in=1, latency=0.5),
    transcript=(Turn("result", "search", "404", failed=True),),
)


def result(expected: Value, actual: Value) -> Result:
    return Result(
        scorecard=CARD,
        judgements=tuple(
            Judgement(
                document="d",
                path=f"items[{number}].a",
                attribute="items[].a",
                outcome="wrong_value",
                expected=expected,
                actual=actual,
                named_path=f"items[{number}].a",
            )
            for number in range(2)
        ),
        panels=PANELS,
        data=actual,
        agreement=Kappa(value=1.0, low=0.5, high=1.0, agreed=2, judged=3),
        cases=(AnsweredCase(id="c", asked={"Input": "i"}, expected="e", answers=(ANSWER,)),),
    )


@given(VALUES, VALUES)
def test_a_result_comes_back_with_every_value_of_the_same_type(expected, actual):
    before = result(expected, actual)
    content = encoded_result(before)
    if content is None:
        assert "\\ud" in ascii((expected, actual)), "only a lone surrogate cannot be kept"
        return
    after = result_decoder()(content, CARD)
    assert (after, repr(after)) == (before, repr(before))


def test_neighbours_share_equal_judgements_but_no_value_of_another_type():
    decoded = result_decoder()
    values: list[Value] = [1, 1, True, Decimal("1.0"), "1"]
    results = [decoded(encoded_result(result("x", value)) or b"", CARD) for value in values]
    assert results[0].judgements[0] is results[1].judgements[0]
    assert [repr(each.judgements[0].actual) for each in results] == ["1", "1", "True", "Decimal('1.0')", "'1'"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        zlib.compress(b""),
        zlib.compress(b"{}"),
        zlib.compress(b"[1]\n"),
        (encoded_result(result(1, 2)) or b"")[:-9],
    ],
)
def test_what_is_no_kept_result_is_damage_of_the_memo(content):
    with pytest.raises(sqlite3.DatabaseError):
        result_decoder()(content, CARD)


def test_a_result_that_is_too_large_is_not_kept():
    large = result(1, random.Random(1).randbytes(RESULT_BYTES).hex())
    assert encoded_result(large) is None
    assert encoded_result(replace(large, judgements=())) is None
