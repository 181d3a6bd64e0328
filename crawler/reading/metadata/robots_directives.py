"""Read the directives for robots of a page's meta elements and HTTP headers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.downloading.robots_groups import product_token

if TYPE_CHECKING:
    from collections.abc import Iterable

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
