"""A page on disk, read with lxml alone: the digest of what it says, and where it links."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

import lxml.html

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = (".html", ".htm", ".xhtml")

_ADDRESSES = "//@href | //@src | //@poster | //@background | //object/@data"
_SILENT = "//body//*[self::script or self::style or self::noscript or self::template]"


@dataclass(frozen=True)
class Page:
    """A file of HTML.

    Attributes:
        text: Digest of its visible text, with single spaces.
        links: What it refers to, each once: as written, or joined to a ``<base>``.
    """

    text: bytes
    links: tuple[str, ...]


def read_page(file: Path) -> Page:
    """Read a page; one that cannot be parsed says nothing and links nowhere."""
    try:
        tree = lxml.html.document_fromstring(file.read_bytes())
    except (lxml.etree.ParserError, ValueError):
        return Page(_digest(""), ())
    links = tuple(dict.fromkeys(_links(tree)))
    body = tree.find("body")
    for silent in tree.xpath(_SILENT):
        silent.drop_tree()
    # Comments are not among the text content.
    return Page(_digest("" if body is None else str(body.text_content())), links)


def _links(tree: Any) -> Iterator[str]:
    base = next(iter(tree.xpath("//base/@href")), "")
    written = [*tree.xpath(_ADDRESSES)]
    for candidates in tree.xpath("//@srcset"):
        written += [one.split()[0] for one in candidates.split(",") if one.strip()]
    for address in written:
        try:
            yield urljoin(base, address.strip())
        except ValueError:
            yield address


def _digest(text: str) -> bytes:
    return hashlib.sha256(" ".join(text.split()).encode()).digest()


def target_of(file: Path, link: str) -> Path | str | None:
    """Where a link on a page leads: to a file, to a URL of the network, or None: neither.

    A site's own ``file:`` links, as Debian's documentation has, lead nowhere on any machine.
    """
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    if parts.netloc and parts.scheme in {"", "http", "https"}:
        return link
    if parts.scheme or not parts.path:
        return None
    return Path(os.path.normpath(file.parent / unquote(parts.path)))
