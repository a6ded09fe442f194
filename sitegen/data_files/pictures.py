"""Recognises pictures by their first bytes, and reads their size. SVG and other formats with code are excluded."""

from __future__ import annotations

from typing import Final

from sitegen.model.named_tuple import NamedTuple

_LARGEST_SIDE: Final = 20_000
"""Longest side of a picture that a page shows, in pixels."""

_NOT_SIZES: Final = (0xC4, 0xC8, 0xCC)
"""Markers of JPEG between C0 and CF that do not begin a frame."""


class RasterPicture(NamedTuple):
    """The kind and the size of a picture."""

    ending: str
    """``png``, ``jpg``, ``gif`` or ``webp``."""
    width: int
    height: int
    """In pixels."""


def raster_picture(content: bytes) -> RasterPicture | None:
    """Recognise a picture; None for any other content, and without a size up to ``_LARGEST_SIDE``."""
    picture = None
    if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
        picture = RasterPicture("png", _big(content[16:20]), _big(content[20:24]))
    elif content[:6] in (b"GIF87a", b"GIF89a"):
        picture = RasterPicture("gif", _little(content[6:8]), _little(content[8:10]))
    elif content.startswith(b"\xff\xd8\xff"):
        picture = _jpeg(content)
    elif content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        picture = _webp(content)
    if picture and 0 < picture.width <= _LARGEST_SIDE and 0 < picture.height <= _LARGEST_SIDE:
        return picture
    return None


def _jpeg(content: bytes) -> RasterPicture | None:
    position = 2
    while position + 9 <= len(content) and content[position] == 0xFF:
        marker = content[position + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NOT_SIZES:
            height, width = content[position + 5 : position + 7], content[position + 7 : position + 9]
            return RasterPicture("jpg", _big(width), _big(height))
        # A marker may be filled up with further FF bytes, which have no length.
        position += 1 if marker == 0xFF else 2 + _big(content[position + 2 : position + 4])
    return None


def _webp(content: bytes) -> RasterPicture | None:
    form = content[12:16]
    if form == b"VP8X":
        return RasterPicture("webp", _little(content[24:27]) + 1, _little(content[27:30]) + 1)
    if form == b"VP8 ":
        return RasterPicture("webp", _little(content[26:28]) & 0x3FFF, _little(content[28:30]) & 0x3FFF)
    if form == b"VP8L":
        bits = _little(content[21:25])
        return RasterPicture("webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    return None


def _big(digits: bytes) -> int:
    return int.from_bytes(digits, "big")


def _little(digits: bytes) -> int:
    return int.from_bytes(digits, "little")
