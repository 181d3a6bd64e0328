"""Find the sentences by which a page describes itself: ``meta`` elements and data of schema.org."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Element = Any  # lxml has no types

_NAMES = frozenset(["description", "og:description", "twitter:description"])
# Data beyond so many characters are not looked at.
_MAX_DATA = 200_000
_MAX_DESCRIPTION = 20_000
_MAX_DESCRIPTIONS = 40
_PROPERTY = re.compile(r'"(?:description|articleBody)"\s*+:\s*+("(?:[^"\\]|\\.)*+")', re.DOTALL)
_TAG = re.compile(r"<[^<>]*+>")


def page_descriptions(declared: Iterable[Element]) -> list[str]:
    """Return the descriptions of a page, without markup.

    Args:
        declared: Elements ``meta`` and ``script`` of the page.

    Complexity: O(elements + characters).
    """
    found, data = [], []
    for element in declared:
        if element.tag == "meta":
            name = element.get("name") or element.get("property") or ""
            if name.lower() in _NAMES:
                found.append(element.get("content") or "")
        elif element.get("type") == "application/ld+json" and element.text:
            data += _properties(element.text[:_MAX_DATA])
    found += data
    shortened = (text[:_MAX_DESCRIPTION] for text in found[:_MAX_DESCRIPTIONS])
    return [_TAG.sub(" ", text) for text in shortened]


def _properties(data: str) -> list[str]:
    """Return the descriptions in JSON, whether it is well-formed or not."""
    texts = []
    for quoted in _PROPERTY.findall(data):
        try:
            texts.append(str(json.loads(quoted, strict=False)))
        except ValueError:
            continue
    return texts
