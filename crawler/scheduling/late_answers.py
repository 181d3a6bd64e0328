"""Request again, when nothing else is left to do, what may say something else by now."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.downloading.cookies import is_below
from crawler.pages.page_row import StoredUrl
from crawler.pages.url_history import MIN_COPIES
from crawler.pages.verdicts import NEW
from crawler.request_meta import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from scrapy import Request

    from crawler.job import Job

_SAMPLE = 3
"""URLs of a group that are asked first."""

_MAX_GROUPS = 20
"""Groups that are asked at all, the largest of them."""

_MAX_GATES = 3
"""Ask a URL this many times: behind one gate may be another, and some never say the same."""

_Asked = tuple[bytes, str]


class AskingAgain:
    """Requests known URLs once more.

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
        self._end_of = job.frontier.redirects.end_of
        self._times: Counter[bytes] = Counter()

    def _ask_again(self, key: bytes, url: str) -> bool:
        depth = self._job.frontier.seen.depth(key) or 0
        referer = self._job.visits.known.referer(key)
        request = self._spider.known_request(StoredUrl(0, key, url, depth, NEW, referer))
        if request is None:
            return False
        request.meta[WHOLE] = True
        is_queued = self._enqueue(request.replace(dont_filter=True))
        if is_queued:
            self._job.frontier.redirects.forget(key)
            self._times[key] += 1
        return is_queued

    def _content_digest(self, key: bytes) -> bytes | None:
        row = self._job.store.previous(self._end_of(key))
        return None if row is None else row.last_text_digest or row.last_payload_digest


class LateCookies(AskingAgain):
    """Asks again what may have been a gate, where a site set a cookie only after it was asked for.

    A gate stands at many URLs: it redirects them to one, refuses them, or shows one text. When
    nothing else is left to do, some URLs of each such group are asked with the cookies of now, and
    where one of them gives something else, the whole group is. A site that gives cookies to each
    page costs a few requests that way, and none where its seed gave them.

    Of a host that got no cookies, and turns out to need them, all that is known is asked again.
    """

    def __init__(self, job: Job, spider: Any, enqueue: Callable[[Request], bool]) -> None:
        super().__init__(job, spider, enqueue)
        # What the asked URLs of each group said before.
        self._tried: dict[str, dict[bytes, bytes | None]] = {}

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
        asked = {key: url for _, key, url, _ in visits.known.standing(visits.number, least=1)}
        asked.update((page.key, page.url) for page in self._job.store.urls())
        of_host = [(key, url) for key, url in asked.items() if urlsplit(url).hostname == host]
        return sum(self._ask_again(key, url) for key, url in of_host)

    def _groups(self, domains: Iterable[str]) -> list[tuple[str, list[_Asked]]]:
        """Return the largest groups of URLs with one answer; what has none of its kind is one."""
        groups: defaultdict[str, list[_Asked]] = defaultdict(list)
        visits = self._job.visits
        for name, key, url, _ in visits.known.standing(visits.number, least=1):
            host = urlsplit(url).hostname or ""
            if any(is_below(host, domain) for domain in domains):
                groups[name].append((key, url))
        for name in [name for name, urls in groups.items() if len(urls) == 1]:
            groups[name.partition(" ")[0]] += groups.pop(name)
        return sorted(groups.items(), key=lambda group: -len(group[1]))[:_MAX_GROUPS]

    def _ask(self, name: str, urls: list[_Asked]) -> int:
        tried = self._tried.setdefault(name, {})
        changed = {key for key, said in tried.items() if self._content_digest(key) != said}
        is_endless = any(self._times[key] >= _MAX_GATES for key, _ in urls)
        if is_endless or (tried and not changed):
            return 0
        chosen = [one for one in urls if one[0] in changed or one[0] not in tried]
        chosen = chosen if tried else chosen[:_SAMPLE]
        tried.update((key, self._content_digest(key)) for key, _ in chosen)
        return sum(self._ask_again(key, url) for key, url in chosen)


_REST_SECS = 5.0
"""Ask again where an answer was not met for so long."""

_MIN_ROUND = 8
"""Ask for this many URLs at least once one of them gave a page."""

_MAX_FAILURES = 4
"""Ask this many times more in a row where pages came before, each after twice the time: 155 s."""

_MAX_URLS = 10_000
"""URLs of an answer that are held at a time, besides those asked for; then come the others."""

_MAX_HOSTS = 30
"""Hosts with one answer that are asked each by itself; names of hosts may have no end."""


@dataclass(slots=True)
class _Answer:
    """An answer of several URLs.

    Attributes:
        urls: The URLs by their keys, without those that gave a page.
        met_at: The time at which it was met last.
        noted_at: The time at which it was noted here.
        asked: What the URLs of the last round said before, until it is looked at what came.
        size: How many URLs are asked for next; 0: none any more.
        failures: Rounds without a page, one after the other; a page halves them.
        has_opened: Whether any URL gave a page.
    """

    urls: dict[bytes, str] = field(default_factory=dict)
    met_at: float = 0.0
    noted_at: float = field(default_factory=time.time)
    asked: dict[bytes, bytes | None] = field(default_factory=dict)
    size: int = 1
    failures: int = 0
    has_opened: bool = False

    def note(self, opened: Collection[bytes]) -> None:
        """Note which URLs of the last round gave a page."""
        if len(opened) == len(self.asked):
            self.met_at = 0.0  # it is gone
        for key in self.asked:
            url = self.urls.pop(key, None)
            if key not in opened and url is not None:
                self.urls[key] = url  # others are asked for before it
        self.has_opened = self.has_opened or bool(opened)
        self.failures = self.failures // 2 if opened else self.failures + 1
        self.size = max(_MIN_ROUND, 2 * len(opened)) if opened else 1
        if not opened and not (self.has_opened and self.failures <= _MAX_FAILURES):
            self.size = 0
        self.asked = {}


class PassingAnswers(AskingAgain):
    """Asks again where one answer came in place of pages, since it may have come for a while.

    A site that is being mended, or was asked too often, may say so with HTTP 200 or 403, or by a
    redirect. When nothing else is left to do, one URL of each such answer is asked for. Where a
    page comes, more are asked, twice as many as gave pages the last time, until all pages came or
    none does. So an answer that stays costs a host one request a visit, a status three, and a
    server that bears few requests is asked for few. A replay, a fleet and a spider of another
    project ask for nothing.

    Attributes:
        is_due: Whether some may be left to be asked for.
        due_at: The time of the monotonic clock at which the next one is to be asked for.
    """

    def __init__(self, job: Job, spider: Any, enqueue: Callable[[Request], bool]) -> None:
        super().__init__(job, spider, enqueue)
        self._answers: defaultdict[tuple[str, str], _Answer] = defaultdict(_Answer)
        self._hosts: defaultdict[str, set[str]] = defaultdict(set)
        # Where URLs led that were asked for: a page of a gate stays what it is.
        self._led_to: set[bytes] = set()
        self.due_at = math.inf
        # An archive gives no other answer.
        self.is_due = job.fleet is None and hasattr(spider, "parse_control")
        if not self.is_due:
            self._notes.note_passing(asks=False)

    def ask(self) -> bool:
        """Ask for some URLs, where there is nothing else to do; return whether there are any."""
        if not self.is_due or time.monotonic() < self.due_at < math.inf:
            return False
        self.due_at = math.inf
        standing, visits = set[bytes](), self._job.visits
        asked = {key for answer in self._answers.values() for key in answer.asked}
        for name, key, url, met_at in visits.known.standing(visits.number):
            host = urlsplit(url).netloc
            hosts = self._hosts[name]
            if len(hosts) < _MAX_HOSTS:
                hosts.add(host)
            answer = self._answers[(name, host if host in hosts else "")]
            answer.met_at = max(answer.met_at, met_at or answer.noted_at)
            if key in asked:
                standing.add(key)
            elif key not in self._led_to and len(answer.urls) - len(answer.asked) < _MAX_URLS:
                answer.urls[key] = url
        found = 0
        for (name, _), answer in self._answers.items():
            is_new = not (answer.asked or answer.failures or answer.has_opened)
            if is_new and name.startswith("redirect "):  # its name is what it says now
                answer.size = int(all(self._times[key] < _MAX_GATES for key in answer.urls))
            elif is_new and name.startswith("status "):
                # Those of all hosts were counted, and some of them may be gone for good.
                answer.size = _SAMPLE if len(answer.urls) >= MIN_COPIES else 0
            found += self._ask_some(answer, standing)
        self.is_due = found > 0 or self.due_at < math.inf
        self._notes.note_passing(asks=self.is_due)
        return found > 0

    def note_left(self) -> None:
        """Store that some may be left, where a crawl ends before all were asked for."""
        if self.is_due:
            standing = self._job.visits.known.standing(self._job.visits.number)
            self._notes.note_passing(asks=any(standing))

    def _ask_some(self, answer: _Answer, standing: Collection[bytes]) -> int:
        """Ask for some URLs of an answer, unless it was met a short while ago."""
        if answer.asked:
            answer.note([key for key in answer.asked if self._has_opened(key, answer, standing)])
        if not answer.size or not answer.urls:
            return 0
        secs = answer.met_at + _REST_SECS * 2**answer.failures - time.time()
        if secs > 0:
            self.due_at = min(self.due_at, time.monotonic() + secs)
            return 0
        chosen = list(islice(answer.urls.items(), answer.size))
        self._led_to.update({self._end_of(key) for key, _ in chosen} - dict(chosen).keys())
        answer.asked = {key: self._content_digest(key) for key, _ in chosen}
        return sum(self._ask_again(key, url) for key, url in chosen)

    def _has_opened(self, key: bytes, answer: _Answer, standing: Collection[bytes]) -> bool:
        return key not in standing and self._content_digest(key) != answer.asked[key]
