"""Crawl a site that is a function with the real queue, store and rules, in one process."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.frontier.order import host_number
from tests.crawler.frontier.ruled import RuledCrawl

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        learning_secs: CPU seconds spent on rules, beside those of the queue.
    """

    names: Sequence[str | None]
    lost: frozenset[str]
    rules: Sequence[str]
    links: int
    secs_of_links: float
    secs_of_pages: float


class _Crawl(RuledCrawl):
    """A crawl that follows the links of each page."""

    def __init__(self, folder: Path, site: SimulatedSite) -> None:
        self._answers: dict[str, Answer | None] = {}
        self._served = site
        self.links = 0
        self.secs_of_links = self.secs_of_pages = 0.0
        super().__init__(folder, self._content)

    def _content(self, url: str) -> str | None:
        answer = self._answers[url] = self._served.answer(url)
        return None if answer is None else answer.content

    def answer(self, leased: QueuedRequest) -> None:
        began = time.perf_counter()
        super().answer(leased)
        self.secs_of_pages += time.perf_counter() - began
        answer = self._answers[leased.url]
        if answer is None:
            return
        began = time.perf_counter()
        for link in answer.links:
            self.links += 1
            host = host_number(urlsplit(link).hostname or "")
            self.admit(link, host=host, depth=leased.depth + 1)
        self.secs_of_links += time.perf_counter() - began

    def run(self, most: int) -> None:
        under_way: deque[QueuedRequest] = deque()
        for url in self._served.seeds:
            self.admit(url, host=host_number(urlsplit(url).hostname or ""))
        while len(self.fetched) < most:
            while len(under_way) < UNDER_WAY:
                self.rules.regroup_some()
                leased = self.rules.lease(lambda _: 0)
                if leased is None and self.rules.is_busy:
                    continue
                if leased is None:
                    break
                under_way.append(leased)
            if under_way:
                self.answer(under_way.popleft())
            elif not self.rules.try_more():
                break


def simulate(site: SimulatedSite, most: int) -> Simulated:
    """Crawl a site to its end, or to a number of fetches."""
    with TemporaryDirectory(prefix="rules-") as folder:
        crawl = _Crawl(Path(folder), site)
        crawl.run(most)
        names = [
            None if one is None else one.content for one in map(crawl._answers.get, crawl.fetched)
        ]
        rules = [str(rule) for rule in crawl.rules.rules]
        crawl.close()
    lost = frozenset(site.truth).difference(filter(None, names))
    return Simulated(names, lost, rules, crawl.links, crawl.secs_of_links, crawl.secs_of_pages)
