"""Find the sentences by which a page describes itself: ``meta`` elements and data of schema.org."""

from __future__ import annotations

import json
import re
from typing import Any

Element = Any  # lxml has no types

_NAMES = frozenset(["description", "og:description", "twitter:description"])
# Data beyond so many characters are not looked at.
_MAX_DATA = 200_000
_MAX_DESCRIPTION = 20_000
_MAX_DESCRIPTIONS = 40
_PROPERTY = re.compile(r'"(?:description|articleBody)"\s*+:\s*+("(?:[^"\\]|\\.)*+")', re.DOTALL)
_TAG = re.compile(r"<[^<>]*+>")


def page_descriptions(root: Element) -> list[str]:
    """Return the descriptions of a page, without markup.

    Complexity: O(elements + characters).
    """
    found = []
    for tag in root.iter("meta"):
        name = tag.get("name") or tag.get("property") or ""
        if name.lower() in _NAMES:
            found.append(tag.get("content") or "")
    for script in root.iter("script"):
        if script.get("type") == "application/ld+json" and script.text:
            found += _properties(script.text[:_MAX_DATA])
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
