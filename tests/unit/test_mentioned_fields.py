import pytest

from sitegen.analysis.section_flips import mentioned_fields
from sitegen.text.patch import Hunk, PatchLine


def hunk(*lines: str, section: str = "") -> Hunk:
    kinds = {"+": "added", "-": "removed", " ": "context"}
    read = tuple(PatchLine(kind=kinds[line[0]], text=line[1:], old=1, new=1) for line in lines)  # type: ignore[arg-type]
    return Hunk(section=section, old_start=1, old_count=1, new_start=1, new_count=1, lines=read)


@pytest.mark.parametrize(
    ("passage", "attribute", "named"),
    [
        (hunk("+Read `exterior_shade` from the schedule."), "windows[].exterior_shade", True),
        (hunk("+The Exterior Shades are on page 2."), "windows[].exterior_shade", True),
        (hunk("-exteriorShade: none"), "windows[].exterior_shade", True),
        (hunk(" `exterior_shade` is next to it", "+Be careful."), "windows[].exterior_shade", False),
        (hunk("+The area of each window is in ft2."), "windows[].area", True),
        (hunk("+`windows[].area` is in ft2."), "windows[].area", True),
        (hunk("+The area is in ft2."), "windows[].area", False),
        (hunk(" ## Windows", "+The area is in ft2."), "windows[].area", True),
        (hunk("+The area is in ft2.", section="## Windows"), "windows[].area", True),
        (hunk("+The areas of Scandinavia"), "windows[].area", False),
        (hunk("+Prices have no currency."), "price", True),
        (hunk("+Do not despair."), "air", False),
        (hunk("+The window", "+has an area."), "windows[].area", False),
        (hunk("+anything"), "[]", False),
    ],
)
def test_a_passage_names_a_field_by_the_words_of_its_changed_lines(passage: Hunk, attribute: str, named: bool):
    assert mentioned_fields([passage], [attribute], "rules.md") == (((attribute,) if named else ()),)


def test_the_path_of_the_file_can_name_the_step_above_a_field():
    passages = [hunk("+The area is in ft2."), hunk("+Nothing else.")]
    fields = ["walls[].area", "windows[].area"]
    assert mentioned_fields(passages, fields, "prompts/windows-extractor.md") == (("windows[].area",), ())
