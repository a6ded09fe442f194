"""No byte of a built site holds a value of a hidden field, whatever the value, the file around it and the kind."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.gitrepo import GitRepo
from tests.sites import build_site, content

SECRET = "Quillfeather"
"""Part of every hidden text; it stands in no other one."""
GLOBS = '["number", "flag", "day", "text", "list", "inner.*", "items[*].name"]'
TYPES = """
fields:
  number: {type: numeric}
  flag: {type: boolean}
  day: {type: date}
  text: {type: string}
lists:
  items: {match_fields: [name]}
documents: {path: documents, key: id}
"""

secrets = st.sampled_from(
    [
        *(SECRET, f"1{SECRET}", f"123-45 {SECRET}", f"{SECRET}\ud800", f"{SECRET}\u0000<b>'\"", f"2026-01-02 {SECRET}"),
        *([SECRET], [[SECRET]], [[{"a": SECRET}]], [SECRET, 1, None], [{"name": SECRET}]),
        *({"a": SECRET}, {"a": {"b": [SECRET]}}),
    ]
)
plain: st.SearchStrategy[Any] = st.sampled_from([None, 1, True, "", "plain", [], {}])
either = st.one_of(secrets, plain)
items = st.one_of(
    st.lists(st.one_of(st.fixed_dictionaries({"name": either, "size": plain}), secrets), max_size=3), secrets
)
documents = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("number", "flag", "day", "text", "list"), either),
        "inner": st.one_of(st.fixed_dictionaries({"first": either, "second": either}), plain),
        "open": plain,
    },
)
EXTRA = {"number": f"extra {SECRET}"}


@st.composite
def sides(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The documents of one side; a list item is hidden below its name alone, so that it has nothing else to hide."""
    found = [{"id": f"d{number}", **draw(documents)} for number in range(draw(st.integers(0, 3)))]
    for each in found:
        if draw(st.booleans()):
            each["items"] = draw(st.lists(st.fixed_dictionaries({"name": either, "size": plain}), max_size=3))
    return found


def broken(text: str, how: str) -> str:
    """The same file, malformed: cut off, with a key twice, with what is no JSON."""
    twice = text.replace("{", '{"number": "' + SECRET + '", "number": "' + SECRET + '", ', 1)
    return {"whole": text, "cut": text[: len(text) // 2], "twice": twice, "not JSON": text + SECRET}[how]


hows = st.sampled_from(["whole", "whole", "cut", "twice", "not JSON"])


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(sides(), sides(), sides(), hows, hows, st.booleans())
def test_no_hidden_value_is_in_any_byte_of_a_site(truth, first, second, of_truth, of_output, others):
    with tempfile.TemporaryDirectory() as folder:
        repo = GitRepo(Path(folder) / "project")
        repo.commit(
            {
                "CLAUDE.md": "# Rules\n",
                "sitegen.toml": f"redact = {GLOBS}\nbase_url = 'https://example.org/site'\n",
                "evals/a/field_mapping.yaml": TYPES,
                "evals/a/ground_truth.json": broken(json.dumps({"documents": truth}), of_truth),
                "evals/a/extracted.json": json.dumps({"documents": first}),
                **(OTHERS if others else {}),
            }
        )
        repo.commit(
            {"CLAUDE.md": "# More\n", "evals/a/extracted.json": broken(json.dumps({"documents": second}), of_output)}
        )
        repo.check_in({"evals/a/extracted.json": json.dumps({"documents": [*second, {"id": "d0", **EXTRA}]})})
        out = Path(folder) / "out"
        build_site(repo.path, out, jobs=1)
        assert [name for name, text in content(out).items() if SECRET.encode() in text] == []


OTHERS = {
    "evals/manifest.yaml": """
evals: {a: {}, r: {redact: ["*"]}, h: {redact: [terms]}, j: {kind: judged, redact: ["*"]}}
""",
    "evals/r/test_cases.json": json.dumps([{"id": "one", "input": SECRET, "expected": SECRET, SECRET: 1}]),
    "evals/r/responses.json": json.dumps(
        [
            {"case_id": "one", "output": SECRET, "quality": SECRET},
            {"case_id": "one", "error": SECRET, "embedding": SECRET},
        ]
    ),
    "evals/h/gold-standard.json": json.dumps(
        {"chunks": [{"paragraphs": [{"id": "p-1", "text": SECRET, "highlights": {"terms": [SECRET, [SECRET]]}}]}]}
    ),
    "evals/h/raw-llm-run.json": json.dumps(
        {"chunks": [{"paragraphs": [{"id": "p-1", "highlights": {"terms": SECRET}}]}]}
    ),
    "evals/j/results.jsonl": json.dumps(
        {
            "id": "one",
            "score": SECRET,
            "error": SECRET,
            "reasoning": SECRET,
            "misses": [SECRET],
            "details": {"x": SECRET},
        }
    )
    + f"\n{SECRET}\n",
}
