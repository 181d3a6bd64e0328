"""In whatever order pages answer, a crawl of bounded depth is plain breadth first."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier.order import NewRequest, QueuedRequest, ShorterWay
from crawler.frontier.queue import MemoryQueue, RequestQueue
from crawler.frontier.seen import SeenSet
from crawler.storage.database import Database
from tests.sites.graph import nearest

PAGES = 9
UNDER_WAY = 3
GRAPHS = st.lists(
    st.lists(st.integers(1, PAGES - 1), max_size=3), min_size=PAGES, max_size=PAGES
).map(lambda rows: {str(page): [str(to) for to in row] for page, row in enumerate(rows)})


class Crawl:
    """Queue and seen set as the scheduler uses them, and a site that answers when it is told."""

    def __init__(self, links: dict[str, list[str]], limit: int, *, in_memory: bool) -> None:
        self.links, self.limit = links, limit
        self.database = Database(None)
        self.queue = (MemoryQueue if in_memory else RequestQueue)(self.database)
        self.seen = SeenSet(self.database, None)
        self.under_way: list[QueuedRequest] = []
        self.fetched: Counter[str] = Counter()
        self._meet("0", 0)

    def _meet(self, page: str, depth: int) -> None:
        key = page.encode().rjust(16)
        if self.seen.add(key, depth):
            self.seen.take(key)
            self.queue.push(NewRequest(len(page), page, 0, b"fetch", key, depth=depth))
        elif depth < (self.seen.depth(key) or 0):
            self.seen.lower(key, depth)
            self.queue.lower(ShorterWay(key, depth, len(page), page, 0, b"again"))

    def lease(self) -> bool:
        found = self.queue.lease(lambda _: 0) if len(self.under_way) < UNDER_WAY else None
        if found is not None:
            self.under_way.append(found)
            self.fetched[found.url] += found.request == b"fetch"
        return found is not None

    def answer(self, at: int) -> None:
        page = self.under_way.pop(at % len(self.under_way))
        if page.depth < self.limit:
            for to in self.links[page.url]:
                self._meet(to, page.depth + 1)
        self.queue.finish([page.id])

    def depths(self) -> dict[str, Any]:
        return {page: self.seen.depth(page.encode().rjust(16)) for page in self.fetched}


class TestShorterWaysProperties:
    @given(GRAPHS, st.integers(1, 4), st.booleans(), st.data())
    @settings(deadline=None, max_examples=300)
    def test_every_page_within_the_depth_is_fetched_once(
        self,
        links: dict[str, list[str]],
        limit: int,
        in_memory: bool,
        data: st.DataObject,
    ) -> None:
        crawl = Crawl(links, limit, in_memory=in_memory)
        while crawl.under_way or len(crawl.queue):
            if not (data.draw(st.booleans()) and crawl.lease()):
                if crawl.under_way:
                    crawl.answer(data.draw(st.integers(0, UNDER_WAY - 1)))
                else:
                    crawl.lease()
        within = {page: deep for page, deep in nearest(links, "0").items() if deep <= limit}
        assert crawl.fetched == dict.fromkeys(within, 1)
        assert crawl.depths() == within
        crawl.database.close()
