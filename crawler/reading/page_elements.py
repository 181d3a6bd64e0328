"""Collect the few elements of a page that name it and lead on from it, in one scan.

A scan of 1,500 elements takes as long as what is read of their links.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from crawler.reading.flat_page import FlatPage, flatten
from crawler.reading.link_kinds import FRAME, kind_of_relation, note_kind
from crawler.reading.metadata.json_ld import MAX_LIST, is_json_ld
from crawler.reading.value_addresses import read_refresh

Element = Any  # lxml has no types

_SEVERAL = frozenset({"article:tag", "article:author", "citation_keywords"})
_SEVERAL |= {"citation_author", "dc.creator", "dcterms.creator"}
_MAX_URL = 2048

_MAX_AROUND = 8


@dataclass(slots=True)
class PageElements:
    """The values of telling elements of a page, as written; the first of each kind counts.

    Attributes:
        root: Root of the page.
        flat: Its tags and texts.
        content: The first ``main`` element, or the root where none says what the content is.
        followed: Distinct references of anchors, in the order of the page, and their texts: of
            several anchors the first text counts.
        not_followed: Those that are ``nofollow``, which may be among the others too.
        related: References of frames and of ``link`` elements, and their kinds.
        telling: Elements that may hold further references.
        base: ``href`` of ``base``.
        metas: Contents of ``meta`` elements by their names in lower case.
        lists: All contents of those that a page repeats.
        alternates: Language and URL of ``rel=alternate``.
        image: URL of ``rel=image_src``.
        time: ``datetime`` of the first ``time``; where one is marked as that of publication, its.
        modified: ``datetime`` of the first ``time`` that is marked as that of a change.
    """

    root: Element
    flat: FlatPage
    content: Element
    followed: dict[str, str] = field(default_factory=dict)
    not_followed: dict[str, str] = field(default_factory=dict)
    related: dict[str, str] = field(default_factory=dict)
    telling: list[Element] = field(default_factory=list)
    base: str | None = None
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


def collect(root: Element) -> PageElements:
    """Collect the elements of a page; it is not changed."""
    found = PageElements(root, flatten(root), root)
    found.flat.note_links(found.followed, found.not_followed)
    for element in root.iter(*_COLLECTORS):
        _COLLECTORS[element.tag](element, found)
    return found


def _collect_frame(frame: Element, found: PageElements) -> None:
    # Frames are a visible part of the page, so their documents are pages of the site.
    if (source := frame.get("src")) is not None:
        note_kind(found.related, source, FRAME)
    if frame.get("srcdoc") is not None:
        found.telling.append(frame)


def _collect_base(base: Element, found: PageElements) -> None:
    if found.base is None:
        found.base = base.get("href")


def _collect_main(main: Element, found: PageElements) -> None:
    if found.content is found.root:
        found.content = main


def _collect_title(title: Element, found: PageElements) -> None:
    # The title of a drawing is not that of the page.
    if not found.title and next(title.iterancestors("svg"), None) is None:
        found.title = title.text


def _collect_script(script: Element, found: PageElements) -> None:
    if is_json_ld(script.get("type", "")):
        found.json_ld.append(script.text or "")
    if script.text:
        found.telling.append(script)


def _collect_telling(element: Element, found: PageElements) -> None:
    found.telling.append(element)


def _collect_meta(element: Element, found: PageElements) -> None:
    name = element.get("name") or element.get("property") or element.get("http-equiv")
    name = (name or element.get("itemprop") or "").strip().lower()
    content = element.get("content")
    if not content:
        return
    if name == "robots":
        found.robots.append(content)
    elif name != "refresh" or (
        # A refresh within noscript is for browsers without scripts, which are rare.
        next(element.iterancestors("noscript"), None) is None
        and read_refresh(content.encode("utf-8", "replace")) is not None
    ):
        found.metas.setdefault(name, content)
        if name in _SEVERAL and len(found.lists.setdefault(name, [])) < MAX_LIST:
            found.lists[name].append(content)


def _collect_link(link: Element, found: PageElements) -> None:
    relation = link.get("rel")
    href = link.get("href")
    if not relation or href is None:
        return
    relations = relation.lower().split()
    kind = kind_of_relation(relations, link.get("type", ""))
    if kind is not None:
        note_kind(found.related, href, kind)
    if not href:
        return
    if "canonical" in relations:
        found.canonical = found.canonical or href
    elif "alternate" in relations:
        language = link.get("hreflang")
        if language and len(found.alternates) < MAX_LIST and len(href) <= _MAX_URL:
            found.alternates.append((language, href))
    elif "image_src" in relations:
        found.image = found.image or href


def _collect_time(time: Element, found: PageElements) -> None:
    written = time.get("datetime") or time.text
    if not written or (found.time and found.modified):
        return
    around = islice(time.iterancestors(), _MAX_AROUND)
    if any("comment" in f"{one.get('class')} {one.get('id')}".lower() for one in around):
        return
    marks = f"{time.get('itemprop', '')} {time.get('class', '')}".lower()
    if "modified" in marks or "updated" in marks.split():
        found.modified = found.modified or written
        if "published" not in marks:
            return
    if "published" in marks or time.get("pubdate") is not None:
        found.published = found.published or written
    found.time = found.time or written


_COLLECTORS = {
    "base": _collect_base,
    "frame": _collect_frame,
    "iframe": _collect_frame,
    "ilayer": _collect_frame,
    "layer": _collect_frame,
    "link": _collect_link,
    "main": _collect_main,
    "meta": _collect_meta,
    "script": _collect_script,
    "time": _collect_time,
    "title": _collect_title,
} | dict.fromkeys("applet embed form object param portal select".split(), _collect_telling)
