"""Entries of the manifest that share a folder: each has every file of it."""

from sitegen.config.models import EvalConfig, Manifest, SiteConfig
from sitegen.history.layout import Layout, PathRole


def of(text: str) -> Layout:
    """The layout of entries written as ``id folder alias``."""
    written = (entry.split() for entry in text.split(","))
    entries = tuple(
        EvalConfig(id=one[0], dir=None if one[1] == "-" else one[1], aliases=tuple(one[2:])) for one in written
    )
    return Layout(SiteConfig(), Manifest(evals=entries))


def owners(layout: Layout, folder: str) -> list[str]:
    places = layout.places(f"{folder}/ground_truth.csv")
    assert all(place == PathRole(place.eval_id, folder, "ground_truth") for place in places)
    return [place.eval_id for place in places]


def test_a_folder_belongs_to_every_entry_that_states_it_and_to_the_entry_of_its_name():
    layout = of("m x/y,k x/y,n evals/o,o -")
    assert owners(layout, "x/y") == ["k", "m"]
    assert owners(layout, "evals/o") == ["n", "o"]
    assert owners(of("n evals/o"), "evals/o") == ["n"]


def test_an_alias_is_shared_only_by_entries_that_share_their_folder():
    assert owners(of("m x/y old,k x/y old,n x/y"), "evals/old") == ["k", "m"]
    assert owners(of("m x/y old,k z old"), "evals/old") == ["m"]
