"""May: a handbook is marked, a help desk answers, letters are judged: an eval of each other kind."""

from __future__ import annotations

from typing import Final

from tests.demo import others
from tests.demo.project import Project

HANDBOOK: Final = "handbook-terms"
DESK: Final = "help-desk"
LETTERS: Final = "letters"

MARKING: Final = """# Marking the handbook

- Mark every term that a newcomer has to learn, letter by letter as it stands.
- Mark the sentence that says what a term means.
"""
SHORT: Final = """# Help desk, short

- Answer in a few words.
- Prices have two decimals and the currency.
"""
POLITE: Final = """# Help desk, polite

- Begin with *Gladly:* and answer in a few words.
- Prices have two decimals and the currency.
"""
READING: Final = """# Reading letters

- Write who sent the letter, its date, its subject, the amount and the deadline.
"""


def other_kinds(project: Project) -> None:
    """Three small evals, one after another."""
    _handbook(project)
    _desk(project)
    _letters(project)


def _handbook(project: Project) -> None:
    prompt, home = "prompts/handbook/marking.md", f"evals/{HANDBOOK}/"
    gold, log = home + "gold-standard.json", home + "logs/processing-log.ndjson"
    project.write(prompt, MARKING)
    project.files[gold] = others.gold(others.HANDBOOK[:3])
    project.add_other(HANDBOOK, "highlights", "Handbook terms", "What newcomers should notice", "prompts/handbook/**")
    project.commit("Annotate three paragraphs of the handbook", 2)
    project.files[log] = others.log(1, 520, 250)
    project.commit("Mark the handbook for the first time", 3)

    project.write(prompt, MARKING + "- A word that everybody knows is no term: leave *clay* and *plate* alone.\n")
    project.commit("Leave words alone that everybody knows")
    project.files[log] += others.log(2, 480, 820)
    project.commit("Mark the handbook", 3)

    project.files[gold] = others.gold(others.HANDBOOK)
    project.commit("Annotate the rest of the handbook", 2)
    project.write(
        prompt, project.text(prompt) + "- Read a paragraph again before the next: most have two terms or three.\n"
    )
    project.commit("Ask for a second look at each paragraph", 1)
    project.files[log] += others.log(3, 840, 700)
    project.commit("Mark the handbook", 3)


def _desk(project: Project) -> None:
    home = f"evals/{DESK}/"
    project.write("prompts/help-desk/short.md", SHORT)
    project.write("prompts/help-desk/polite.md", POLITE)
    project.files[home + "test_cases.json"] = others.test_cases()
    project.add_other(DESK, "responses", "Help desk", "Two prompts that answer visitors", "prompts/help-desk/**")
    project.commit("Add eight questions to the help desk, and two prompts", 1)
    _answer(project, 520, 600, "Gladly: ")

    project.write(
        "prompts/help-desk/short.md", SHORT + "- If the question can be answered by *yes* or *no*, say no more.\n"
    )
    project.commit("Answer by yes or no where that is enough")
    _answer(project, 780, 600, "Gladly: ")

    project.write("prompts/help-desk/polite.md", POLITE.replace("Begin with *Gladly:* and answer", "Answer"))
    project.commit("Drop the greeting, which the page has already", 1)
    _answer(project, 780, 660, "")


def _answer(project: Project, short: int, polite: int, greeting: str) -> None:
    home = f"evals/{DESK}/"
    project.files[home + "responses-short.jsonl"] = others.responses("short", short)
    project.files[home + "responses-polite.jsonl"] = others.responses("polite", polite, greeting)
    project.commit("Answer the help desk's questions", 3)


def _letters(project: Project) -> None:
    prompt, home = "prompts/letters.md", f"evals/{LETTERS}/results/"
    skills = {"sender": 800, "date": 420, "subject": 700, "amount": 500, "deadline": 200}
    project.write(prompt, READING)
    project.add_other(LETTERS, "judged", "Letters", "Four letters, read and judged elsewhere", prompt)
    project.files[home + "iteration-001/results.jsonl"] = others.judged(skills)
    project.commit("Bring letters with what a judge said of them", 1)

    project.write(
        prompt, READING + "- A deadline may be hidden in the text: *within two weeks* counts from the date.\n"
    )
    project.commit("Say where deadlines hide")
    skills |= {"deadline": 850, "date": 720}
    project.files[home + "iteration-002/results.jsonl"] = others.judged(skills)
    project.commit("Judge the letters again", 3)

    project.write(prompt, project.text(prompt) + "- An amount is a number without a currency.\n")
    project.commit("Ask for bare amounts")
    skills |= {"amount": 820, "sender": 620}
    project.files[home + "iteration-003/results.jsonl"] = others.judged(skills)
    project.commit("Judge the letters again", 3)
