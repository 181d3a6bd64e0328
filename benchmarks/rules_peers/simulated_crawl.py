"""Crawl a site that is a function with the real queue, store and rules, in one process."""

from __future__ import annotations

import gc
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.frontier.order import host_number
from crawler.url_rules.learning.hypothesis import LearningPolicy
from tests.crawler.frontier.ruled import RuledCrawl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.frontier.order import QueuedRequest
    from rules_peers.simulated_site import Answer, SimulatedSite

UNDER_WAY = 8
"""Requests under way at a time: a rule is learned later than with one."""


@dataclass(frozen=True)
class Simulated:
    """What came of a crawl.

    Attributes:
        names: The content of each fetch, in order; None where there was no page.
        lost: Contents that were not fetched.
        rules: The rules that hold at the end.
        links: Links that were met.
        has_ended: The crawl ran out of URLs; False: it came to its number of fetches.
        secs_of_links: CPU seconds in which links were admitted: keys, seen set, rules, queue.
        secs_of_pages: CPU seconds in which pages were taken from the queue, stored and learned
            from, without those in which the site made its answers.
    """

    names: Sequence[str | None]
    lost: frozenset[str]
    rules: Sequence[str]
    links: int
    has_ended: bool
    secs_of_links: float
    secs_of_pages: float


class _Meter:
    """Adds up the CPU time of this process."""

    secs = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        began = time.process_time()
        yield
        self.secs += time.process_time() - began


class _Crawl(RuledCrawl):
    """A crawl that follows the links of each page."""

    def __init__(self, folder: Path, site: SimulatedSite, *, is_learning: bool) -> None:
        self._answers: dict[str, Answer | None] = {}
        self._served = site
        self.links = 0
        self.of_links, self.of_pages = _Meter(), _Meter()
        super().__init__(folder, self._content, policy=LearningPolicy() if is_learning else None)

    def _content(self, url: str) -> str | None:
        answer = self._answers[url]
        return None if answer is None else answer.content

    @property
    def names(self) -> list[str | None]:
        """The content of each fetch."""
        return [self._content(url) for url in self.fetched]

    def answer(self, leased: QueuedRequest) -> None:
        answer = self._answers[leased.url] = self._served.answer(leased.url)
        with self.of_pages.running():
            super().answer(leased)
        if answer is not None:
            with self.of_links.running():
                self._follow(answer.links, leased.depth + 1)

    def _follow(self, links: Sequence[str], depth: int) -> None:
        for link in links:
            self.links += 1
            self.admit(link, host=host_number(urlsplit(link).hostname or ""), depth=depth)

    def run(self, most: int) -> bool:
        """Crawl to the end, or to a number of fetches; return whether it was the end."""
        under_way: deque[QueuedRequest] = deque()
        self._follow(self._served.seeds, 0)
        while len(self.fetched) < most:
            with self.of_pages.running():
                self._fill(under_way)
            if under_way:
                self.answer(under_way.popleft())
                continue
            with self.of_pages.running():
                if not self.rules.validation.try_more():
                    return True
        return False

    def _fill(self, under_way: deque[QueuedRequest]) -> None:
        while len(under_way) < UNDER_WAY:
            self.rules.regrouping.step()
            leased = self.rules.lease(lambda _: 0)
            if leased is not None:
                under_way.append(leased)
            elif not self.rules.is_busy:
                return


def simulate(site: SimulatedSite, most: int, *, is_learning: bool = True) -> Simulated:
    """Crawl a site to its end, or to a number of fetches."""
    gc.collect()  # what earlier crawls left must not be charged to this one
    with TemporaryDirectory(prefix="rules-") as folder:
        crawl = _Crawl(Path(folder), site, is_learning=is_learning)
        has_ended = crawl.run(most)
        names = crawl.names
        rules = [str(rule) for rule in crawl.rules.rules] if is_learning else []
        crawl.close()
    lost = frozenset(site.truth).difference(filter(None, names))
    secs = crawl.of_links.secs, crawl.of_pages.secs
    return Simulated(names, lost, rules, crawl.links, has_ended, *secs)
