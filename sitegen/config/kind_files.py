"""The conventional file names of each kind of evals, by which its files are found without a manifest."""

from __future__ import annotations

from typing import Final, TypeAlias

from sitegen.model.frozen import Frozen
from sitegen.model.metrics import traits_of

Kind: TypeAlias = str
"""The name of a kind of ``KIND_FILES``."""


class KindFiles(Frozen):
    """The conventional file names of a kind. The first existing file of each list counts."""

    kind: Kind
    ground_truths: tuple[str, ...]
    """Names in the eval's folder; empty for a kind whose outputs need no ground truth."""
    outputs: tuple[str, ...]
    """Names in the folder of an iteration, or of an overwritten output in the eval's folder or in ``results/``."""
    elsewhere: tuple[str, ...] = ()
    """Further places of an overwritten output, relative to the eval's folder."""
    at_root: tuple[str, ...] = ()
    """Places of the output, relative to the repository, for an eval that lies directly in the folder of evals."""
    variants: str = ""
    """Regular expression for the names of outputs of several variants, which are scored together."""

    @property
    def overwritten(self) -> tuple[str, ...]:
        """Places of an output that is overwritten from commit to commit, relative to the eval's folder."""
        return (*self.elsewhere, *self.outputs, *(f"results/{name}" for name in self.outputs))


KIND_FILES: Final = (
    KindFiles(
        kind="fields",
        ground_truths=(
            "ground_truth.csv",
            "ground_truth.json",
            "ground_truth.jsonl",
            "ground_truth.yaml",
            "ground_truth.yml",
        ),
        outputs=("extracted.json", "extracted.jsonl", "extracted.yaml", "extracted.yml"),
    ),
    KindFiles(
        kind="highlights",
        ground_truths=("gold-standard.json", "expected-highlights.json"),
        outputs=("processing-log.ndjson", "raw-llm-run.json"),
        elsewhere=("logs/processing-log.ndjson",),
        at_root=("logs/processing-log.ndjson",),
    ),
    KindFiles(
        kind="responses",
        ground_truths=("test_cases.json",),
        outputs=("responses.json", "responses.jsonl"),
        variants=r"responses-[^/]+\.jsonl?",
    ),
    KindFiles(kind="judged", ground_truths=(), outputs=("results.jsonl",)),
    KindFiles(
        kind="recorded",
        ground_truths=(),
        outputs=("metrics.json", "metrics.yaml", "metrics.yml", "summary.json", "scores.json"),
    ),
)
"""All kinds. An eval without a stated kind has the first kind whose ground truth exists."""


SCORED_FILES: Final = tuple(files for files in KIND_FILES if not traits_of(files.kind).is_recorded)
"""The kinds whose files can be recognised by name in any folder; a ``metrics.json`` may be anything."""


GROUND_TRUTHS: Final = tuple(name for files in KIND_FILES for name in files.ground_truths)
"""The conventional names of the ground truths of all kinds."""


def files_of(kind: Kind) -> KindFiles:
    """The conventional files of a kind."""
    return next(files for files in KIND_FILES if files.kind == kind)
