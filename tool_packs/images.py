"""What an image is by its first bytes: its media type, and its width and height where the header says so. Pure.

Nothing is decoded: a broken picture with a whole header passes, and its reader will say so.
"""

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImageFacts:
    media_type: str
    width: int | None
    height: int | None


def image_facts(data: bytes) -> ImageFacts | None:
    """None for what is no png, jpeg, gif or webp."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _sized("image/png", _big(data, 16) if data[12:16] == b"IHDR" else None)
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _sized("image/gif", _pair("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return _sized("image/jpeg", _jpeg(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _sized("image/webp", _webp(data))
    return None


def _sized(media_type: str, size: tuple[int, int] | None) -> ImageFacts:
    return ImageFacts(media_type, *(size if size is not None and all(size) else (None, None)))


def _pair(form: str, data: bytes, at: int) -> tuple[int, int] | None:
    if at + struct.calcsize(form) > len(data):
        return None
    first, second = struct.unpack_from(form, data, at)
    return first, second


def _big(data: bytes, at: int) -> tuple[int, int] | None:
    return _pair(">II", data, at)


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Segment by segment to the frame header, which is SOF0 to SOF15 without DHT, JPG and DAC."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # fill
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # these have no length
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            size = _pair(">HH", data, at + 5)
            return None if size is None else (size[1], size[0])
        elif marker in (0xD9, 0xDA):  # the end, or the picture itself, before any frame header
            return None
        else:
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X" if len(data) >= 30:
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L" if len(data) >= 25 and data[20] == 0x2F:
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            size = _pair("<HH", data, 26)
            return None if size is None else (size[0] & 0x3FFF, size[1] & 0x3FFF)
    return None
