"""Texts that workers share on one Redis, also where the directory of one is lost."""

from __future__ import annotations

import asyncio
import random
import uuid
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from crawler.fleet.deduplication import (
    MAX_BESIDE_BYTES,
    FleetVerdicts,
    kept_texts,
    pack_beside,
    unpack_beside,
)
from crawler.fleet.membership import prefix_of
from crawler.job import Job
from crawler.maintenance.merge.fleet_texts import FleetRecord
from crawler.maintenance.merge.merging import merge
from crawler.reading.content.content_xml import PackedContent, pack_lines
from neardup import Parameters
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from neardup.whole import with_whole
from tests.crawler.maintenance.merge.crawls import rows
from tests.crawler.maintenance.merge.test_any_deal import problems
from tests.crawler.maintenance.merge.test_merging import texts
from tests.crawler.maintenance.rejudge.captured import Said, content_of
from tests.crawler.pages.test_capture import OPTIONS
from tests.crawler.pages.test_sharing import said
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

LONG = prose("long", 200)
NEAR = f"{LONG} And a few words more."


@pytest.fixture(params=["redis_url", "cluster_url"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found


async def crawl(url: str, name: str, jobs: list[Job]) -> list[str]:
    """Each worker fetches a page that says the same, or nearly; the verdicts."""
    server = await connect(url, prefix_of(name))
    try:
        shared = SharedDeduplicator(server, Parameters())
        await shared.open()
        for job in jobs:
            job.begin_visit()
            job.processor.share(FleetVerdicts(shared, server.prefix, pytest.fail))
        pages = zip(jobs, (Said(LONG), Said(LONG, "around"), Said(NEAR)), strict=True)
        found = [await said(job, f"/{n}", page) for n, (job, page) in enumerate(pages)]
        files = [await said(job, f"/file/{n}", b"file") for n, job in enumerate(jobs)]
        return [one.verdict for one in found + files]
    finally:
        await server.close()


def shown(folder: Path) -> PackedContent:
    """The content of the one page that is kept, with its type and its source."""
    ((packed, *facts),) = rows(
        folder,
        "SELECT content, page_type, content_source FROM pages WHERE content IS NOT NULL",
    )
    return PackedContent(packed, *facts)  # type: ignore[arg-type]


def test_texts_come_from_redis_where_no_directory_has_them(url: str, tmp_path: Path) -> None:
    name = uuid.uuid4().hex
    folders = [tmp_path / f"worker-{number}" for number in range(3)]
    jobs = [Job(folder, OPTIONS) for folder in folders]
    with closing(jobs[0]), closing(jobs[1]), closing(jobs[2]):
        found = asyncio.run(crawl(url, name, jobs))
    assert found[:3] == ["new", "text_duplicate", "near_duplicate"]
    assert found[3:] == ["not_html", "exact_duplicate", "exact_duplicate"]
    merged = merge(tmp_path / "out", folders, NoWatch())
    assert (merged.kept, merged.duplicates, merged.lost) == (1, 4, ())
    assert problems(tmp_path / "out") == ()
    record = FleetRecord(lambda: kept_texts(url, name))
    merged = merge(tmp_path / "less", folders[1:], NoWatch(), record)
    assert (merged.kept, merged.now_kept, merged.lost) == (1, 1, ())
    assert texts(tmp_path / "less") == {"/1": LONG}
    assert problems(tmp_path / "less") == ()
    # What is shown comes from there too, as the worker had it whose directory is lost.
    assert shown(tmp_path / "less") == shown(tmp_path / "out") == content_of(LONG)
    lost = merge(tmp_path / "lost", folders[1:2], NoWatch())
    assert lost.lost == ("http://example.com/1",)


TEXTS = st.text(st.characters(codec=None), min_size=1)


class TestRoundTripProperties:
    @given(TEXTS, TEXTS)
    def test_a_content_comes_back_whatever_the_text_is(self, shown: str, text: str) -> None:
        content = pack_lines(shown.encode("utf-8", "replace").decode())
        assert unpack_beside(pack_beside(content, text), text) == content


def test_words_that_stand_in_the_text_cost_little() -> None:
    lines = [prose(f"line {number}", 60) for number in range(10)]
    content = pack_lines("\n".join(lines))
    packed = pack_beside(content, with_whole("\n".join(lines), "Menu."))
    assert len(packed) * 5 < len(content)


def test_another_wording_of_the_text_gives_nothing() -> None:
    text = prose("a text", 300)
    packed = pack_beside(pack_lines(text), text)
    assert unpack_beside(packed, text.upper()) is None
    assert unpack_beside(packed[:-9], text) is None
    assert unpack_beside(None, text) is None


def test_what_is_too_large_or_damaged_is_left_out() -> None:
    noise = random.Random(1)
    large = pack_lines(
        "".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(MAX_BESIDE_BYTES))
    )
    assert pack_beside(large, "a text") == b""
    assert pack_beside(zstandard.compress(b"<body/>" + b" " * (1 << 23)), "a text") == b""
    assert pack_beside(b"", "a text") == pack_beside(b"\x28\xb5\x2f\xfd", "a text") == b""
