"""Sites of numbered pages, each under several URLs that may say something else on a few pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from rules_peers.simulated_site import SITE, Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGES = 315
_CHILDREN = 3
_VARIABLE = re.compile(r"\b(?:N|TOKEN|SLUG)\b|(?<=_)TOKEN|(?<=_)N(?=_)")
_WORDS = "red green blue old new small large fast slow first last open wide long".split()

Third = Literal["", "early", "late"]

SHARES = ("facebook", "twitter", "email", "print")


@dataclass
class Aliases:
    """Numbered pages, each under several URLs, that lead to one another as in a tree.

    Attributes:
        links: URLs by which a page links to another. ``N`` is its number, ``TOKEN`` a new id in
            each link, ``SLUG`` one of 196 pairs of words.
        pattern: A regular expression of all URLs. Its group ``n`` is the number of the page, its
            group ``v`` what matters on pages that are exceptions.
        variants: The values of the group ``v``.
        exceptions: How many of a hundred pages say something else for each variant.
        third: Which third of the pages has the exceptions; any of them without a word.
        seed: Chooses exceptions and ids.
    """

    links: Sequence[str]
    pattern: str
    variants: Sequence[str] = ()
    exceptions: float = 0.0
    third: Third = ""
    seed: int = 1
    size: int = PAGES
    seeds: Sequence[str] = (f"{SITE}/",)
    truth: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._chance = Random(self.seed)
        self._read = re.compile(self.pattern)
        count = round(self.size * self.exceptions / 100)
        begin = 2 * self.size // 3 if self.third == "late" else 1
        numbers = range(begin, self.size // 3 if self.third == "early" else self.size)
        self._differing = set(self._chance.sample(numbers, min(count, len(numbers))))
        names = [str(number) for number in range(self.size)]
        names += [f"{n} {variant}" for n in self._differing for variant in self.variants]
        self.truth = frozenset(names)

    def answer(self, url: str) -> Answer | None:
        """Return the page at a URL; None where there is none."""
        is_seed = urlsplit(url).path in {"", "/"} and not urlsplit(url).query
        found = None if is_seed else self._read.fullmatch(url)
        if not is_seed and found is None:
            return None
        number = 0 if found is None else int(found["n"])
        variant = found["v"] if found is not None and "v" in self._read.groupindex else None
        if number >= self.size:
            return None
        first = _CHILDREN * number + 1
        targets = [*range(first, min(first + _CHILDREN, self.size)), *range(number)[-1:]]
        written = [self._write(link, target) for target in targets for link in self.links]
        is_other = variant and number in self._differing
        return Answer(f"{number} {variant}" if is_other else str(number), written)

    def _write(self, link: str, number: int) -> str:
        chance = self._chance
        values = {
            "N": str(number),
            "TOKEN": f"{chance.getrandbits(40):010x}",
            "SLUG": f"{chance.choice(_WORDS)}-{chance.choice(_WORDS)}",
        }
        return _VARIABLE.sub(lambda found: values[found[0]], link)


ALIASES: dict[str, tuple[Sequence[str], str]] = {
    "matrix": ((f"{SITE}/a/N;sz=TOKEN",), r".*/a/(?P<n>\d+);sz=\w+"),
    "slug": ((f"{SITE}/p-N-SLUG",), r".*/p-(?P<n>\d+)-[\w-]+"),
    "id and slug": ((f"{SITE}/p/N/SLUG",), r".*/p/(?P<n>\d+)/[\w-]+"),
    "id in a name": ((f"{SITE}/doc_N_TOKEN.html",), r".*/doc_(?P<n>\d+)_\w+\.html"),
    "session in the path": ((f"{SITE}/s/TOKEN/N",), r".*/s/\w+/(?P<n>\d+)"),
    "session and source": ((f"{SITE}/s/TOKEN/p/N?from=SLUG",), r".*/s/\w+/p/(?P<n>\d+)\?from=.*"),
    "session in the query": ((f"{SITE}/p?id=N&sid=TOKEN",), r".*/p\?id=(?P<n>\d+)&sid=\w+"),
    "endless next": ((f"{SITE}/p/N?next=/p/TOKEN",), r".*/p/(?P<n>\d+)\?next=.*"),
    "where it stood": ((f"{SITE}/p?id=N&from=/p/TOKEN&pos=N",), r".*/p\?id=(?P<n>\d+)&from=.*"),
    "posts": ((f"{SITE}/t/SLUG/N", f"{SITE}/t/SLUG/N/TOKEN"), r".*/t/[\w-]+/(?P<n>\d+)(?:/\w+)?"),
    "no duplicates": ((f"{SITE}/p/N",), r".*/p/(?P<n>\d+)"),
}
"""Sites by name: their links, and all their URLs; on none of them does the rest of a URL matter."""

VARIED: dict[str, tuple[Sequence[str], str, Sequence[str]]] = {
    "print": (
        (f"{SITE}/p/N", f"{SITE}/print/p/N"),
        r".*test/(?:(?P<v>print)/)?p/(?P<n>\d+)",
        ("print",),
    ),
    "share": (
        (f"{SITE}/p/N", *(f"{SITE}/p/N?share={name}" for name in SHARES)),
        r".*/p/(?P<n>\d+)(?:\?share=(?P<v>\w+))?",
        SHARES,
    ),
    "session and share": (
        (f"{SITE}/s/TOKEN/p/N", *(f"{SITE}/s/TOKEN/p/N?share={name}" for name in SHARES)),
        r".*/s/\w+/p/(?P<n>\d+)(?:\?share=(?P<v>\w+))?",
        SHARES,
    ),
    "slash": ((f"{SITE}/p/N", f"{SITE}/p/N/"), r".*/p/(?P<n>\d+)(?P<v>/?)", ("/",)),
    "index.html": (
        (f"{SITE}/p/N/", f"{SITE}/p/N/index.html"),
        r".*/p/(?P<n>\d+)/(?P<v>index.html)?",
        ("index.html",),
    ),
    "two hosts": (
        (f"{SITE}/p/N", "http://www.site.test/p/N"),
        r"http://(?P<v>www\.)?site.test/p/(?P<n>\d+)",
        ("www.",),
    ),
    "two schemes": (
        (f"{SITE}/p/N", "https://site.test/p/N"),
        r"http(?P<v>s)?://site.test/p/(?P<n>\d+)",
        ("s",),
    ),
    "capitals": (
        (f"{SITE}/docs/N", f"{SITE}/Docs/N"),
        r".*/(?:docs|(?P<v>Docs))/(?P<n>\d+)",
        ("Docs",),
    ),
    "AMP": ((f"{SITE}/p/N", f"{SITE}/p/N/amp"), r".*/p/(?P<n>\d+)(?:/(?P<v>amp))?", ("amp",)),
    "three hosts": (
        (f"{SITE}/p/N", "http://www.site.test/p/N", "http://cdn.site.test/p/N"),
        r"http://(?:(?P<v>www|cdn)\.)?site.test/p/(?P<n>\d+)",
        ("www", "cdn"),
    ),
}
"""Sites whose aliases may say something else on some pages: links, URLs, and the variants."""
