"""Real pages, damaged in every way that hypothesis thinks of, through real workers.

Whatever comes, each is answered: by a reading, or by a failure that says why.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.demo.demo_server import pages
from crawler.reading.pool import ReadingPool
from crawler.reading.protocol import ReadingOptions
from tests.crawler.reading.pages import article
from tests.crawler.reading.pools import URL, nothing_known
from tests.sites.packages import sites_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.reading.reading import Reading

    Read = Callable[[bytes, str | None], Reading]

pytestmark = pytest.mark.slow

LIMITS = ReadingOptions(workers=2, timeout_secs=5, memory_limit_mb=512, max_links=1000)
SERVED = 12  # pages of each site that is unpacked on this machine
CHARSETS = ("utf-8", "us-ascii", "iso-8859-1", "utf-16", "utf-7", "gb18030", "shift_jis", "hz", "x")
PIECES = (
    b"<", b">", b"&", b'"', b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"<!--", b"-->", b"]]>", b"&#0;",
    b"<a href=", b"&#xFFFF;", b"</html>", b"<html/>", b"<base href=//x/>", b"<svg><title>",
    b"<noframes>", b"<plaintext>", b"<script>", b"<table><td>" * 99, b"<div>" * 3000,
    b"\xed\xa0\x80", b"\x1b$B",
)  # fmt: skip


@cache
def originals() -> list[bytes]:
    """Pages of the demo, and of the documentation that is unpacked here, in a fixed order."""
    bodies = [page.body for _, page in sorted(pages("http://host.example").items())]
    for site in sorted(sites_folder().glob("*/")):
        files = [path for path in site.rglob("*.html") if path.stat().st_size < 150_000]
        step = max(1, len(files) // SERVED)
        bodies += [path.read_bytes() for path in sorted(files)[::step][:SERVED]]
    return [body for body in bodies if body]


def declared(body: bytes, charset: str) -> bytes:
    """A page that calls itself something else."""
    return f'<meta charset="{charset}">'.encode() + body.replace(b"utf-8", charset.encode())


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A real page after one to six changes, each at a place of its own."""
    body = draw(st.sampled_from(originals()))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(body)))
        end = min(len(body), start + draw(st.sampled_from([0, 1, 4, 60, 2000])))
        change = draw(st.sampled_from(["flip", "cut", "splice", "piece", "repeat", "declare"]))
        if change == "flip":
            mask = draw(st.integers(1, 255))
            body = body[:start] + bytes(byte ^ mask for byte in body[start:end]) + body[end:]
        elif change == "cut":
            body = body[:start] if draw(st.booleans()) else body[end:]
        elif change == "splice":
            other = draw(st.sampled_from(originals()))
            body = body[:start] + other[len(other) // 3 :][:4000] + body[end:]
        elif change == "piece":
            body = body[:start] + draw(st.sampled_from(PIECES)) + body[end:]
        elif change == "repeat":
            body = body[:start] + body[start:end] * draw(st.integers(2, 20)) + body[end:]
        else:
            body = declared(body, draw(st.sampled_from(CHARSETS)))
    return body


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    """One pool for all pages, so that what one leaves behind would show in the next."""
    loop = asyncio.new_event_loop()
    pool = ReadingPool(LIMITS)
    loop.run_until_complete(pool.start())

    def read_one(body: bytes, content_type: str | None) -> Reading:
        reading = pool.read(URL, body, content_type, known=nothing_known)
        return loop.run_until_complete(reading)

    yield read_one
    loop.run_until_complete(pool.close())
    loop.close()


class TestMutatedPages:
    @settings(max_examples=250, deadline=None)
    @given(
        body=mutated(),
        content_type=st.sampled_from(
            [None, "text/html", "", "text/plain", *(f"text/html; charset={c}" for c in CHARSETS)]
        ),
    )
    def test_each_is_read_or_refused_with_a_reason(
        self, read: Read, body: bytes, content_type: str | None
    ) -> None:
        reading = read(body, content_type)
        answers = [reading.not_html, reading.failure, reading.extract]
        assert [answer is not None for answer in answers].count(True) == 1
        assert reading.failure != ""
        assert reading.not_html != ""
        check_storable(reading)

    def test_a_good_page_is_read_after_them(self, read: Read) -> None:
        reading = read(article(), "text/html")
        assert reading.failure is None
        assert reading.text


def check_storable(reading: Reading) -> None:
    """Every text can be written to a database, and every link has a key."""
    texts: list[Any] = [
        reading.text,
        reading.failure,
        *reading.metadata[:5],
        *reading.metadata.robots,
    ]
    texts += [link.url for link in reading.links]
    for text in filter(None, texts):
        text.encode()
    assert len(reading.links) <= LIMITS.max_links
    assert {len(link.key) for link in reading.links} <= {16}
    assert len({link.key for link in reading.links}) == len(reading.links)
