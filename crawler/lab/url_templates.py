"""Count duplicates by the template of their URLs: which kind of URL repeats what is known?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from crawler.url_rules.learning.address import Address
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import MalformedUrl
from crawler.urls.path_patterns import ANY, REST, PathPatterns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.judgement import Judgement
    from crawler.lab.sources.source import LabPage

NUMBER = "#"
"""The pattern of a folder whose name holds a digit."""

_MAX_FOLDERS = 3
_MAX_ARGUMENTS = 8
_ENDING = re.compile(r"\.[A-Za-z]{1,5}\Z")


class TemplatePages(NamedTuple):
    """The pages whose URLs have one template.

    Attributes:
        template: Host and path with ``*`` for what varies and ``#`` for names with a digit, and
            the names of arguments.
        pages: The number of pages.
        dropped: The number of pages that repeat a kept one.
        clusters: The number of kept pages that these repeat.
        example: The URL of a dropped page; of a kept one where none is dropped.
    """

    template: str
    pages: int
    dropped: int
    clusters: int
    example: str


def templates_of(pages: Sequence[LabPage], judgement: Judgement) -> list[TemplatePages]:
    """Return the templates of URLs, those with the most dropped pages first.

    Complexity: O(characters of URLs).
    """
    names = _names([page.url for page in pages])
    counts = Counter(names)
    dropped: dict[str, list[int]] = defaultdict(list)
    for place in (~judgement.kept).nonzero()[0].tolist():
        dropped[names[place]].append(place)
    examples = dict(zip(reversed(names), (page.url for page in reversed(pages)), strict=True))
    found = []
    for name, count in counts.items():
        places = dropped.get(name, [])
        originals = {int(judgement.original[place]) for place in places}
        example = pages[places[0]].url if places else examples[name]
        found.append(TemplatePages(name, count, len(places), len(originals), example))
    return sorted(found, key=lambda one: (-one.dropped, -one.pages, one.template))


def _names(urls: Sequence[str]) -> list[str]:
    """Return the template of each URL, by what varies in all of them."""
    canonical = Canonicalizer()
    addresses = []
    for url in urls:
        written = url
        # A file may name its pages in any way.
        with suppress(MalformedUrl):
            written = canonical(url)
        addresses.append(Address.parse(written))
    naming = _Naming()
    # A folder is found to vary late: first all are met, then they are named.
    for address in addresses:
        naming(address)
    return [naming(address) for address in addresses]


class _Naming:
    """Names the template of an address.

    Its last segment varies unless arguments follow; a folder varies where many were met. Few
    folders below the first one are enough, so that the copies of a whole site below ``/print/``
    have one template.
    """

    def __init__(self) -> None:
        self._first: dict[str, PathPatterns] = defaultdict(lambda: PathPatterns(NUMBER))
        self._below: dict[tuple[str, str], PathPatterns] = defaultdict(
            lambda: PathPatterns(NUMBER, _MAX_FOLDERS)
        )
        self._scripts: dict[tuple[str, str], PathPatterns] = defaultdict(
            lambda: PathPatterns(NUMBER)
        )

    def __call__(self, address: Address) -> str:
        *folders, last = address.segments
        path = ""
        if folders:
            path = self._first[address.host]((folders[0],))
        if folders[1:]:
            path += self._below[address.host, path](tuple(folders[1:]))
        ending = _ENDING.search(last)
        page = f"/{ANY}{ending.group() if ending else ''}" if last else "/"
        if last and address.arguments:
            # A script, say, which means the same for all values of its arguments.
            page = self._scripts[address.host, path]((last,))
        names = sorted(address.names)
        written = [f"{name}=" for name in names[:_MAX_ARGUMENTS]]
        if len(names) > _MAX_ARGUMENTS:
            written.append(REST)
        query = f"?{'&'.join(written)}" if written else ""
        return f"{address.host}{path}{page}{query}"
