"""Which URL does an address of a document stand for? Each address is resolved once."""

from __future__ import annotations

import re
from urllib.parse import quote

from crawler.reading.link_extraction import resolve

# Names below the folder of the document or one above it: nothing that resolving could change but
# the dots at the front. One in two links of a documentation page is such.
_PLAIN = re.compile(
    r"((?:\.\./)*+)((?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+/)*+[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+)\Z"
)
_FOLDERS = re.compile(
    r"https?://[^/?#\\]++(/(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+/)*+)[^/?#\\]*+(?:[?#]|\Z)"
)
_ASCII_MARKS = "".join(map(chr, range(33, 127)))
_ENDS = "".join(map(chr, range(33)))
# Longer URLs are not asked for. Behind a <base> of that length each of a million short addresses
# becomes as long, so all of a document are bounded too.
_LONGEST = 8192
_MOST_CHARACTERS = 2**24
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_DROPPED = re.compile(r"[\t\n\r]+")


class Addresses:
    """Resolves what is written in one document.

    Args:
        base: The URL against which its addresses count.
        encoding: In which its queries are sent.
    """

    def __init__(self, base: str, encoding: str) -> None:
        self._base = base
        self._encoding = encoding
        self._urls: dict[str, str | None] = {}
        self._room = _MOST_CHARACTERS
        match = _FOLDERS.match(base) if len(base) <= _LONGEST else None
        # Every folder above the document: [host/, host/a/, host/a/b/].
        self._folders = [] if match is None else _folders(match)

    def resolve(self, written: str) -> tuple[str | None, str]:
        """Return the URL without its fragment, None for what nobody asks for, and the fragment."""
        address, mark, fragment = written.partition("#")
        url = self._urls.get(address, "")
        if url == "":
            url = self._urls[address] = self._resolve(address)
            self._room -= len(url or "")
        if mark:
            fragment = _DROPPED.sub("", fragment.rstrip(_ENDS))
        return url, fragment

    def _resolve(self, address: str) -> str | None:
        if self._room <= 0 or len(address) > _LONGEST or len(self._base) > _LONGEST:
            return None
        if self._folders:
            plain = _PLAIN.match(address)
            if plain is not None and len(plain[1]) // 3 < len(self._folders):
                return self._folders[-1 - len(plain[1]) // 3] + plain[2]
        try:
            url = resolve(self._base, address, self._encoding)
        except ValueError:
            return None
        return None if url is None else url.partition("#")[0]


def _folders(match: re.Match[str]) -> list[str]:
    base = match.string
    return [base[: at + 1] for at in range(*match.span(1)) if base[at] == "/"]


def as_ascii(url: str) -> str:
    """Percent-encode what is not ASCII in a URL, and spaces."""
    return quote(url, _ASCII_MARKS)


def is_local(address: str) -> bool:
    """Whether an address is relative, and so leads to a file beside the document."""
    return not address.startswith("//") and not has_scheme(address)


def has_scheme(address: str) -> bool:
    """Whether an address is one from anywhere."""
    return _SCHEME.match(address) is not None
