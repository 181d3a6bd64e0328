"""What one worker of a fleet learns, the others hear."""

from __future__ import annotations

import asyncio
import re
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.fleet.news import News, tune_fleet
from crawler.job import Job
from crawler.pages.live_parameters import tune
from crawler.run import JobOptions
from crawler.storage import meta_names
from crawler.storage.states import COVERED
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.evidence import CounterExample
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.learning.transforms import DropArguments
from neardup import Parameters
from neardup.errors import ParameterError, ServerError
from neardup.storage.redis.connecting import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from crawler.url_rules.learning.proposals import Proposal

PREFIX = "crawl-once:test:"
RULE: Proposal = (Context("example.com"), DropArguments(("sid",)))
OTHER: Proposal = (Context("example.com"), DropArguments(("ref",)))


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[list[Job]]:
    options = JobOptions(learning=LearningPolicy(0.8))
    with ExitStack() as stack:
        found = []
        for name in ("one", "two"):
            job = Job(tmp_path / name, options)
            stack.callback(job.close)
            job.begin_visit()
            found.append(job)
        yield found


@asynccontextmanager
async def together(url: str, jobs: list[Job]) -> AsyncIterator[list[News]]:
    """Let workers join a fleet, and give what they tell and hear by."""
    servers = [await connect(url, PREFIX) for _ in jobs]
    names = ("host/0:1/ab", "host/1:1/ab")
    news = [News(*each) for each in zip(jobs, servers, names, strict=False)]
    try:
        for one in news:
            await one.begin()
        yield news
    finally:
        for server in servers:
            await server.close()


async def pass_on(news: list[News]) -> None:
    """Let everybody tell, then everybody hear."""
    for one in news:
        await one.tell(is_last=True)
    for one in news:
        await one.hear()


def held(job: Job) -> set[Proposal]:
    """The rules that hold."""
    assert isinstance(job.url_rules, UrlRules)
    return {(rule.context, rule.transform) for rule in job.url_rules.rules.of("example.com")}


def revoke(job: Job, proposal: Proposal) -> None:
    assert isinstance(job.url_rules, UrlRules)
    for rule in list(job.url_rules.rules.of("example.com")):
        if (rule.context, rule.transform) == proposal:
            job.url_rules.trial.revoke(rule, "two pages differ", CounterExample(0, 0))


async def test_a_rule_holds_at_all_and_ends_at_all(redis_url: str, jobs: list[Job]) -> None:
    async with together(redis_url, jobs) as news:
        jobs[0].url_rules.take([RULE, OTHER], "learned")
        await pass_on(news)
        assert held(jobs[1]) == {RULE, OTHER}
        revoke(jobs[1], RULE)
        await pass_on(news)
        await pass_on(news)
        assert held(jobs[0]) == held(jobs[1]) == {OTHER}


async def test_what_ended_holds_at_nobody_again(redis_url: str, jobs: list[Job]) -> None:
    async with together(redis_url, jobs) as news:
        jobs[0].url_rules.take([RULE], "learned")
        await pass_on(news[:1])
        revoke(jobs[0], RULE)
        await pass_on(news[:1])
        jobs[1].url_rules.take([RULE], "learned")
        await pass_on(news)
        assert held(jobs[0]) == held(jobs[1]) == set()


async def test_a_rule_that_was_covered_counts_for_no_mistake(
    redis_url: str, jobs: list[Job]
) -> None:
    async with together(redis_url, jobs) as news:
        jobs[0].url_rules.take([RULE], "learned")
        await pass_on(news)
        assert isinstance(jobs[0].url_rules, UrlRules)
        jobs[0].url_rules.trial.let_go(RULE, COVERED, "covered by rule 7")
        await pass_on(news)
        assert held(jobs[1]) == set()
        assert isinstance(jobs[1].url_rules, UrlRules)
        assert (
            not jobs[1]
            .database.read("SELECT count(*) FROM url_rules WHERE state != ?", (COVERED,))
            .fetchone()[0]
        )


async def test_who_is_tuned_tunes_all(redis_url: str, jobs: list[Job]) -> None:
    async with together(redis_url, jobs) as news:
        jobs[0].save()
        jobs[1].save()
        assert jobs[1].folder is not None
        tune(jobs[1].folder, {"max_distance": 6}, "tune")
        jobs[1].save()
        await pass_on(news)
        await pass_on(news)
        for job in jobs:
            assert job.processor.tuned.parameters.max_distance == 6


async def test_parts_are_dropped_in_no_fleet(redis_url: str, jobs: list[Job]) -> None:
    refused = "drop_contained must be False: a fleet looks for no parts"
    async with together(redis_url, jobs) as news:
        await pass_on(news)
    folder, database = jobs[0].folder, jobs[0].database
    assert folder is not None
    database.set_meta(meta_names.FLEET, "{}")  # as of a worker that was started as one
    database.commit()
    with pytest.raises(ParameterError, match=refused):
        tune(folder, {"drop_contained": True}, "tune")
    with pytest.raises(ParameterError, match=refused):
        await asyncio.to_thread(tune_fleet, redis_url, None, {"drop_contained": True}, "tune")


async def test_a_worker_that_joins_judges_as_the_fleet_does(redis_url: str, tmp_path: Path) -> None:
    plain = Parameters()
    wanted = replace(plain, max_distance=7)
    with (
        closing(Job(tmp_path / "first", JobOptions(parameters=wanted))) as first,
        closing(Job(tmp_path / "second", JobOptions(parameters=plain))) as second,
    ):
        async with together(redis_url, [first, second]) as news:
            await pass_on(news)
        assert second.processor.tuned.parameters.max_distance == 7
        assert first.processor.tuned.parameters.max_distance == 7


async def test_a_seed_that_was_redirected_moves_the_scope_everywhere(
    redis_url: str, jobs: list[Job]
) -> None:
    moved = []

    async with together(redis_url, jobs) as news:
        jobs[1].visits.notes.after_moved_seed.append(
            lambda seed, target: moved.append((seed, target))
        )
        jobs[0].visits.notes.note_moved_seed("http://example.com/", "http://www.example.com/")
        await pass_on(news)
        await pass_on(news)
    assert moved == [("http://example.com/", "http://www.example.com/")]
    assert jobs[1].visits.notes.moved_seeds() == dict(moved)


async def test_pages_of_all_are_counted(redis_url: str, jobs: list[Job]) -> None:
    async with together(redis_url, jobs) as news:
        for job, pages in zip(jobs, (3, 4), strict=True):
            job.result.verdicts["new"] += pages
        await pass_on(news)
        jobs[0].result.verdicts["new"] += 1
        assert [one.pages for one in news] == [8, 7]
        assert await news[1].board.pages_of_workers() == {"host/0:1/ab": 3, "host/1:1/ab": 4}


async def test_own_pages_count_also_where_they_were_told_and_not_heard_of(
    redis_url: str, jobs: list[Job]
) -> None:
    async with together(redis_url, jobs) as news:
        jobs[0].result.verdicts["new"] += 3
        await news[0].tell(is_last=True)
        assert news[0].pages == 3
        await news[0].hear()
        jobs[0].result.verdicts["new"] += 1
        assert news[0].pages == 4


@pytest.mark.parametrize(
    ("of", "name"), [(":pages", "foreign"), ("", "rules_version"), ("", "stop")]
)
async def test_what_another_program_wrote_in_place_of_a_number_is_named(
    redis_url: str, jobs: list[Job], of: str, name: str
) -> None:
    key = f"{{{PREFIX}board}}{of}"

    async with together(redis_url, jobs) as news:
        server = await connect(redis_url, PREFIX)
        await server.run("HSET", key, name, b"many\xff")
        with pytest.raises(ServerError, match=re.escape(f"{key} in Redis: expected a number")):
            await news[0].hear()
        await server.run("HDEL", key, name)
        await server.close()
        await news[0].hear()


async def test_a_redis_that_forgot_the_fleet_is_noticed(redis_url: str, jobs: list[Job]) -> None:
    async with together(redis_url, jobs) as news:
        server = await connect(redis_url, PREFIX)
        await server.run("FLUSHALL")
        await server.close()
        await news[0].hear()
        assert news[0].is_lost


async def test_a_worker_that_learns_no_rules_takes_and_tells_none(
    redis_url: str, jobs: list[Job], tmp_path: Path
) -> None:
    with closing(Job(tmp_path / "off", JobOptions(learning=None))) as off:
        off.begin_visit()
        async with together(redis_url, [jobs[0], off]) as news:
            jobs[0].url_rules.take([RULE], "learned")
            await pass_on(news)
        assert held(off) == set()
