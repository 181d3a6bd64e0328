"""Decide of each host whether its pages need the cookies that it sets.

A session may be shown: "recently viewed" of a shop, the trail of a wiki. Such a page says something
else after each other page, and no second URL of it is a copy. So where many pages came with the
cookies of a host, some are asked for without. Where each says the same then, but for links that
other pages had too, the host gets no cookies any more, in this visit and in later ones.

From then on what may be a gate is asked for with the cookies too: answers that are no page, the
first pages of each verdict in each section of a host, and some of all others. The first that is
another page with the cookies ends it for good, and what came without is asked for again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from crawler.downloading.cookies import is_below
from crawler.pages.verdicts import CHANGED, NEW, SAME_TEMPLATE, UNCHANGED
from crawler.storage import meta_names
from neardup.volatile.phrases import masked
from neardup.whole import split_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from crawler.reading.reading import Link, Reading
    from crawler.storage.database import Database

MIN_PAGES = 30
"""Try what the cookies of a host do once this many of its pages came with them."""

PROOFS = 4
"""Ask for this many of these pages without cookies."""

NEEDLESS = (
    f"{PROOFS} of {MIN_PAGES} pages were the same without, but for links that others have too"
)
"""The reason why a host gets no cookies, in words."""

_CHECKED_EVERY = 20
"""Check one in this many doubtful answers that came without cookies, and all of the first."""

_SOUND_EVERY = 50
"""Check one in this many pages with a text of their own, and all of the first."""

_SOUND = frozenset({NEW, CHANGED, UNCHANGED, SAME_TEMPLATE})

_PAGES_FIRST = 3
"""Pages of one verdict in one section of a host that are the first."""

_FAILURES_FIRST = 100
"""Answers of one status from a host that are the first."""

_MAX_SECTIONS = 50
"""Verdicts in sections of a host that are counted one by one."""

_MAX_HOSTS = 1_000
"""Try the cookies of this many hosts, and count the pages of this many at a time."""

_NEEDED = -1  # below 0: cookies are sent; from 0 on it counts pages to try
_WORD = re.compile(r"\w+")


class HostCookies(NamedTuple):
    """Knowledge of the cookies of a host.

    Attributes:
        left: Pages still to be compared; 0 once the cookies are needless, -1 where they are needed.
        names: Names of the cookies that were sent.
        labels: Words beside links that each compared page has with the cookies alone, such as those
            above a trail; none, or the same on several of them.
        has_trail: Whether a page showed which pages were fetched before it.
        is_due: Whether what came without cookies is to be asked for again.
    """

    left: int
    names: Sequence[str] = ()
    labels: Sequence[Sequence[str]] = ()
    has_trail: bool = False
    is_due: bool = False


class Answer(NamedTuple):
    """The texts and links of a page, with cookies or without.

    Attributes:
        text: Its text as it is judged.
        visible_digest: Digest of all visible text.
        links: Its links.
        language: Its language.
    """

    text: str
    visible_digest: bytes | None
    links: Sequence[Link]
    language: str | None = None

    @classmethod
    def of(cls, reading: Reading) -> Answer:
        from crawler.pages.stored_texts import unpack_judged  # noqa: PLC0415  # reports need no numpy

        text = "" if reading.extract is None else unpack_judged(reading.extract.text_zstd)
        return cls(text, reading.visible_digest, reading.links, reading.metadata.language)


class CookieDifference(NamedTuple):
    """The links and words that a page has with cookies alone.

    Attributes:
        label: Words beside links, such as those above a trail.
        is_trail: Whether its links, or their order, are others.
    """

    label: list[str]
    is_trail: bool


@dataclass(slots=True)
class _Sent:
    """The pages that came with the cookies of a host before these are tried."""

    count: int = 0
    names: set[str] = field(default_factory=set)
    chosen: list[Any] = field(default_factory=list)


class NeedlessCookies:
    """The hosts whose cookies were tried, in ``meta``.

    Args:
        database: The crawl's database.

    Attributes:
        is_on: Whether cookies are tried.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        stored = json.loads(database.meta(meta_names.HOST_COOKIES) or "{}")
        self._hosts = {host: HostCookies(*state) for host, state in stored.items()}
        self._sent: dict[str, _Sent] = {}
        self._seen: Counter[tuple[str, str, str]] = Counter()
        self.is_on = False

    def are_sent(self, host: str) -> bool:
        """Return whether a host gets its cookies."""
        return not self.is_on or self._of(host).left != 0

    def are_untried(self, host: str) -> bool:
        """Return whether it is open what the cookies of a host do."""
        return host not in self._hosts and len(self._hosts) < _MAX_HOSTS

    def shows_trail(self, host: str) -> bool:
        """Return whether a host that gets no cookies shows another text with them."""
        return not self.are_sent(host) and self._of(host).has_trail

    def note_sent(self, host: str, names: Collection[str], request: Any) -> list[Any]:
        """Count a page that came with cookies; return requests to be made without, mostly none.

        Args:
            host: Its host.
            names: Names of the cookies.
            request: The one that asks for it without; None where it cannot be compared.
        """
        if not self.are_untried(host):
            return []
        sent = self._sent[host] = self._sent.pop(host, _Sent())
        while len(self._sent) > _MAX_HOSTS:
            del self._sent[next(iter(self._sent))]  # no page of it came for the longest time
        sent.count += 1
        sent.names.update(names)
        # Spread over the pages that came.
        if request is not None and sent.count * PROOFS >= (len(sent.chosen) + 1) * MIN_PAGES:
            sent.chosen.append(request)
        if len(sent.chosen) < PROOFS:
            return []
        del self._sent[host]
        self._put(host, HostCookies(PROOFS, sorted(sent.names)))
        return sent.chosen

    def note_proof(self, host: str, more: CookieDifference | None) -> bool:
        """Take the comparison of a page; return whether the host gets no cookies from now on.

        Args:
            host: Its host.
            more: What it has more with the cookies; None: it is another page without.
        """
        state = self._of(host)
        if state.left <= 0:
            return False
        labels = [] if more is None else [*state.labels, more.label]
        named = [label for label in labels if label]
        is_content = state.left == 1 and len(named) == 1  # what one page has is no label
        if more is None or is_content or any(label != named[0] for label in named):
            self.need(host)
            return False
        has_trail = more.is_trail or state.has_trail
        self._put(host, HostCookies(state.left - 1, state.names, labels, has_trail))
        return state.left == 1

    def note_check(self, host: str, more: CookieDifference | None) -> None:
        """Take the comparison of a page of a host that gets no cookies."""
        if more is None or more.label not in ([], *self._of(host).labels):
            self.need(host)

    def note_new(self, domain: str, name: str) -> None:
        """Send cookies again where a site sets one that it had not when they were tried."""
        for host, state in list(self._hosts.items()):
            if state.left >= 0 and is_below(host, domain) and name not in state.names:
                self._put(host, HostCookies(_NEEDED))  # LateCookies asks again what it may change

    def need(self, host: str) -> None:
        """Send its cookies to a host, for good, and have asked again what came without."""
        state = self._of(host)
        if state.left >= 0:
            self._put(host, HostCookies(_NEEDED, is_due=state.left == 0))

    def is_checked(self, host: str, kind: str, url: str | None = None) -> bool:
        """Return whether what came without cookies is to be asked for with them.

        Args:
            host: Its host.
            kind: The verdict on a page, the status of an answer that is none.
            url: The URL of a page; None for an answer that is none.
        """
        if self.are_sent(host):
            return False
        first = _FAILURES_FIRST if url is None else _PAGES_FIRST
        key = (host, kind, "" if url is None else _section(url))
        if key not in self._seen:
            self._seen[host, "", ""] += 1
        if self._seen[host, "", ""] > _MAX_SECTIONS:
            key = (host, kind, "")
        self._seen[key] += 1
        every = _SOUND_EVERY if kind in _SOUND else _CHECKED_EVERY
        return self._seen[key] <= first or self._seen[key] % every == 0

    @property
    def due(self) -> list[str]:
        """Hosts of which is to be asked for again what came without cookies."""
        return [host for host, state in self._hosts.items() if state.is_due]

    def note_asked_again(self, host: str) -> None:
        self._put(host, self._of(host)._replace(is_due=False))

    def _of(self, host: str) -> HostCookies:
        return self._hosts.get(host, HostCookies(_NEEDED))

    def _put(self, host: str, state: HostCookies) -> None:
        self._hosts[host] = state
        self._database.set_meta(meta_names.HOST_COOKIES, json.dumps(self._hosts))


def needless_hosts(stored: str | None) -> list[str]:
    """Return the hosts that get no cookies, by what ``meta`` has of all."""
    return [host for host, state in json.loads(stored or "{}").items() if state[0] == 0]


def difference(
    sent: Answer, unsent: Answer, is_known: Callable[[bytes], bool]
) -> CookieDifference | None:
    """Return what a page has more with cookies; None: it is another one without.

    Args:
        sent: The page with cookies.
        unsent: The page without.
        is_known: Function that tells whether another page led to the URL with a key.
    """
    ours, theirs = (_signs(one.links) for one in (sent, unsent))
    lacking = [link for link in unsent.links if not ours & _signs([link])]
    extra = [link for link in sent.links if not theirs & _signs([link])]
    with_cookies, without = (_words(one.text, sent.language) for one in (sent, unsent))
    if lacking or without - with_cookies or not all(is_known(link.key) for link in extra):
        return None
    linked = _words("\n".join(link.text for link in sent.links))
    words = (with_cookies - without).elements()
    is_trail = sent.visible_digest != unsent.visible_digest
    return CookieDifference(sorted(word for word in words if word not in linked), is_trail)


def _signs(links: Iterable[Link]) -> set[object]:
    """Return what tells that links are the same: their keys or texts, and no values of arguments.

    Some sites write the session into the URLs, which then lead on, of those who send no cookie.
    """
    signs: set[object] = set()
    for link in links:
        parts = urlsplit(link.url)
        names = sorted(argument.partition("=")[0] for argument in parts.query.split("&"))
        signs.add((link.key, parts.path, *names))
        if link.text:
            signs.add((link.text, parts.path, *names))
    return signs


def _words(text: str, language: str | None = None) -> Counter[str]:
    found: Counter[str] = Counter()
    for part in set(split_whole(text)):
        lines = (masked(line, language) for line in part.splitlines())
        found |= Counter(word for line in lines for word in _WORD.findall(line))
    return found


def _section(url: str) -> str:
    path = urlsplit(url).path
    return path[: path.find("/", 1) + 1]
