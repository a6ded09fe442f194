"""Recognises pictures by their first bytes, and reads their size. SVG and other formats with code are excluded."""

from typing import Final

_LARGEST_SIDE: Final = 20_000  # longest side of a picture that a page shows, in pixels

_NOT_SIZES: Final = (0xC4, 0xC8, 0xCC)  # markers of JPEG between C0 and CF that do not begin a frame


def raster_picture(content: bytes) -> tuple[str, int, int] | None:
    """Return (``png``, ``jpg``, ``gif`` or ``webp``, width, height) of a picture.

    None for any other content, and for a picture without a size up to ``_LARGEST_SIDE``.
    """
    picture = None
    if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
        picture = ("png", _big(content[16:20]), _big(content[20:24]))
    elif content[:6] in (b"GIF87a", b"GIF89a"):
        picture = ("gif", _little(content[6:8]), _little(content[8:10]))
    elif content.startswith(b"\xff\xd8\xff"):
        picture = _jpeg(content)
    elif content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        picture = _webp(content)
    return picture if picture and all(0 < side <= _LARGEST_SIDE for side in picture[1:]) else None


def _jpeg(content: bytes) -> tuple[str, int, int] | None:
    position = 2
    while position + 9 <= len(content) and content[position] == 0xFF:
        marker = content[position + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NOT_SIZES:
            height, width = content[position + 5 : position + 7], content[position + 7 : position + 9]
            return "jpg", _big(width), _big(height)
        # A marker may be filled up with further FF bytes, which have no length.
        position += 1 if marker == 0xFF else 2 + _big(content[position + 2 : position + 4])
    return None


def _webp(content: bytes) -> tuple[str, int, int] | None:
    form = content[12:16]
    if form == b"VP8X":
        return "webp", _little(content[24:27]) + 1, _little(content[27:30]) + 1
    if form == b"VP8 ":
        return "webp", _little(content[26:28]) & 0x3FFF, _little(content[28:30]) & 0x3FFF
    if form == b"VP8L":
        bits = _little(content[21:25])
        return "webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _big(digits: bytes) -> int:
    return int.from_bytes(digits, "big")


def _little(digits: bytes) -> int:
    return int.from_bytes(digits, "little")
