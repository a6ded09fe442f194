"""The files of the site for machines: the data's index and schemas, the summary, the feed, the badges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sitegen.model.site import RawFile
from sitegen.pages.exports import index_file, schema_files
from sitegen.pages.overview import EditEffects
from sitegen.render.badges import badge_files
from sitegen.render.feed import feed_file
from sitegen.render.summary import summary_file
from sitegen.stages.evals import Evals
from sitegen.stages.timeline import Timeline


def machine_files(timeline: Timeline, evals: Evals, latest: Iterable[EditEffects], problems: int) -> Iterator[RawFile]:
    """All that is there once. ``latest``: the newest commits with edits of instructions, newest first."""
    head, site, summaries = timeline.head, timeline.shop.site, evals.summaries
    yield index_file(
        head.sha,
        timeline.project.revision,
        tuple(summary.info.id for summary in summaries),
        tuple(file.path for file in timeline.instructions),
        problems,
    )
    yield from schema_files()
    yield summary_file(site, head, summaries, latest, timeline.config.regressions.mute)
    yield feed_file(site, head, summaries)
    for summary in summaries:
        if not summary.deleted:
            yield from badge_files(summary)
