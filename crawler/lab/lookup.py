"""Which page of a session does a URL name?"""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING

from crawler.lab.sources.source import SourceError
from crawler.urls.canonical import Canonicalizer
from crawler.urls.errors import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.lab_page import LabPage

_COMPARED = 5_000
"""URLs among which a similar one is looked for; more take seconds."""


def place_of(pages: Sequence[LabPage], url: str) -> int:
    """The place of a page: the newest one of that very URL, else one of the same canonical URL.

    Raises:
        SourceError: There is none; a similar URL is proposed.

    Complexity: O(pages).
    """
    places = [place for place, page in enumerate(pages) if page.url == url]
    if places:
        return places[-1]
    key = _key(url)
    for place in range(len(pages) - 1, -1, -1):
        if key is not None and _key(pages[place].url) == key:
            return place
    urls = (page.url for page in islice(pages, _COMPARED))
    close = difflib.get_close_matches(url, list(urls), n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise SourceError(f"{url}: no page with a text has this URL{hint}")


_CANONICALIZER = Canonicalizer()


def _key(url: str) -> bytes | None:
    try:
        return _CANONICALIZER.key(url)
    except MalformedUrl:
        return None
