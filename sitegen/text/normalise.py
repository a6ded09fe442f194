"""The form in which two texts are compared (rule 14)."""

from __future__ import annotations

import unicodedata


def normalise(text: str) -> str:
    """NFC, casefolded, Unicode white space trimmed and collapsed to one blank.

    Not NFKC: ``²`` is not ``2``. Accents, punctuation and zero-width characters stay.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFC", text).casefold()
    # Casefolding can leave letters decomposed that NFC had composed.
    return " ".join(unicodedata.normalize("NFC", folded).split())
