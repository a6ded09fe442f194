import pytest

from sitegen.text.markdown import document
from sitegen.text.sections import TextStats, sections, split_lines, stated_version, text_stats


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("**Version:** v1.2.0", "1.2.0"),
        ("**Version:** 2.6", "2.6"),
        ("version: 1.0.0-rc.1", "1.0.0-rc.1"),
        ("Version 3", "3"),
        ("# Packet reader v2.4.1", "2.4.1"),
        ("## Packet reader (v2.4)", "2.4"),
        ("This version outputs 2 files", None),
        ("The version of 2024", None),
        ("# Plan for v2", None),
        ("", None),
    ],
)
def test_a_version_is_found_where_a_file_states_one(line: str, version: str | None):
    assert stated_version(line) == version


def test_lines_are_what_git_counts_and_words_are_without_marks():
    assert text_stats(b"# Reader\r\n\r\n**Version:** v1.0\r\n- `a.b` isn't *it*\n") == TextStats(4, 6, "1.0")
    assert text_stats(b"") == TextStats(0, 0, None)
    assert text_stats(b"one\x0cline\xe2\x80\xa8only") == TextStats(1, 3, None)


def test_sections_reach_to_the_next_heading():
    text = "intro\n\n# One\n\na b c\n## Two\n```\n# no heading\n```\n\nTitle\n=====\nlast\n"
    found = sections(split_lines(text), document(text).headings)
    assert [(s.heading.level, s.heading.title, s.heading.line, s.last_line, s.lines, s.words) for s in found] == [
        (1, "One", 3, 5, 2, 4),
        (2, "Two", 6, 10, 4, 3),
        (1, "Title", 11, 13, 3, 2),
    ]
