"""Ask again what may have been a gate, where a site set a cookie only after it was asked for.

A gate stands at many URLs: it redirects them to one, refuses them, or shows one text. When nothing
else is left to do, some URLs of each such group are asked with the cookies of now, and where one of
them gives something else, the whole group is. A site that gives cookies to each page costs a few
requests that way, and none where its seed gave them.

Of a host that got no cookies, and turns out to need them, all that is known is asked again.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.downloading.cookies import is_below
from crawler.pages.page_store import StoredUrl
from crawler.pages.verdicts import NEW
from crawler.request_meta import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request

    from crawler.job import Job

_SAMPLE = 3
"""URLs of a group that are asked first."""

_MAX_GROUPS = 20
"""Groups that are asked at all, the largest of them."""

_Asked = tuple[bytes, str]


class LateCookies:
    """Asks again, where cookies came late.

    Args:
        job: What is stored.
        spider: Makes requests for known URLs; one of another project has no such method.
        enqueue: Queues a request.
    """

    def __init__(self, job: Job, spider: Any, enqueue: Callable[[Request], bool]) -> None:
        self._job = job
        self._notes = job.visits.notes
        self._spider = spider
        self._enqueue = enqueue
        # What the asked URLs of each group said before; empty when the group is through.
        self._tried: dict[str, dict[bytes, bytes | None]] = {}

    @property
    def is_due(self) -> bool:
        return self._job.visits.asks_with_cookies

    def ask(self) -> bool:
        """Ask for some URLs again, where there is nothing else to do; return whether there are."""
        domains = self._notes.late_cookies
        found = sum(map(self._ask_all, self._job.visits.cookies.due))
        if domains:
            found += sum(self._ask(name, urls) for name, urls in self._groups(domains))
        if domains and not found:
            self._notes.forget_late_cookies()
        return found > 0

    def _ask_all(self, host: str) -> int:
        """Ask again for all that is known of a host."""
        self._job.visits.cookies.note_asked_again(host)
        visits = self._job.visits
        asked = {key: url for _, key, url in visits.known.repeated(visits.number)}
        asked.update((page.key, page.url) for page in self._job.store.urls())
        of_host = [(key, url) for key, url in asked.items() if urlsplit(url).hostname == host]
        return sum(self._ask_again(key, url) for key, url in of_host)

    def _groups(self, domains: Iterable[str]) -> list[tuple[str, list[_Asked]]]:
        """Return the largest groups of URLs with one answer; what has none of its kind is one."""
        groups: defaultdict[str, list[_Asked]] = defaultdict(list)
        for name, key, url in self._job.visits.known.repeated(self._job.visits.number):
            host = urlsplit(url).hostname or ""
            if any(is_below(host, domain) for domain in domains):
                groups[name].append((key, url))
        for name in [name for name, urls in groups.items() if len(urls) == 1]:
            groups[name.partition(" ")[0]] += groups.pop(name)
        return sorted(groups.items(), key=lambda group: -len(group[1]))[:_MAX_GROUPS]

    def _ask(self, name: str, urls: list[_Asked]) -> int:
        tried = self._tried.get(name)
        if tried is None:
            chosen = urls[:_SAMPLE]
        elif any(self._said(key) != said for key, said in tried.items()):
            chosen = [(key, url) for key, url in urls if key not in tried]
        else:
            chosen = []
        self._tried[name] = {} if tried else {key: self._said(key) for key, _ in chosen}
        return sum(self._ask_again(key, url) for key, url in chosen)

    def _said(self, key: bytes) -> bytes | None:
        row = self._job.store.previous(key)
        return None if row is None else row.last_text_digest or row.last_payload_digest

    def _ask_again(self, key: bytes, url: str) -> bool:
        depth = self._job.frontier.seen.depth(key) or 0
        referer = self._job.visits.known.referer(key)
        request = self._spider.known_request(StoredUrl(0, key, url, depth, NEW, referer))
        if request is None:
            return False
        self._job.frontier.redirects.forget(key)
        request.meta[WHOLE] = True
        return self._enqueue(request.replace(dont_filter=True))
