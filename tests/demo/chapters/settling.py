"""April: a batch of old runs is brought in, an eval is given up, the rest is polished."""

from __future__ import annotations

from tests.demo.chapters.everyday import LATE
from tests.demo.chapters.growth import RECIPE_FILE
from tests.demo.chapters.steps import read_again, tune
from tests.demo.project import Project
from tests.demo.specs import ROOFS
from tests.demo.topics import BASE


def settling(project: Project) -> None:
    """The last month, up to the head."""
    _bring_roofs(project)

    project.configure("rental-contracts", "thresholds", {"f1": 0.85})
    project.configure("rental-contracts", "settings", {"lists": {"rooms": {"algorithm": "hungarian"}}})
    project.commit("Pair rooms for the best total, and want an F1 of 0.85", 2)

    tune(
        project, "rental/rooms.md", "How to write it", "An area has no unit: 14.5, not 14.5 m².", "Drop units of areas"
    )
    project.learn("rental-contracts", 170, "rooms[].area_m2")
    read_again(project, "rental-contracts")

    project.remove_eval("job-adverts")
    project.files.pop(BASE + "jobs/adverts.md")
    project.sections.pop(BASE + "jobs/adverts.md")
    project.commit("Give up job adverts\n\nNobody needs them read, and one advert proves nothing.")

    project.rule(RECIPE_FILE, "Words to look for", "*Ofen* leads to `oven_celsius`; *Gas 4* is 180.")
    project.commit("Nenne das Wort für den Ofen")
    project.learn("recipe-cards", 200, "oven_celsius", "minutes")
    read_again(project, "recipe-cards")

    project.configure("utility-bills", "thresholds", {"f1": 0.8})
    project.map_rule("utility-bills", "null_values", ["see overleaf"])
    project.commit("Treat a hint to the next page as an empty value on bills", 2)
    for edit in LATE:
        edit.carry_out(project)

    project.rule(".claude/agents/document-reader.md", "Last check", "Hold every value against the page once more.")
    project.learn("freight-papers", 50)
    project.learn("lab-reports", 40)
    project.commit("Let the agent check its answer", 1)
    read_again(project, "freight-papers", "lab-reports")
    project.files["README.md"] += b"\nRun `sitegen build` to see how the readings went.\n"
    project.commit("Say in the README how to see the results")
    tune(
        project,
        "shared/blank-values.md",
        "Words to look for",
        "*Nil* is a value of zero, not a blank.",
        "Tell nil from blank",
    )


def _bring_roofs(project: Project) -> None:
    """An eval that was run elsewhere before: its first five iterations arrive in one commit."""
    project.instruct(BASE + "roof/slopes.md")
    project.add_eval(ROOFS)
    for attributes in (
        ("site",),
        ("slopes[].azimuth", "magnetic_declination"),
        ("slopes[].pitch",),
        ("slopes[].shaded",),
        ("slopes[].area_m2", "slopes[]"),
    ):
        project.run("roof-surveys")
        project.learn("roof-surveys", 130, *attributes)
    project.commit("Bring the roof surveys with their five runs so far", 1)
    rule = "Directions are degrees from true north, clockwise. Add the declination if the arrow shows magnetic north."
    tune(project, "roof/slopes.md", "How to write it", rule, "Define the direction of a slope")
    project.learn("roof-surveys", 210, "slopes[].azimuth", "magnetic_declination")
    read_again(project, "roof-surveys")
