r"""The links of a page as bytes: one a line, those that are not to be followed marked.

::

    list := ["!"] ("\n" line)*
    line := ["!"] URL

The first mark is the page's own ``nofollow``, that of a line the link's. An address never holds a
line break (``crawler.reading.link_extraction`` drops those) and begins with ``http``. UTF-8, compressed by
zstd with its checksum, since nothing else tells a damaged list or dictionary. Where a dictionary
is given, that is a list of URLs in front of which the page's are thought.
"""

from __future__ import annotations

import zstandard

_MARK = "!"


class LinkPacker:
    """Packs and unpacks lists of links.

    Args:
        dictionary: URLs that many pages link to, or nothing. What was packed
            with one is unpacked with the same.
    """

    def __init__(self, dictionary: bytes = b"") -> None:
        shared = None
        if dictionary:
            shared = zstandard.ZstdCompressionDict(
                dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT
            )
        self._compressor = zstandard.ZstdCompressor(dict_data=shared, write_checksum=True)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=shared)

    def pack(self, links: list[tuple[str, bool]], *, nofollow: bool) -> bytes:
        """Pack (URL, nofollow) in the order of the page."""
        lines = [_MARK if nofollow else ""]
        lines += [_MARK + url if marked else url for url, marked in links]
        return self._compressor.compress("\n".join(lines).encode("utf-8", "surrogatepass"))

    def unpack(self, packed: bytes) -> tuple[list[tuple[str, bool]], bool]:
        """The links of a page, and whether it wants none of them followed."""
        text = self._decompressor.decompress(packed).decode("utf-8", "surrogatepass")
        first, *lines = text.split("\n")
        links = [(line.removeprefix(_MARK), line.startswith(_MARK)) for line in lines]
        return links, first == _MARK
