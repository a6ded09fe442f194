from hypothesis import given
from hypothesis import strategies as st

from sitegen.history.patches import plain_patch
from sitegen.text.patch import Patch, read_patch

lines = st.lists(st.sampled_from(["", " ", "a", "b", "+c", "-d", "--- a", "@@ -1 +1 @@", "\\ No"]), max_size=30)
texts = st.builds(lambda of, end: "\n".join(of) + end, lines, st.sampled_from(["", "\n"]))


def patched(old: list[str], patch: Patch) -> list[str]:
    """Return the lines of a file after a patch."""
    rest, new = iter(enumerate(old, start=1)), []
    for hunk in patch.hunks:
        for line in hunk.lines:
            if line.old is not None:
                skipped = next(rest)
                while skipped[0] < line.old:
                    new.append(skipped[1])
                    skipped = next(rest)
                assert skipped == (line.old, line.text)
            if line.new is not None:
                while len(new) + 1 < line.new:
                    new.append(next(rest)[1])
                new.append(line.text)
    return [*new, *(text for _, text in rest)]


@given(texts, texts)
def test_the_lines_of_a_patch_turn_the_old_text_into_the_new_one(old: str, new: str):
    patch = read_patch(plain_patch(old.encode(), new.encode()))
    assert not patch.unread
    assert patched(split(old), patch) == split(new)


def split(text: str) -> list[str]:
    """Split a text as git does."""
    return text.removesuffix("\n").split("\n") if text else []
