"""The series of one eval, for the terminal: history and scores without any page."""

from __future__ import annotations

from sitegen.analysis.memo import Memo
from sitegen.analysis.series import pack, unpack
from sitegen.errors import ConfigurationError
from sitegen.history.state import Copied
from sitegen.history.timeline import current
from sitegen.model.scorecards import Scorecard
from sitegen.model.series import Point, Series
from sitegen.model.timeline import EvalHistory
from sitegen.project import Options, open_project
from sitegen.scoring.kinds import scorer
from sitegen.stages.eval_task import edits_of_points, keys
from sitegen.stages.scoring import results
from sitegen.stages.timeline import driving_edits, fold
from sitegen.stages.vectors import keep_vectors, known_vectors, vectors_of
from sitegen.stages.workshop import Workshop


def read_series(options: Options, eval_id: str) -> Series:
    """Fold the history and score what the memo does not know.

    The fold is made on a copy, so that what the memo knows of a built site stays true. Raises ConfigurationError if
    there is no such eval.
    """
    project = open_project(options, "")
    with Memo.open(project.cache) as memo, memo.held(), memo.transaction():
        parts = Copied(memo)
        timeline = fold(project, parts)
        evals, _ = current(parts, timeline.config, timeline.manifest)
        history = next((one for one in evals if one.id == eval_id), None)
        if history is None:
            known = ", ".join(one.id for one in evals)
            raise ConfigurationError(f"There is no eval {eval_id!r}.", fix=f"The evals of this project: {known}.")
        cards = _scorecards(timeline.shop, memo, history)
    edits = edits_of_points(history.snapshots, driving_edits(timeline, eval_id))
    points = tuple(map(Point, history.snapshots, cards, edits))
    return Series(timeline.info(history), history, scorer(history.kind).metrics, points)


def _scorecards(shop: Workshop, memo: Memo, history: EvalHistory) -> list[Scorecard]:
    wanted = keys(history)
    known = {key: card for key, body in memo.scorecards(wanted).items() if (card := unpack(body))}
    missing = [index for index, key in enumerate(wanted) if key not in known]
    vectors = vectors_of(history.kind, known_vectors(memo, history.id, history.kind))
    new = results(shop, scorer(history.kind), [history.snapshots[index] for index in missing], vectors)
    for index, result in zip(missing, new, strict=True):
        known[wanted[index]] = result.scorecard
        memo.keep_scorecards([(wanted[index], pack(result.scorecard))])
    if vectors:
        keep_vectors(memo, history.id, vectors.new)
    return [known[key] for key in wanted]
