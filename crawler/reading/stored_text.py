"""The form in which the text and the content of a page are stored."""

from __future__ import annotations

from typing import NamedTuple

import zstandard

from crawler.reading.content.content_xml import pack_lines
from crawler.reading.frames import decompress
from neardup.whole import part_of


class StoredText(NamedTuple):
    """The text of a page that is judged and the content that is shown, as they are stored.

    Attributes:
        text: As ``Extract.text_zstd``.
        content: As ``PackedContent.xml_zstd``.
    """

    text: bytes
    content: bytes

    @classmethod
    def of(cls, text: bytes, content: bytes | None) -> StoredText:
        """Return a stored text; a content that is missing is made of its lines."""
        if content is None:
            try:
                content = pack_lines(part_of(decompress(text).decode()))
            except (zstandard.ZstdError, UnicodeDecodeError):
                content = b""  # crawl-once verify finds both
        return cls(text, content)
