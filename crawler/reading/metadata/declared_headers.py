"""Read what the headers of an answer say of a page: canonical URL, language, where it leads.

Documents that are no HTML have no other place for it. What a page says itself comes first.

Reference: RFC 8288 (Link), RFC 9110 section 8.5 (Content-Language).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.reading.link_extraction import resolve
from crawler.reading.link_kinds import HEADER, REFRESH, kind_of_relation, note_kind
from crawler.reading.metadata.json_ld import MAX_LIST
from crawler.reading.metadata.metadata_reader import HREFLANG, LANGUAGE, refresh_target
from crawler.reading.metadata.metadata_record import NO_HEADERS
from crawler.reading.metadata.page_names import MAX_IDENTIFIER_CHARACTERS, MAX_IDENTIFIERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.metadata.metadata_record import Metadata, PageHeaders

_MAX_CHARACTERS = 8192
_MAX_URL = 2048
# As RFC 8288, appendix B, reads them: a value without quotes reaches to the next mark.
_QUOTED = r'"((?:[^"\\]|\\.)*+)(?:"|\Z)'
_NAME = r'[^\s=;,"<>]'
_LINK = re.compile(
    rf"<([^<>]*+)>((?:\s*+;\s*+{_NAME}*+(?:\s*+=\s*+(?:{_QUOTED}|[^,;]*+))?+)*+)", re.DOTALL
)
_PARAMETER = re.compile(rf"({_NAME}++)\s*+=\s*+(?:{_QUOTED}|([^,;]*+))", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def with_headers(metadata: Metadata, headers: PageHeaders, url: str) -> Metadata:
    """Return metadata with what only the headers say.

    Args:
        metadata: What the page says itself.
        headers: Headers of its answer.
        url: URL of the page, against which those in ``Link`` are resolved.
    """
    if headers == NO_HEADERS:
        return metadata
    sources = dict(metadata.sources)
    links = list(_links((headers.link or "")[:_MAX_CHARACTERS], url))
    canonical = next((to for to, said in links if "canonical" in _relations(said)), None)
    if metadata.canonical_url is None and canonical is not None:
        names = metadata.identifiers
        if len(canonical) <= MAX_IDENTIFIER_CHARACTERS:
            names = tuple(sorted({*names, f"canonical:{canonical}"}))[:MAX_IDENTIFIERS]
        metadata = metadata._replace(canonical_url=canonical, identifiers=names)
        sources["declared_url"] = "header:link"
    alternates = tuple(
        (said["hreflang"], to)
        for to, said in links
        if "alternate" in _relations(said) and HREFLANG.fullmatch(said.get("hreflang", ""))
    )[:MAX_LIST]
    if not metadata.alternates and alternates:
        metadata = metadata._replace(alternates=alternates)
        sources["alternates"] = "header:link"
    language = (headers.language or "").strip()
    # Several are those of its readers, and not that of its text.
    if metadata.language is None and LANGUAGE.fullmatch(language):
        metadata = metadata._replace(language=language)
        sources["language"] = "header:content-language"
    return metadata._replace(sources=tuple(sources.items()))


def header_links(headers: PageHeaders, url: str) -> dict[str, str]:
    """Return the references of the headers of an answer, and their kinds.

    Args:
        headers: Headers of the answer.
        url: Its URL.
    """
    found: dict[str, str] = {}
    if headers == NO_HEADERS:
        return found
    refreshed = refresh_target(headers.refresh or "")
    if refreshed is not None:
        note_kind(found, refreshed[1], REFRESH)
    for to, said in _links((headers.link or "")[:_MAX_CHARACTERS], url):
        kind = kind_of_relation(_relations(said), said.get("type", ""))
        if kind is not None:
            note_kind(found, to, kind)
    for address in (headers.content_location, headers.location):
        if address and len(address) <= _MAX_URL:
            note_kind(found, address, HEADER)
    return found


def _links(header: str, url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the absolute target of each link of a page, and its parameters."""
    for target, written, _ in _LINK.findall(header):
        said: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(written):
            said.setdefault(name.lower(), (_ESCAPED.sub(r"\1", quoted) or bare).strip())
        if "anchor" in said or len(target) > _MAX_URL:  # of another page
            continue
        try:
            found = resolve(url, target)
        except ValueError:
            continue
        if found and len(found) <= _MAX_URL and urlsplit(found).scheme in {"http", "https"}:
            yield found, said


def _relations(said: dict[str, str]) -> list[str]:
    return said.get("rel", "").lower().split()
