"""Read a page's metadata, and where each value was found.

trafilatura's metadata and htmldate search the whole page and cost as much as the main text does;
this module looks only at the few elements that are meant for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lxml.etree import XPath

from crawler.reading.link_extraction import resolve
from crawler.reading.metadata.bylines import read_byline
from crawler.reading.metadata.dates import iso_date
from crawler.reading.metadata.json_ld import MAX_LIST, described_by, schema_org_nodes
from crawler.reading.metadata.metadata_record import Metadata, directives
from crawler.reading.metadata.page_names import first_heading, identifiers, subheading
from crawler.reading.metadata.page_titles import (
    folded_name,
    host_names,
    is_home_page,
    title_of,
    without_site,
)
from crawler.reading.url_joining import PlainJoiner
from crawler.reading.value_addresses import read_refresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawler.reading.metadata.bylines import Byline
    from crawler.reading.metadata.json_ld import Described
    from crawler.reading.page_elements import PageElements

Element = Any  # lxml has no types
Found = tuple[str, str | None]
"""Code of a place, and the text there."""

_HEADING = XPath("string(//h1)", smart_strings=False)
_AUTHOR = XPath("/descendant::*[@rel = 'author' or @itemprop = 'author'][1]")
_NAMED = XPath("(.//*[@itemprop = 'name'])[1]")
_TEXT = XPath("string()", smart_strings=False)

_AUTHORS = (
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
)
_PUBLISHED = (
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "dcterms.issued",
    "citation_publication_date",
    "parsely-pub-date",
    "pubdate",
    "publishdate",
    "sailthru.date",
    "ms.date",
)
_MODIFIED = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "last-modified",
)
_LANGUAGES = ("content-language", "language", "dc.language", "og:locale")
_SITE_NAMES = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src")
_DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description")
_KEYWORDS = ("keywords", "news_keywords", "parsely-tags", "citation_keywords")
_CATEGORIES = ("article:section", "parsely-section")
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)
HREFLANG = re.compile(r"x-default|[a-z]{2,3}(?:[-_][a-z0-9]{1,8})*", re.IGNORECASE)
_PLAIN_URL = re.compile(r"https?://[!-Z^-~]+")
_SECONDS = re.compile(r"\s*(\d*(?:\.\d*)?)")
_MAX_CHARACTERS = 1000
_MAX_WORD_CHARACTERS = 100
_MAX_URL = 8192
_MAX_NAMED_URL = 2048
"""Leave out longer URLs of images and alternates."""


def read_metadata(page: PageElements, base: str, url: str | None = None) -> Metadata:
    """Collect the metadata of a page.

    Args:
        page: Elements of the page; not changed.
        base: URL against which references are resolved.
        url: URL of the page, if it is another.
    """
    root, metas = page.root, page.metas
    nodes = schema_org_nodes(page.json_ld)
    facts = _Facts(metas, described_by(nodes))
    language = _language(facts, root)
    heading = first_heading(root)
    h1 = [] if heading is None else [(heading.element.tag, heading.text)]
    canonical_url = _absolute(page.canonical, base)
    facts.note("declared_url", "link:canonical", canonical_url)
    refresh_secs, refresh_url = _refresh(metas.get("refresh"), base)
    titles: list[Found] = [("title", page.title), *facts.of_metas(("og:title",))]
    full_title = facts.first("title", titles) or facts.first("title", [("h1", _HEADING(root))])
    first = facts.first("h1", h1)
    author = _author(facts, page) or _marked_author(facts, page)
    date, modified = _dates(facts, page, language)
    is_dated = facts.sources.get("date", "time") != "time"
    if (author is None or not is_dated) and not is_home_page(url or base):
        byline = read_byline(
            root,
            None if heading is None else heading.element,
            full_title or "",
            language=language,
            wants_author=author is None,
            wants_date=not is_dated,
        )
        author = author or facts.first("author", filter(None, [byline.author]))
        date, modified = _seen_dates(facts, byline, date, modified)
    images: list[Found] = [*facts.of_metas(_IMAGES), ("link:image_src", page.image)]
    site_names = list(facts.of_metas(_SITE_NAMES))
    return Metadata(
        title=full_title and _short_title(full_title, facts, url or base, first),
        author=author,
        date=date,
        language=language,
        canonical_url=canonical_url,
        robots=directives(",".join(page.robots)),
        refresh_url=refresh_url,
        refresh_secs=refresh_secs,
        heading=first,
        identifiers=identifiers(page, nodes, canonical_url, heading),
        subheading=line_of(subheading(page.content, heading)),
        full_title=full_title,
        sitename=facts.first("sitename", [*site_names[:1], *facts.described("sitename")])
        or facts.first("sitename", site_names[1:]),
        modified=modified,
        description=facts.first(
            "description", [*facts.of_metas(_DESCRIPTIONS), *facts.described("description")]
        ),
        image=facts.first(
            "image", [*images, *facts.described("image")], lambda url: _named_url(url, base)
        ),
        alternates=_alternates(facts, page, base),
        tags=_words(facts, "tags", _KEYWORDS, page.lists.get("article:tag", [])),
        categories=_words(facts, "categories", _CATEGORIES, []),
        schema_type=facts.first("schema_type", facts.described("schema_type")),
        declared_type=facts.first("declared_type", facts.of_metas(("og:type",))),
        sources=tuple(facts.sources.items()),
    )


def line_of(text: str | None) -> str | None:
    """Return a text on one line and of bounded length, or None if it is blank."""
    if text and (line := " ".join(text[: 2 * _MAX_CHARACTERS].split())):
        # A lone surrogate, which JSON can spell, could be stored nowhere.
        return line[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()
    return None


@dataclass(slots=True)
class _Facts:
    """Facts that a page states of itself, and the places of the values that were taken."""

    metas: dict[str, str]
    of_json_ld: Described
    sources: dict[str, str] = field(default_factory=dict)

    def of_metas(self, names: Iterable[str]) -> Iterator[tuple[str, str]]:
        metas = self.metas
        codes = ((name if ":" in name else f"meta:{name}", name) for name in names)
        return ((code, metas[name]) for code, name in codes if name in metas)

    def described(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield what JSON-LD says of a field."""
        text = self.of_json_ld.texts.get(name)
        if text:
            yield self.of_json_ld.sources[name], text

    def note(self, name: str, code: str, value: object) -> None:
        if value:
            self.sources[name] = code

    def first(
        self, name: str, texts: Iterable[Found], read: Callable[[str | None], str | None] = line_of
    ) -> str | None:
        """Return the first text of a field that can be read, and note where it was found."""
        for code, text in texts:
            if found := read(text):
                self.sources[name] = code
                return found
        return None


def _short_title(title: str, facts: _Facts, url: str, heading: str | None) -> str:
    """Return the title without the name of the site."""
    told = [text for _, text in facts.of_metas(_SITE_NAMES)] + facts.of_json_ld.site_names
    folded = (folded_name(text[:_MAX_CHARACTERS]) for text in told)
    names = frozenset(filter(None, folded)) | host_names(url)
    if is_home_page(url):
        return without_site(title, names, only_last=True)
    others = [facts.metas.get("og:title", ""), *facts.of_json_ld.titles]
    short = title_of(title, names, heading or "", [text[:_MAX_CHARACTERS] for text in others])
    if short == heading and short not in title:
        facts.sources["full_title"] = facts.sources["title"]
        facts.sources["title"] = facts.sources["h1"]
    return short


def _author(facts: _Facts, found: PageElements) -> str | None:
    # article:author often holds the URL of a profile.
    named = []
    for code, text in facts.of_metas(_AUTHORS):
        told = found.lists.get(code.removeprefix("meta:"), [text])
        names = dict.fromkeys(name.strip() for name in told if "://" not in name)
        named.append((code, "; ".join(names)))
    return facts.first("author", [*named, *facts.described("author")])


def _marked_author(facts: _Facts, page: PageElements) -> str | None:
    for element in _AUTHOR(page.root) if '="author"' in page.flat.distinct else ():
        is_relation = element.get("rel") == "author"
        code = "rel:author" if is_relation else "itemprop:author"
        # The author of a post in a forum has badges beside the name.
        named = [(code, one.get("content") or _TEXT(one)) for one in _NAMED(element)]
        return facts.first("author", [*named, (code, _TEXT(element))])
    return None


def _dates(
    facts: _Facts, found: PageElements, language: str | None
) -> tuple[str | None, str | None]:
    """Return the day of publication, else of the last change, and that of the last change."""
    changes: list[Found] = [*facts.of_metas(_MODIFIED[:-1]), *facts.described("modified")]
    changes += [("time:modified", found.modified), *facts.of_metas(_MODIFIED[-1:])]
    modified = facts.first("modified", changes, lambda text: iso_date(text, language))
    texts: list[Found] = [*facts.of_metas(_PUBLISHED), *facts.described("date")]
    texts += [("time:published", found.published), ("time", found.time)]
    date = facts.first("date", texts, lambda text: iso_date(text, language))
    if date is None and modified is not None:
        facts.sources["date"] = facts.sources["modified"]
    return date or modified, modified


def _seen_dates(
    facts: _Facts, byline: Byline, date: str | None, modified: str | None
) -> tuple[str | None, str | None]:
    """Return the days of a page, where those beside its heading take the place of lesser ones.

    The first ``time`` of a page is often that of another page, or of a comment.
    """
    if byline.modified is not None and modified is None:
        facts.sources["modified"], modified = byline.modified
    if facts.sources.get("date", "time") == "time":
        if byline.date is not None:
            facts.sources["date"], date = byline.date
        elif date is None and modified is not None:
            facts.sources["date"], date = facts.sources["modified"], modified
    return date, modified


def _language(facts: _Facts, root: Element) -> str | None:
    declared = [
        ("html:lang", root.get("lang")),
        ("html:xml:lang", root.get(_XML_LANGUAGE)),
        ("html:xml:lang", root.get("xml:lang")),
        *facts.of_metas(_LANGUAGES),
        *facts.described("language"),
        ("body:lang", next((one.get("lang") for one in root.iterchildren("body")), None)),
    ]
    return facts.first("language", declared, _language_tag)


def _language_tag(text: str | None) -> str | None:
    tag = (text or "").strip().replace("_", "-").partition(",")[0]
    if LANGUAGE.fullmatch(tag) is None:
        return None
    return "-".join(map(_subtag, range(len(tag)), tag.split("-")))


def _subtag(place: int, part: str) -> str:
    """Return a subtag in the case that BCP 47 recommends: ``zh-Hant-TW``."""
    if place == 0 or len(part) not in {2, 4}:
        return part.lower()
    return part.upper() if len(part) == 2 else part.title()


def _alternates(facts: _Facts, found: PageElements, base: str) -> tuple[tuple[str, str], ...]:
    """Return language and URL of each translation that the page names."""
    read = (
        (language.strip(), _named_url(href, base))
        for language, href in found.alternates
        if HREFLANG.fullmatch(language.strip())
    )
    pairs = tuple((language, url) for language, url in read if url)
    facts.note("alternates", "link:alternate", pairs)
    return pairs


def _words(facts: _Facts, name: str, metas: Iterable[str], repeated: list[str]) -> tuple[str, ...]:
    """Return the distinct words of a field from the first place that has any."""
    lists = [(code, text.split(",", MAX_LIST)) for code, text in facts.of_metas(metas)]
    described = facts.of_json_ld
    if name in described.lists:
        lists.append((described.sources[name], described.lists[name]))
    lists.append(("article:tag", repeated))
    for code, texts in lists:
        lines = (line_of(text[:_MAX_WORD_CHARACTERS]) for text in texts[:MAX_LIST])
        if words := tuple(dict.fromkeys(filter(None, lines))):
            facts.sources[name] = code
            return words
    return ()


def refresh_target(content: str) -> tuple[float, str] | None:
    """Return the seconds and the reference of a refresh, None where a page reloads itself."""
    written = content.encode("utf-8", "replace")
    span, secs = read_refresh(written), _SECONDS.match(content)
    if span is None or secs is None:
        return None
    return float(secs[1].rstrip(".") or 0), written[slice(*span)].decode("utf-8", "replace")


def _refresh(content: str | None, base: str) -> tuple[float | None, str | None]:
    found = refresh_target(content or "")
    url = None if found is None else _absolute(found[1], base)
    return (None, None) if found is None or url is None else (found[0], url)


def _absolute(address: str | None, base: str) -> str | None:
    if not address or not address.strip() or len(address) > _MAX_URL:
        return None
    try:
        url = PlainJoiner(base).join(address) or resolve(base, address)
    except ValueError:
        return None
    return None if url is None or len(url) > _MAX_URL else url


def _named_url(address: str | None, base: str) -> str | None:
    """Return the absolute URL of an image or a translation; None for one that is too long."""
    address = (address or "").strip()
    if len(address) > _MAX_NAMED_URL:
        return None
    if _PLAIN_URL.fullmatch(address):
        return address
    url = _absolute(address.encode("utf-8", "replace").decode(), base)
    return None if url is None or len(url) > _MAX_NAMED_URL else url
