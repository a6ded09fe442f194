"""Pictures of the pages of a source, made without a library."""

import hashlib
import struct
import zlib


def png(width: int, height: int, shade: int) -> bytes:
    """A picture of one grey, or, of many pixels, one that cannot be compressed."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    noise = hashlib.shake_256(b"plan").digest(width * height) if height > 100 else bytes([shade]) * width * height
    rows = zlib.compress(b"".join(b"\0" + noise[width * row :][:width] for row in range(height)), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
