"""Pages dealt at random among the crawls of a fleet are, merged, what one crawl would have kept."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.merge.fleet_texts import FleetRecord
from crawler.maintenance.merge.merging import Merged, merge
from crawler.maintenance.verify.verification import verify
from crawler.pages.export import export_pages
from crawler.storage.database import open_for_reading
from neardup import Parameters, analyse, jaccard
from tests.crawler.maintenance.rejudge.captured import Said
from tests.crawler.pages.sharing import OneMemory, fleet
from tests.crawler.pages.test_capture import OPTIONS
from tests.crawler.pages.test_sharing import said
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from crawler.job import Job

PARAMETERS = Parameters()
LONG, OTHER = prose("long", 200), prose("other", 200)
CLUSTERS = (
    (LONG, f"{LONG} And a few words more.", f"{LONG} And some others."),
    (OTHER, f"{OTHER} That is all."),
    ("Only a few words.",),
    ("Only a few others.",),
)
WORKERS = 3
DEAD = WORKERS
"""The number of a worker whose directory is lost."""


class Fetch(NamedTuple):
    """A page that one of the workers fetches."""

    worker: int
    path: str
    page: Said


def pages() -> st.SearchStrategy[Said]:
    long = st.sampled_from([text for cluster in CLUSTERS[:2] for text in cluster])
    short = st.sampled_from([text for cluster in CLUSTERS[2:] for text in cluster])
    around = st.sampled_from(["", "around", "otherwise"])
    # Short pages are the same where all that they show is.
    return st.one_of(st.builds(Said, long, around), st.builds(Said, short))


@st.composite
def fetches(draw: st.DrawFn) -> list[list[Fetch]]:
    """What is fetched at one time, and what after it; a page says the same at all of them."""
    says = draw(st.lists(pages(), min_size=1, max_size=8))
    paths = [f"/{number}" for number in range(len(says))]
    fetched = st.tuples(st.integers(0, WORKERS), st.sampled_from(range(len(says))))
    rounds = draw(st.lists(st.lists(fetched, max_size=6), min_size=1, max_size=4))
    return [[Fetch(worker, paths[at], says[at]) for worker, at in one] for one in rounds]


def crawled(folder: Path, rounds: list[list[Fetch]], memory: OneMemory) -> list[Path]:
    """The directories of the workers that live."""

    async def crawl(jobs: list[Job]) -> None:
        for one in rounds:
            await asyncio.gather(*(said(jobs[worker], path, page) for worker, path, page in one))

    folders = [folder / f"worker-{number}" for number in range(WORKERS + 1)]
    with fleet(folders, OPTIONS, memory) as jobs:
        asyncio.run(crawl(jobs))
    return folders[:WORKERS]


def problems(folder: Path) -> tuple[object, ...]:
    with closing(CrawlDirectory(folder)) as directory:
        return verify(directory, NoWatch()).problems


def exported(folder: Path) -> dict[str, dict[str, object]]:
    with closing(open_for_reading(folder)) as connection:
        found = list(export_pages(connection))
    assert len({page["url"] for page in found}) == len(found)
    return {page["url"].removeprefix("http://example.com"): page for page in found}


def alike(one: str, other: str) -> bool:
    """Brute force: whether two texts may stand for each other."""
    first, second = analyse(one, PARAMETERS), analyse(other, PARAMETERS)
    if first.fingerprint is None or second.fingerprint is None:
        return first.digest == second.digest
    return jaccard(one, other) >= PARAMETERS.min_similarity


def check(out: Path, merged: Merged, truth: dict[str, Said]) -> Counter[int]:
    """Hold a directory against what the pages said; kept pages by cluster."""
    assert problems(out) == ()
    found = exported(out)
    lost = {url.removeprefix("http://example.com") for url in merged.lost}
    assert set(found) == set(truth) - lost
    assert merged.pages == len(found)
    by_url = {page["url"]: page for page in found.values()}
    kept: Counter[int] = Counter()
    for path, page in found.items():
        held = page if page["text"] is not None else by_url[page["duplicate_of"]]
        assert alike(str(held["text"]), truth[path].text)
        if held is page:
            kept[next(n for n, texts in enumerate(CLUSTERS) if truth[path].text in texts)] += 1
    assert merged.kept == sum(kept.values())
    assert set(kept.values()) <= {1}
    return kept


def test_the_texts_of_a_cluster_are_alike_and_no_others() -> None:
    for number, cluster in enumerate(CLUSTERS):
        for other, texts in enumerate(CLUSTERS):
            pairs = [(one, two) for one in cluster for two in texts]
            assert {alike(*pair) for pair in pairs} == {number == other}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fetches())
def test_nothing_is_kept_twice_and_nothing_is_lost(rounds: list[list[Fetch]]) -> None:
    alive = [[fetch for fetch in one if fetch.worker != DEAD] for one in rounds]
    truth = {fetch.path: fetch.page for one in alive for fetch in one}
    with tempfile.TemporaryDirectory() as name:
        folders = crawled(Path(name), alive, OneMemory(PARAMETERS))
        merged = merge(Path(name) / "out", folders, NoWatch())
        assert merged.lost == ()
        kept = check(Path(name) / "out", merged, truth)
    said_at_all = {page.text for page in truth.values()}
    assert set(kept) == {n for n, texts in enumerate(CLUSTERS) if said_at_all & set(texts)}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fetches(), st.booleans())
def test_what_died_with_a_worker_comes_from_the_fleet_or_is_named(
    rounds: list[list[Fetch]], is_asked: bool
) -> None:
    truth = {fetch.path: fetch.page for one in rounds for fetch in one if fetch.worker != DEAD}
    memory = OneMemory(PARAMETERS)
    with tempfile.TemporaryDirectory() as name:
        folders = crawled(Path(name), rounds, memory)
        record = FleetRecord(memory.kept) if is_asked else None
        merged = merge(Path(name) / "out", folders, NoWatch(), record)
        check(Path(name) / "out", merged, truth)
    if is_asked:
        assert merged.lost == ()
    assert merged.queued == bool(merged.lost)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fetches())
def test_what_a_missing_worker_kept_is_restored(rounds: list[list[Fetch]]) -> None:
    fetched = {fetch.path for one in rounds for fetch in one if fetch.worker != DEAD}
    memory = OneMemory(PARAMETERS)
    with tempfile.TemporaryDirectory() as name:
        folders, out = crawled(Path(name), rounds, memory), Path(name) / "out"
        merged = merge(out, folders, NoWatch(), FleetRecord(memory.kept, {"host/dead/1": 3}))
        assert problems(out) == ()
        found = exported(out)
    kept: dict[str, set[str]] = {}
    for original, text in memory.said():
        path = original.url.removeprefix("http://example.com")
        if path not in fetched:
            kept.setdefault(path, set()).add(text)
    assert set(found) == fetched | set(kept)
    for path, texts in kept.items():
        page = found[path]
        held = page if page["text"] is not None else found[urlsplit(str(page["duplicate_of"])).path]
        assert any(alike(str(held["text"]), text) for text in texts)
    assert merged.missing == {"host/dead/1": 3}
    assert merged.restored == len(kept)
    assert not merged.is_whole
