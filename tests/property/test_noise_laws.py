"""What holds of every interval and every verdict, and how often they are right."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from sitegen.analysis.noise.samples import interval_of
from sitegen.model.changes import ChangeVerdict
from sitegen.model.metrics import Counts
from sitegen.model.scorecards import Scorecard
from sitegen.stats.intervals import wilson
from tests import calibration
from tests import pages_sample as sample
from tests.calibration import states

COUNTS = st.builds(
    lambda tp, wrong, omitted, made_up: Counts(
        tp=tp, fp=wrong + made_up, fn=wrong + omitted, omission=omitted, hallucination=made_up, wrong_value=wrong
    ),
    *[st.integers(0, 30)] * 4,
)
DOCUMENTS = st.lists(COUNTS, min_size=2, max_size=12)
CELLS = st.integers(1, 6).flatmap(
    lambda fields: st.lists(
        st.tuples(*[st.lists(st.booleans(), min_size=fields, max_size=fields)] * 2), min_size=1, max_size=8
    )
)
Cells = list[list[bool]]


def card(documents: list[Counts]) -> Scorecard:
    return sample.card({f"d{index}": counts for index, counts in enumerate(documents)})


def verdict(before: Cells, after: Cells) -> ChangeVerdict:
    return calibration.verdict(states(before), states(after))


@given(DOCUMENTS)
def test_the_interval_of_two_documents_or_more_holds_the_headline_and_stays_within_0_and_1(documents):
    some = card(documents)
    found, headline = interval_of(some), some.metrics[0].value
    counting = sum(bool(counts.tp + counts.fp + counts.fn) for counts in documents)
    assert (found is None) == (counting < 2)
    if found is not None and headline is not None:
        assert 0 <= found.low <= headline <= found.high <= 1
        assert found.low < found.high
        assert (found.unit, found.n) == ("documents", counting)


@given(DOCUMENTS, st.integers(2, 5))
def test_more_documents_of_the_same_kind_narrow_the_interval(documents, times):
    few, many = interval_of(card(documents)), interval_of(card(documents * times))
    if few is not None and many is not None:
        assert many.high - many.low < few.high - few.low


@given(st.integers(0, 200), st.integers(1, 200), st.integers(1, 50))
def test_wilson_of_the_wrong_ones_mirrors_that_of_the_right_ones(right, trials, times):
    share = min(right, trials) / trials
    low, high = wilson(share, trials)
    mirrored = wilson(1 - share, trials)
    assert abs(low - (1 - mirrored[1])) < 1e-12
    assert abs(high - (1 - mirrored[0])) < 1e-12
    wider = wilson(share, trials * times)
    assert wider[1] - wider[0] <= high - low + 1e-12


@given(CELLS)
def test_the_other_way_round_better_is_worse_and_all_numbers_turn_over(cells):
    before, after = [first for first, _ in cells], [last for _, last in cells]
    there, back = verdict(before, after), verdict(after, before)
    turned = {"better": "worse", "worse": "better", "likely better": "likely worse", "likely worse": "likely better"}
    if not there.lost_fields and not back.lost_fields:
        assert back.decision == turned.get(there.decision, there.decision)
    assert (back.fixed, back.broken, back.p_value) == (there.broken, there.fixed, there.p_value)
    assert there.change is not None
    assert back.change is not None
    assert abs(there.change + back.change) < 1e-12
    if there.interval is not None and back.interval is not None:
        assert abs(there.interval.low + back.interval.high) < 1e-12
        assert -1 <= there.interval.low <= there.change <= there.interval.high <= 1


@given(CELLS)
def test_better_and_worse_are_said_only_of_what_is_beyond_chance_or_of_lost_fields(cells):
    found = verdict([first for first, _ in cells], [last for _, last in cells])
    assert found.p_value is not None
    if found.decision in ("better", "worse") and not found.lost_fields:
        assert found.change is not None
        assert (found.change > 0) == (found.fixed > found.broken) == (found.decision == "better")
        assert found.p_value < 0.05
    if found.decision == "cannot tell":
        assert found.p_value >= 0.2 or found.why == "documents flip as a whole"
    assert (found.decision == "same") == (not found.fixed and not found.broken)


def drawn(random: Random, documents: int, fields: int) -> tuple[list[float], Cells]:
    """Documents of different difficulty, right in 4 of 5 fields on the whole."""
    chances = [random.betavariate(8, 2) for _ in range(documents)]
    return chances, [[random.random() < chance for _ in range(fields)] for chance in chances]


def test_95_of_100_intervals_hold_the_true_value():
    random = Random(20)
    held = 0
    for _ in range(400):
        interval = interval_of(calibration.card(states(drawn(random, 12, 15)[1])))
        assert interval is not None
        held += interval.low <= 0.8 <= interval.high
    assert 0.94 <= held / 400 <= 0.98


def test_noise_alone_is_called_better_or_worse_no_more_than_5_times_in_100():
    random = Random(21)
    for documents, fields in ((1, 120), (4, 30), (10, 20)):
        wrong = 0
        for _ in range(400):
            chances, before = drawn(random, documents, fields)
            after = [
                [right if random.random() < 0.7 else random.random() < chance for right in document]
                for chance, document in zip(chances, before, strict=True)
            ]
            wrong += verdict(before, after).decision in ("better", "worse")
        assert wrong / 400 <= 0.05


def test_a_change_as_large_as_the_least_detectable_one_is_found_8_times_in_10():
    random = Random(22)
    found = []
    for _ in range(400):
        before = drawn(random, 12, 20)[1]
        after = [[random.random() < (0.9625 if right else 0.5) for right in document] for document in before]
        found.append(verdict(before, after))
    change = sum(each.change or 0 for each in found) / 400
    least = sum(each.detectable or 0 for each in found) / 400
    assert abs(change - least) < 0.01
    assert 0.75 <= sum(each.decision == "better" for each in found) / 400 <= 0.85
