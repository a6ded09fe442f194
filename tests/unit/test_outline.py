import pytest

from sitegen.text.patch import touched_sections
from sitegen.text.sections import Outline, outline
from tests.pages_sample_diffs import patch_of

TEXT = b"""before

# Reader
## Rules ##
### Walls
```md
# not a heading
~~~
```
  ## Fields
# Next
#no heading
#
"""


def test_headings_are_found_with_those_above_them():
    assert outline(TEXT) == Outline(
        (3, 4, 5, 10, 11, 13),
        ("Reader", "Reader › Rules", "Reader › Rules › Walls", "Reader › Fields", "Next", "(untitled)"),
    )


@pytest.mark.parametrize(
    ("number", "path"), [(1, ""), (3, "Reader"), (9, "Reader › Rules › Walls"), (99, "(untitled)")]
)
def test_a_line_belongs_to_the_heading_above_it(number: int, path: str):
    assert outline(TEXT).at(number) == path


def test_line_ends_and_long_titles_do_not_matter():
    assert outline(b"# One\r\n\r\n## Two\r\n") == Outline((1, 3), ("One", "One › Two"))
    assert len(outline(b"# " + b"long " * 900).paths[0]) < 100
    assert outline(b"") == Outline((), ())


def test_blank_lines_and_the_stated_version_touch_nothing():
    old, new = "# A\n\nVersion: 1.0\n## B\nx\n", "# A\n\nVersion: 1.1\n\n## B\nx\n"
    assert touched_sections(patch_of(old, new).hunks, outline(old.encode()), outline(new.encode())) == ()
