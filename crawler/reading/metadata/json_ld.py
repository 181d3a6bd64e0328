"""Read what JSON-LD says of a page by the words of schema.org.

Reference: https://schema.org/docs/full.html
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_LIST = 50
"""Take at most this many values of a list."""

_MAX_SCRIPT_CHARACTERS = 200_000
_MAX_NODES = 200
_MAX_NAMES = 10
_MAX_TYPE_CHARACTERS = 100

# Around the values stand comments and "<![CDATA[", and behind them semicolons.
_BEGINNING = re.compile(r"(?<!<!)(?<!CDATA)[\[{]")
# A string that never ends reaches to the end, so that each character is looked at once.
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*+[}\]])', re.DOTALL)
_SCHEMA_ORG = re.compile(r"\A(?:(?:schema|sdo):|https?://(?:www\.)?schema\.org/)")

_PUBLISHED = ("datePublished", "dateCreated", "uploadDate")
_IMAGES = ("image", "thumbnailUrl")
_OF_PAGE = frozenset({"aboutpage", "collectionpage", "contactpage", "itempage", "webpage"})
# What a site says of itself, and of parts of its pages.
_OF_SITE = frozenset(
    "breadcrumblist contactpoint corporation imageobject itemlist newsmediaorganization "
    "organization person place searchaction sitenavigationelement website wpfooter "
    "wpheader".split()
)


@dataclass(slots=True)
class Described:
    """Values that the objects of a page's JSON-LD give, as written.

    Attributes:
        texts: Values by the fields of ``Metadata``; the first one of each counts.
        lists: The same of fields with several values.
        sources: Property that each value comes from: ``json-ld:author``.
        site_names: Names of the site and of its publisher.
        titles: What the objects that describe the content are called.
    """

    texts: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    site_names: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    def take(self, name: str, value: str | None, of: str) -> None:
        """Keep the first text of a field, and the property that it comes from."""
        if value and name not in self.texts:
            self.texts[name] = value
            self.sources[name] = f"json-ld:{of}"

    def take_list(self, name: str, values: list[str], of: str) -> None:
        """Keep the first values of a field that has several."""
        if values and name not in self.lists:
            self.lists[name] = values
            self.sources[name] = f"json-ld:{of}"


def is_json_ld(kind: str) -> bool:
    return "ld+json" in kind.lower()


def schema_org_nodes(scripts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the objects in scripts of JSON-LD that describe the page."""
    readable = (text for text in scripts if len(text) <= _MAX_SCRIPT_CHARACTERS)
    return [node for text in readable for node in _nodes(text)]


def _nodes(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects that describe the page: at the top, in lists and in ``@graph``."""
    waiting = _values(text) or _values(_TRAILING_COMMA.sub(r"\1", text))
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting[:0] = node[:_MAX_NODES]
        elif isinstance(node, dict):
            yield node
            waiting += [node.get("@graph"), node.get("mainEntity")]


def _values(text: str) -> list[Any]:
    """Return the values of a script up to the first one that is not whole."""
    found: list[Any] = []
    at = 0
    with suppress(ValueError, RecursionError):
        while len(found) < _MAX_NODES and (beginning := _BEGINNING.search(text, at)):
            value, at = _DECODER.raw_decode(text, beginning.start())
            found.append(value)
    return found


def _plain(node: dict[str, Any]) -> Any:
    """Return an object by the plain names of schema.org, or the value that it gives a type."""
    if "@value" in node:
        return node["@value"]
    return {_SCHEMA_ORG.sub("", name): value for name, value in node.items()}


# Real pages have raw line breaks within their strings, which is not strict.
_DECODER = json.JSONDecoder(strict=False, object_hook=_plain)


def described_by(nodes: Iterable[dict[str, Any]]) -> Described:
    """Collect what objects of schema.org say of the page that they describe."""
    found, nodes = Described(), list(nodes)
    # Other objects may name an author by the number of an object of its own.
    named = {key: node.get("name") for node in nodes if isinstance(key := node.get("@id"), str)}
    type_of_page = None
    for node in nodes:
        kind = _type(node)
        lower = (kind or "").lower()
        _take_site_names(found, node, lower)
        if lower in _OF_PAGE:
            type_of_page = type_of_page or kind
        elif lower not in _OF_SITE:
            found.take("schema_type", kind, "@type")
        _take_common(found, node, named)
        if lower not in _OF_SITE:
            _take_content(found, node)
    found.take("schema_type", type_of_page, "@type")
    return found


def _take_common(found: Described, node: dict[str, Any], named: dict[str, Any]) -> None:
    for name in ("author", "creator"):
        found.take("author", _name(node.get(name), named), name)
    for name in _PUBLISHED:
        found.take("date", _text(node.get(name)), name)
    found.take("modified", _text(node.get("dateModified")), "dateModified")


def _take_content(found: Described, node: dict[str, Any]) -> None:
    titles = (node.get("headline"), node.get("name"))
    found.titles += [title for title in titles if isinstance(title, str)]
    found.take("language", _text(node.get("inLanguage")), "inLanguage")
    found.take("description", _text(node.get("description")), "description")
    for name in _IMAGES:
        found.take("image", _url(node.get(name)), name)
    found.take_list("tags", _words(node.get("keywords")), "keywords")
    found.take_list("categories", _words(node.get("articleSection")), "articleSection")


def _take_site_names(found: Described, node: dict[str, Any], kind: str) -> None:
    if kind == "website":
        found.take("sitename", _name(node.get("name"), {}), "WebSite")
    names = [node.get("publisher")]
    if kind in {"website", "organization", "corporation", "newsmediaorganization"}:
        names += [node.get("name"), node.get("alternateName")]
    found.site_names += [name for value in names if (name := _name(value, {}))]


def _type(node: dict[str, Any]) -> str | None:
    value = node.get("@type")
    if isinstance(value, list):
        value = next((one for one in value[:_MAX_NAMES] if isinstance(one, str)), None)
    if not isinstance(value, str):
        return None
    name = _SCHEMA_ORG.sub("", value.strip()).rpartition("/")[2]
    return name if name and len(name) <= _MAX_TYPE_CHARACTERS else None


def _text(value: object) -> str | None:
    if isinstance(value, list):
        value = next((one for one in value[:_MAX_NAMES] if isinstance(one, str)), None)
    return value if isinstance(value, str) and value.strip() else None


def _words(value: object) -> list[str]:
    """Return the texts of a list, or the parts of a text between commas."""
    if isinstance(value, str):
        value = value.split(",", MAX_LIST)
    if not isinstance(value, list):
        return []
    return [one for one in value[:MAX_LIST] if isinstance(one, str) and one.strip()]


def _url(value: object) -> str | None:
    """Return the URL of an image, given as a text, an object or a list of either."""
    if isinstance(value, list):
        return next(filter(None, map(_url_of_one, value[:_MAX_NAMES])), None)
    return _url_of_one(value)


def _url_of_one(value: object) -> str | None:
    if isinstance(value, dict):
        value = value.get("url") or value.get("contentUrl")
    return _text(value) if isinstance(value, str) else None


def _name(value: object, named: dict[str, Any]) -> str | None:
    """Return the names of an author, given as a text, an object or a list of either.

    Args:
        value: What is said of the author.
        named: Names of objects by their ``@id``.
    """
    if isinstance(value, list):
        names = [_name(each, named) for each in value[:_MAX_NAMES] if not isinstance(each, list)]
        return ", ".join(dict.fromkeys(filter(None, names))) or None
    if isinstance(value, dict):
        key = value.get("@id")
        value = value.get("name") or (named.get(key) if isinstance(key, str) else None)
    # Some sites give the URL of a profile instead of a name.
    if isinstance(value, str) and value.strip() and not value.lstrip().startswith("http"):
        return value
    return None
