"""Collect the few elements of a page that are meant for its metadata, in one scan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crawler.reading.metadata.json_ld import MAX_LIST, is_json_ld

Element = Any  # lxml has no types

# Each scan of a page of 86 kB takes 0.3 ms, so there is one.
_SCANNED = ("meta", "link", "time", "script", "title")
_SEVERAL = frozenset({"article:tag", "article:author", "citation_author", "citation_keywords"})
_MAX_URL = 2048


@dataclass(slots=True)
class MetaElements:
    """The metadata in the elements of a page, as written; the first one of each kind counts.

    Attributes:
        metas: Contents of ``meta`` elements by their names in lower case.
        lists: All contents of those that a page repeats.
        alternates: Language and URL of ``rel=alternate``.
        image: URL of ``rel=image_src``.
        time: ``datetime`` of the first ``time``; where one is marked as that of publication, its.
        modified: ``datetime`` of the first ``time`` that is marked as that of a change.
    """

    metas: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    robots: list[str] = field(default_factory=list)
    json_ld: list[str] = field(default_factory=list)
    alternates: list[tuple[str, str]] = field(default_factory=list)
    title: str | None = None
    time: str | None = None
    published: str | None = None
    modified: str | None = None
    canonical: str | None = None
    image: str | None = None


def collect(root: Element) -> MetaElements:
    """Collect the elements of a page; it is not changed."""
    found = MetaElements()
    for element in root.iter(*_SCANNED):
        tag = element.tag
        if tag == "meta":
            _collect_meta(element, found)
        elif tag == "link":
            _collect_link(element, found)
        elif tag == "script":
            if is_json_ld(element.get("type", "")):
                found.json_ld.append(element.text or "")
        elif tag == "time":
            _collect_time(element, found)
        elif not found.title and next(element.iterancestors("svg"), None) is None:
            # The title of a drawing is not that of the page.
            found.title = element.text
    return found


def _collect_meta(element: Element, found: MetaElements) -> None:
    name = element.get("name") or element.get("property") or element.get("http-equiv")
    name = (name or element.get("itemprop") or "").strip().lower()
    content = element.get("content")
    if not content:
        return
    if name == "robots":
        found.robots.append(content)
    elif name != "refresh" or next(element.iterancestors("noscript"), None) is None:
        # A refresh within noscript is for browsers without scripts, which are rare.
        found.metas.setdefault(name, content)
        if name in _SEVERAL and len(found.lists.setdefault(name, [])) < MAX_LIST:
            found.lists[name].append(content)


def _collect_link(link: Element, found: MetaElements) -> None:
    relation = link.get("rel")
    href = link.get("href")
    if not relation or not href:
        return
    relations = relation.lower().split()
    if "canonical" in relations:
        found.canonical = found.canonical or href
    elif "alternate" in relations:
        language = link.get("hreflang")
        if language and len(found.alternates) < MAX_LIST and len(href) <= _MAX_URL:
            found.alternates.append((language, href))
    elif "image_src" in relations:
        found.image = found.image or href


def _collect_time(time: Element, found: MetaElements) -> None:
    written = time.get("datetime") or time.text
    if not written:
        return
    marks = f"{time.get('itemprop', '')} {time.get('class', '')}".lower()
    if "modified" in marks or "updated" in marks.split():
        found.modified = found.modified or written
        if "published" not in marks:
            return
    if "published" in marks or time.get("pubdate") is not None:
        found.published = found.published or written
    found.time = found.time or written
