"""What looks like a secret, service by service: the rows of ``secret_forms.md``, put together here."""

import random
import re
import string
from html import escape
from pathlib import Path

import pytest

from sitegen.text.secrets import Detector
from tests.scoring.test_tables import tables

ALPHABETS = {
    "word": string.ascii_letters + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "CAP": string.ascii_uppercase + "234567",
    "hex": "0123456789abcdef",
    "num": string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "base": string.ascii_letters + string.digits + "+/",
}
FOUND, MISSED = tables((Path(__file__).parent / "secret_forms.md").read_text("utf-8"))


PIECE = re.compile(r"\{(?:(word|low|CAP|hex|num|url|base) (\d+)|(uuid|space|newline))\}| ")


def put_together(pieces: str, seed: int = 0) -> str:
    """The text of a row; another one for each ``seed``."""
    dice = random.Random(f"{pieces} {seed}")

    def drawn(alphabet: str, size: int) -> str:
        # No hyphen at an end: a token in prose may well have one, but then nobody could say where it ends.
        text = "".join(dice.choice(ALPHABETS[alphabet]) for _ in range(size))
        return text if text[0].isalnum() and text[-1].isalnum() else drawn(alphabet, size)

    def piece(match: re.Match[str]) -> str:
        if match[1]:
            return drawn(match[1], int(match[2]))
        if match[3] == "uuid":
            return "-".join(drawn("hex", length) for length in (8, 4, 4, 4, 12))
        return {"space": " ", "newline": "\n"}.get(match[3] or "", "")

    return PIECE.sub(piece, pieces)


@pytest.mark.parametrize("row", FOUND, ids=lambda row: row["service"])
def test_a_token_is_found_in_prose_on_a_page_and_in_a_quoted_value(row):
    detector = Detector()
    for seed in range(5):
        text = put_together(row["pieces"], seed)
        page = f"<p>\n<td><code>{escape(text[:9])}<b>{escape(text[9:])}</b></code></td></p>"
        expected = {row["rule"]}
        assert {rule for _, rule in detector.search(text, markup=False)} == expected
        assert {rule for _, rule in detector.search(f"It is {text} and so on.", markup=False)} == expected
        assert {rule for _, rule in detector.search(page, markup=True)} == expected


@pytest.mark.parametrize("row", MISSED, ids=lambda row: row["what"])
def test_what_only_resembles_a_token_is_not_found(row):
    for seed in range(20):
        text = put_together(row["pieces"], seed)
        assert (Detector().search(text, markup=False), Detector().search(escape(text), markup=True)) == ((), ())


def test_at_least_a_hundred_kinds_are_told_apart():
    assert len({row["service"] for row in FOUND}) == len(FOUND) >= 100


def row_of(service: str) -> str:
    return put_together(next(row["pieces"] for row in FOUND if row["service"] == service))


@pytest.mark.parametrize("service", ["GitHub, classic", "RSA key", "PostgreSQL", "Cohere"])
def test_an_allowed_text_is_the_whole_of_a_secret_never_a_part(service):
    text = row_of(service)
    (found,) = Detector().search(text, markup=False)
    whole = text.removeprefix("CO_API_KEY: ").removesuffix(":5432/main")
    assert Detector([whole]).search(text, markup=False) == ()
    assert Detector([whole[:-3]]).search(text, markup=False) == (found,)
    assert Detector([whole[3:]]).search(text, markup=False) == (found,)
    assert Detector([f"see {whole}"]).search(text, markup=False) == (found,)


def test_one_private_key_that_is_allowed_lets_no_other_one_pass():
    ours, others = (
        put_together(next(r["pieces"] for r in FOUND if r["service"] == "RSA key"), seed) for seed in (1, 2)
    )
    allowing = Detector([ours, "-----BEGIN RSA PRIVATE KEY-----"])
    assert allowing.search(ours.replace("\n", "\\n"), markup=False) == ()
    assert allowing.search(f"{ours}\n{others}", markup=False) == ((5, "Private Key"),)


def test_a_secret_in_a_tag_is_found_at_its_line_and_lines_of_tags_are_counted():
    token = row_of("GitHub, classic")
    page = f'<p\nclass="a">one</p>\n<a href="https://example.org/?{token}">x</a>\n{token}'
    assert Detector().search(page, markup=True) == ((3, "GitHub Token"), (4, "GitHub Token"))


def test_cells_of_a_table_are_not_one_word():
    name, value = "COHERE_API_KEY", row_of("Cohere").removeprefix("CO_API_KEY: ")
    page = f"<tr><th>{name}</th><td>{value}</td></tr>"
    assert Detector().search(page, markup=True) == ((1, "Value of a Key or Token"),)
