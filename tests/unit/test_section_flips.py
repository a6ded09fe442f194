from sitegen.analysis.section_flips import FIELDS, FieldFlips, SectionFlips, section_flips
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
    assert found == (
        SectionFlips(
            path="Rules",
            edits=2,
            elsewhere=1,
            fixed=3,
            broken=2,
            fields=(
                FieldFlips(attribute="date", edits=1, elsewhere=0, fixed=2, broken=1),
                FieldFlips(attribute="unit", edits=1, elsewhere=0, fixed=0, broken=1),
                FieldFlips(attribute="total", edits=1, elsewhere=1, fixed=1, broken=0),
            ),
            more=0,
        ),
        SectionFlips(
            path="Dates",
            edits=1,
            elsewhere=2,
            fixed=2,
            broken=1,
            fields=(FieldFlips(attribute="date", edits=1, elsewhere=0, fixed=2, broken=1),),
            more=0,
        ),
        SectionFlips(
            path="Amounts",
            edits=1,
            elsewhere=2,
            fixed=3,
            broken=0,
            fields=(FieldFlips(attribute="total", edits=1, elsewhere=1, fixed=3, broken=0),),
            more=0,
        ),
    )
    assert left_out == 0


def test_an_edit_without_output_before_and_after_says_nothing():
    assert section_flips([("Rules",), ()], [(sample.EFFECTS[3],), (effect(fixed=(("x", 1),)),)]) == ((), 0)


def test_fields_beyond_the_first_are_counted():
    tally = tuple((f"f{index}", 1) for index in range(FIELDS + 2))
    (section,), _ = section_flips([("Rules",)], [(effect(fixed=tally),)])
    assert (len(section.fields), section.more, section.fixed) == (FIELDS, 2, FIELDS + 2)
