"""Author and date from JSON-LD, in which pages describe themselves to search engines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DATES = ("datePublished", "dateCreated", "uploadDate", "dateModified")
_LONGEST = 200_000
_MOST_NODES = 200


class Described(NamedTuple):
    """What JSON-LD says of the page, as written."""

    author: str | None = None
    date: str | None = None


def is_json_ld(kind: str) -> bool:
    """Whether a script of this type holds JSON-LD."""
    return "ld+json" in kind.lower()


def read_schema_org(scripts: Iterable[str]) -> Described:
    """Return the first author and the first date that scripts of JSON-LD name."""
    author = date = None
    for text in scripts:
        for node in _nodes(text) if len(text) <= _LONGEST else ():
            author = author or _name(node.get("author")) or _name(node.get("creator"))
            date = date or next((node[name] for name in _DATES if _is_text(node, name)), None)
    return Described(author, date)


def _is_text(node: dict[str, Any], name: str) -> bool:
    return isinstance(node.get(name), str) and bool(node[name].strip())


def _nodes(text: str) -> Iterator[dict[str, Any]]:
    """The objects that describe the page: at the top, in lists and in ``@graph``."""
    try:
        # strict=False: real pages have raw line breaks within their strings.
        waiting = [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        return
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting[:0] = node[:_MOST_NODES]
        elif isinstance(node, dict):
            yield node
            waiting += [node.get("@graph"), node.get("mainEntity")]


def _name(value: object) -> str | None:
    """Names of an author, who may be a text, an object or a list of either, not of lists."""
    if isinstance(value, list):
        names = [_name(each) for each in value[:10] if not isinstance(each, list)]
        return ", ".join(dict.fromkeys(filter(None, names))) or None
    if isinstance(value, dict):
        value = value.get("name")
    # Some give the address of a profile where a name is wanted.
    if isinstance(value, str) and value.strip() and not value.lstrip().startswith("http"):
        return value
    return None
