from msgspec.structs import astuple

from sitegen.analysis.section_flips import FIELDS, section_flips
from sitegen.model.outcomes import Flips, Tally
from sitegen.model.series import Effect
from tests import pages_sample_diffs as sample


def effect(fixed: Tally = (), broken: Tally = ()) -> Effect:
    return sample.judged(sample.EFFECTS[0], flips=Flips(fixed, broken))


def test_sections_stand_beside_the_fields_that_flipped_with_them_and_elsewhere():
    found, left_out = section_flips(
        [("Rules", "Dates"), ("Rules",), ("Amounts",)],
        [
            (effect(fixed=(("date", 2),)), effect(broken=(("date", 1),))),
            (effect(fixed=(("total", 1),), broken=(("unit", 1),)),),
            (effect(fixed=(("total", 3),)),),
        ],
    )
    shown = [(one.name, one.edits, one.elsewhere, one.fixed, one.broken, one.more) for one in found]
    assert shown == [("Rules", 2, 1, 3, 2, 0), ("Dates", 1, 2, 2, 1, 0), ("Amounts", 1, 2, 3, 0, 0)]
    assert [[astuple(field)[:5] for field in one.fields] for one in found] == [
        [("date", 1, 0, 2, 1), ("unit", 1, 0, 0, 1), ("total", 1, 1, 1, 0)],
        [("date", 1, 0, 2, 1)],
        [("total", 1, 1, 3, 0)],
    ]
    assert left_out == 0


def test_an_edit_without_output_before_and_after_says_nothing():
    assert section_flips([("Rules",), ()], [(sample.EFFECTS[3],), (effect(fixed=(("x", 1),)),)]) == ((), 0)


def test_fields_beyond_the_first_are_counted():
    tally = tuple((f"f{index}", 1) for index in range(FIELDS + 2))
    (section,), _ = section_flips([("Rules",)], [(effect(fixed=tally),)])
    assert (len(section.fields), section.more, section.fixed) == (FIELDS, 2, FIELDS + 2)
