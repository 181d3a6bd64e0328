"""Workers on one Redis, one directory of which is lost: their crawl is merged all the same."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.fleet.deduplication import FleetVerdicts, kept_texts
from crawler.fleet.membership import prefix_of
from crawler.job import Job
from crawler.maintenance.merge.fleet_texts import FleetRecord
from crawler.maintenance.merge.merging import merge
from crawler.maintenance.verify.finding import NoWatch
from crawler.reading.content.content_xml import PackedContent
from neardup import Parameters
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.shared_deduplicator import SharedDeduplicator
from tests.crawler.maintenance.merge.crawls import rows
from tests.crawler.maintenance.merge.test_any_deal import problems
from tests.crawler.maintenance.merge.test_merging import texts
from tests.crawler.maintenance.rejudge.captured import Said, content_of
from tests.crawler.pages.test_capture import OPTIONS
from tests.crawler.pages.test_sharing import said
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
