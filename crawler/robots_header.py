"""The words of ``X-Robots-Tag`` headers that are meant for everybody or for us."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Directives that have a value after a colon; every other word before a colon names a robot.
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def robots_words(headers: Iterable[str], agent: str) -> frozenset[str]:
    """The directives that bind us, in lower case.

    A header may begin a list for one robot (``otherbot: noindex, nofollow``),
    which goes on to its end or to the next name.

    Args:
        headers: The values of all headers of that name.
        agent: Our name, the first word of the user agent.
    """
    words: set[str] = set()
    for header in headers:
        binding = True
        for part in header.lower().split(","):
            name, colon, rest = part.partition(":")
            if colon and name.strip() not in _WITH_VALUE:
                binding = name.strip() in agent.lower()
                part = rest  # noqa: PLW2901  # what stands after the name is the directive
            if binding and part.strip():
                words.add(part.strip())
    return frozenset(words)
