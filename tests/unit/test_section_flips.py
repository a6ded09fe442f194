from sitegen.analysis.section_flips import FIELDS, FieldFlips, SectionFlips, section_flips
from sitegen.model.cells import Flips, Tally
from sitegen.model.series import Effect


def effect(fixed: Tally = (), broken: Tally = ()) -> Effect:
    return Effect("a", "A", None, None, flips=Flips(fixed, broken))


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
            "Rules",
            2,
            1,
            3,
            2,
            (FieldFlips("date", 1, 0, 2, 1), FieldFlips("unit", 1, 0, 0, 1), FieldFlips("total", 1, 1, 1, 0)),
            0,
        ),
        SectionFlips("Amounts", 1, 2, 3, 0, (FieldFlips("total", 1, 1, 3, 0),), 0),
        SectionFlips("Dates", 1, 2, 2, 1, (FieldFlips("date", 1, 0, 2, 1),), 0),
    )
    assert left_out == 0


def test_an_edit_without_output_before_and_after_says_nothing():
    silent = Effect("a", "A", None, None)
    assert section_flips([("Rules",), ()], [(silent,), (effect(fixed=(("x", 1),)),)]) == ((), 0)


def test_fields_beyond_the_first_are_counted():
    tally = tuple((f"f{index}", 1) for index in range(FIELDS + 2))
    (section,), _ = section_flips([("Rules",)], [(effect(fixed=tally),)])
    assert (len(section.fields), section.more, section.fixed) == (FIELDS, 2, FIELDS + 2)
