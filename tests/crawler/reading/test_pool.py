from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.pages import (
    NAVIGATION,
    PROSE,
    article,
    page,
    read_page,
    slow_page,
    sluggish_page,
)
from tests.crawler.reading.pools import ONE, TWO, URL, open_pool, read, use
from tests.waiting import until

if TYPE_CHECKING:
    from crawler.reading.pool import ReadingPool
    from crawler.reading.reading import Extract, Reading


class Memory:
    """What a crawl knows: the extracts of pages read so far, by visible text."""

    def __init__(self) -> None:
        self.extracts: dict[bytes, Extract] = {}
        self.asked: list[bytes] = []

    def known(self, digest: bytes) -> Extract | None:
        self.asked.append(digest)
        return self.extracts.get(digest)

    async def read(self, pool: ReadingPool, body: bytes) -> Reading:
        reading = await pool.read(URL, body, None, known=self.known)
        if reading.visible_digest is not None and reading.extract is not None:
            self.extracts[reading.visible_digest] = reading.extract
        return reading


def timeless(reading: Reading) -> Reading:
    return replace(reading, parse_secs=0.0, extract_secs=0.0)


def test_a_worker_reads_what_this_process_would_read() -> None:
    options = ReadingOptions(workers=2, keep_html=True)
    bodies = [
        article(before=f"<ul>{NAVIGATION}</ul>"),
        page("<a href=http://[x>x</a><a rel=nofollow href=y>y</a>", "<meta name=robots content=a>"),
        b"",
        "<p>für Köln".encode("latin-1"),
    ]

    async def act(pool: ReadingPool) -> list[Reading]:
        return await asyncio.gather(*(read(pool, body) for body in bodies))

    for body, reading in zip(bodies, use(options, act), strict=True):
        assert timeless(reading) == timeless(read_page(URL, body, "text/html", options))
        assert reading.parse_secs > 0


async def test_more_pages_than_workers_are_read_each_as_itself() -> None:
    async with open_pool(TWO) as pool:
        bodies = [page(f"<p>{PROSE} {number}</p>") for number in range(200)]
        slow = asyncio.create_task(read(pool, sluggish_page()))
        await until(lambda: pool.busy == 1)
        tasks = [asyncio.create_task(read(pool, body)) for body in bodies]
        # Looked at whenever anything happens: seldom looked at, they may be between two pages.
        await until(lambda: pool.busy == 2, pause_secs=0)
        for number, reading in enumerate(await asyncio.gather(*tasks)):
            assert reading.text is not None
            assert reading.text.split()[-1] == str(number)
        await slow
        assert pool.busy == 0


async def test_workers_are_started_as_pages_wait_for_them() -> None:
    async with open_pool(TWO) as pool:
        assert (pool.size, len(pool.pids)) == (2, 1)
        for _ in range(3):
            await read(pool, article())
        assert len(pool.pids) == 1
        await asyncio.gather(*(read(pool, sluggish_page()) for _ in range(4)))
        assert len(pool.pids) == 2


def test_the_same_visible_text_is_extracted_once() -> None:
    bodies = [
        page(f"<p>{PROSE}</p><a href={number}>on</a>", f"<title>Copy {number}</title>")
        for number in range(12)
    ]
    memory = Memory()

    async def act(pool: ReadingPool) -> list[Reading]:
        return await asyncio.gather(*(memory.read(pool, body) for body in bodies))

    readings = use(TWO, act)
    assert sum(not reading.reused for reading in readings) == 1
    assert len({reading.extract for reading in readings}) == 1
    for number, reading in enumerate(readings):
        assert reading.metadata.title == f"Copy {number}"
        assert [link.url for link in reading.links] == [f"http://host.example/a/{number}"]
        assert (reading.extract_secs == 0) is reading.reused


async def test_what_is_being_extracted_is_waited_for_even_if_another_page_gives_up() -> None:
    body = sluggish_page()
    asked: list[bytes] = []

    async with open_pool(TWO) as pool:
        tasks = [
            asyncio.create_task(pool.read(URL, body, None, known=asked.append)) for _ in range(3)
        ]
        await until(lambda: len(asked) == 3)
        # All are parsed, one is being extracted.
        assert pool.busy == 1
        tasks[2].cancel()
        readings = await asyncio.gather(*tasks[:2])
        assert sorted(reading.reused for reading in readings) == [False, True]
        assert len({reading.extract for reading in readings}) == 1


def test_pages_that_differ_in_what_is_shown_without_scripts_are_no_copies() -> None:
    memory = Memory()
    bodies = [
        page(f"<p>Loading</p><noscript><article><p>{name}. {PROSE}</p></article></noscript>")
        for name in ("Apples", "Bicycles")
    ]

    async def act(pool: ReadingPool) -> list[Reading]:
        return [await memory.read(pool, body) for body in bodies]

    assert not any(reading.reused for reading in use(ONE, act))


def test_pages_that_show_nothing_are_no_copies_of_each_other() -> None:
    memory = Memory()
    bodies = [page("", f"<title>{number}</title>") for number in range(3)]

    async def act(pool: ReadingPool) -> list[Reading]:
        return [await memory.read(pool, body) for body in bodies]

    assert not any(reading.reused for reading in use(ONE, act))
    assert memory.asked == []


def test_only_links_are_read_where_the_rest_is_known() -> None:
    async def act(pool: ReadingPool) -> Reading:
        return await read(pool, article(after="<a href=x>x</a>"), links_only=True)

    reading = use(ONE, act)
    assert [link.url for link in reading.links] == ["http://host.example/a/x"]
    assert reading.extract is None
    assert reading.document(50) is None
    assert reading.failure is None


async def test_what_is_no_page_needs_no_worker() -> None:
    async with open_pool(ONE) as pool:
        blocker = asyncio.create_task(read(pool, slow_page()))
        for _ in range(3):
            reading = await pool.read(URL, b"GIF89a", None, known=lambda _: None)
            assert reading.not_html == "a GIF image"
        assert not blocker.done()
        blocker.cancel()


async def test_a_worker_is_replaced_after_some_pages_which_are_read() -> None:
    async with open_pool(ReadingOptions(workers=1, recycle_pages=2)) as pool:
        assert (await read(pool, article())).extract is not None
        (before,) = pool.pids
        assert (await read(pool, article())).extract is not None
        await until(lambda: pool.pids not in {(), (before,)})
        assert (await read(pool, article())).extract is not None


async def test_an_error_of_the_caller_is_the_callers() -> None:
    def known(_: bytes) -> Extract | None:
        raise LookupError("the store is broken")

    async with open_pool(ONE) as pool:
        with pytest.raises(LookupError, match="the store is broken"):
            await pool.read(URL, article(), None, known=known)
        assert (await read(pool, article())).failure is None


READ_HERE = """
import sys
from crawler.reading.protocol import ReadingOptions
from crawler.reading.page_reading import PageReader
from crawler.reading.reading import ReadingTask
print({"trafilatura", "ssl"} & set(sys.modules))
reader = PageReader(ReadingOptions())
reader.see(reader.parse(ReadingTask("http://site.test/", sys.stdin.buffer.read(), "text/html")))
assert reader.extract().extract.is_main
"""


def test_workers_start_without_what_few_pages_need() -> None:
    body = article(f"{PROSE} Caf\u00e9.")
    ran = subprocess.run(
        [sys.executable, "-c", READ_HERE], input=body, capture_output=True, check=True
    )
    assert ran.stdout == b"set()\n"
