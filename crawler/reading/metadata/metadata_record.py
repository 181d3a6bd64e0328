"""Define the metadata of a page, plain values that ``marshal`` carries, and headers it is in.

Directives for robots stand in meta elements and in headers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawler.downloading.robots_groups import product_token
from neardup.names import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from neardup.names import Name


class Metadata(NamedTuple):
    """The metadata of a page; None stands for a missing value.

    Attributes:
        title: Title without the name of the site.
        date: Date of publication, or else of the last change, ISO 8601: ``2024-05-31``.
        language: Language by BCP 47: ``en``, ``pt-BR``.
        canonical_url: Absolute URL from ``rel=canonical``.
        robots: Directives of robots meta tags, lower case, ``none`` spelt out as ``noindex`` and
            ``nofollow``.
        refresh_url: Absolute target of a meta refresh.
        refresh_secs: Delay of the meta refresh.
        heading: First heading of the page.
        identifiers: Identifiers of the thing that the page is about, ``kind:value``, sorted.
        subheading: What its main content is headed with behind the first heading.
        full_title: Title as the page has it.
        sitename: Name of the site.
        modified: Date of the last change.
        alternates: Language and absolute URL of each ``rel=alternate`` with ``hreflang``.
        tags: Key words.
        categories: Sections of the site that the page is in.
        schema_type: Type by schema.org: ``NewsArticle``.
        declared_type: Type by ``og:type``.
        sources: Field and code of the place where its value was found: ``og:title``.
    """

    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    canonical_url: str | None = None
    robots: tuple[str, ...] = ()
    refresh_url: str | None = None
    refresh_secs: float | None = None
    heading: str | None = None
    identifiers: tuple[str, ...] = ()
    subheading: str | None = None
    full_title: str | None = None
    sitename: str | None = None
    modified: str | None = None
    description: str | None = None
    image: str | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    schema_type: str | None = None
    declared_type: str | None = None
    sources: tuple[tuple[str, str], ...] = ()

    def name(self, text: str = "") -> Name:
        """Return what the page is called; its first lines count without title and heading.

        A list that nothing names is what stands in it: lists of what two classes inherit differ in
        a line.

        Args:
            text: The text that stands for the page.
        """
        title = self.full_title or self.title or ""
        heading, subheading = self.heading or "", self.subheading or ""
        identifiers = self.identifiers
        if not title and not heading and _is_list(text):
            digest = xxhash.xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass"))
            identifiers = (*identifiers, f"list:{digest}")
        return name_of(text, title, heading, identifiers, subheading)


_MIN_ENTRIES, _MAX_ENTRY_WORDS = 8, 6


def _is_list(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) >= _MIN_ENTRIES and all(
        len(line.split(maxsplit=_MAX_ENTRY_WORDS)) <= _MAX_ENTRY_WORDS for line in lines
    )


NO_METADATA = Metadata()


class PageHeaders(NamedTuple):
    """Headers of an answer that describe its page; None: it has none of the name.

    Attributes:
        link: All values of ``Link``, with commas between them.
        language: ``Content-Language``.
        refresh: ``Refresh``.
        content_location: ``Content-Location``.
        location: ``Location``, of an answer that is no redirect.
    """

    link: str | None = None
    language: str | None = None
    refresh: str | None = None
    content_location: str | None = None
    location: str | None = None

    @classmethod
    def of(cls, values: Callable[[str], Sequence[bytes]]) -> PageHeaders:
        """Return headers from a function that returns all values of one, as they came."""
        said = [
            b", ".join(found).decode("latin-1") if (found := values(name)) else None
            for name in _PAGE_HEADERS
        ]
        return cls(*said) if any(said) else NO_HEADERS


_PAGE_HEADERS = ("Link", "Content-Language", "Refresh", "Content-Location", "Location")
NO_HEADERS = PageHeaders()


# Directives that have a value after a colon; every other name before a colon is a robot's.
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
# The time in "unavailable_after: Friday, 25-Jun-2027 15:00:00 GMT" has a colon and is no name.
_NAMED = re.compile(r"\s*([a-z*][a-z0-9_.*-]*)\s*:(.*)", re.DOTALL)
_SEPARATORS = re.compile(r"[\s,;]+")


def robots_words(headers: Iterable[str], agent: str) -> frozenset[str]:
    """Return the directives that bind us, in lower case.

    A header may begin a list for one robot (``otherbot: noindex, nofollow``), which goes on to its
    end or to the next name.

    Args:
        headers: Values of all headers of that name.
        agent: Our user agent; its product token is our name.

    Reference: https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
    """
    ours = {"*", product_token(agent)}
    words: set[str] = set()
    for header in headers:
        binding = True
        for part in header.lower().split(","):
            named = _NAMED.match(part)
            if named and named[1] not in _WITH_VALUE:
                binding = named[1] in ours
                part = named[2]  # noqa: PLW2901  # the directive follows the name
            if binding and part.strip():
                words.add(part.strip())
    return frozenset(words)


def directives(content: str) -> tuple[str, ...]:
    """Return the directives of a robots meta tag or an ``X-Robots-Tag`` header, sorted.

    ``none`` becomes ``noindex`` and ``nofollow``.
    """
    words = {word for word in _SEPARATORS.split(content.lower()) if word}
    if "none" in words:
        words = words - {"none"} | {"noindex", "nofollow"}
    return tuple(sorted(words))
