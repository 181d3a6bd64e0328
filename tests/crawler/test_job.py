"""A crawl's directory: when a visit is over."""

from __future__ import annotations

import inspect
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, host_number
from crawler.job import Job
from crawler.pages.live_parameters import history
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import FAILED
from crawler.reading.protocol import ReadingOptions
from crawler.run import JobOptions
from crawler.storage.errors import JobError
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.file_links import FileLinks
from crawler.url_rules.kinds import PAGE_OF_FILE
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.evidence import CounterExample
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.learning.transforms import DropArguments
from neardup import Parameters

if TYPE_CHECKING:
    from crawler.url_rules.learned_rule import LearnedRule

OPTIONS = JobOptions(reading=ReadingOptions(workers=1), learning=LearningPolicy())
HOST = host_number("h.org")


def meet(job: Job, url: str) -> None:
    """A link is met."""
    job.url_rules.push(NewRequest(HOST, url, 0, b"", job.canonicalizer.key(url), is_fixed=False))


def meet_under_a_rule(job: Job) -> LearnedRule:
    """Two links to one page are met, and a rule skips the second."""
    job.url_rules.take([(Context("h.org"), DropArguments(("id",)))], "a file")
    job.url_rules.regroup_all()
    assert isinstance(job.url_rules, UrlRules)
    (rule,) = job.url_rules.rules
    rule.patterns, rule.values = {"/page?": 1}, [{"one", "two"}]
    for name in ("one", "two"):
        meet(job, f"http://h.org/page?id={name}")
    return rule


def ended_with_an_empty_queue(folder: Path) -> Job:
    """The next process on a crawl of which every request was answered."""
    job = Job(folder, OPTIONS)
    job.claim("a plan")
    job.begin_visit()
    meet(job, "http://h.org/")
    _answer_all(job)
    job.close()
    return Job(folder, OPTIONS)


def _answer_all(job: Job) -> list[str]:
    """Answer what waits, and return its URLs, sorted."""
    urls = []
    while (leased := job.frontier.queue.lease(lambda _: 0)) is not None:
        urls.append(leased.url)
        job.frontier.queue.finish([leased.id])
    return sorted(urls)


@pytest.mark.parametrize(
    ("files", "pages"), [(PAGE_OF_FILE.enough - 1, 0), (PAGE_OF_FILE.enough, 1)]
)
def test_it_is_not_over_where_links_that_were_put_aside_may_be_pages(
    files: int, pages: int, tmp_path: Path
) -> None:
    """A kill right after a commit leaves them so."""
    job = ended_with_an_empty_queue(tmp_path)
    assert job.is_finished
    links = FileLinks(job.database, frozenset({"jpg"}))
    kind = links.kind("http://h.org/0.jpg")
    assert kind is not None
    for number in range(PAGE_OF_FILE.enough + 100):
        url = f"http://h.org/{number}.jpg"
        links.put_aside(kind, url, job.canonicalizer.key(url), 1)
    for is_page in (*[False] * files, *[True] * pages):
        links.note(kind, is_page=is_page)
    job.close()
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert not job.is_finished
        with pytest.raises(JobError, match="in the middle of another crawl"):
            job.claim("another plan")
        assert job.begin_visit()
        while FileLinks(job.database, frozenset({"jpg"})).release():
            pass
        assert job.is_finished


def test_it_is_not_over_where_rules_were_not_validated(tmp_path: Path) -> None:
    job = ended_with_an_empty_queue(tmp_path)
    meet_under_a_rule(job)
    _answer_all(job)
    job.close()
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert not job.is_finished
        assert job.begin_visit()
        while job.url_rules.validation.try_more():
            _answer_all(job)
        assert job.is_finished
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert job.is_finished


def test_it_is_not_over_where_a_revoked_rule_skipped_something(tmp_path: Path) -> None:
    job = Job(tmp_path, OPTIONS)
    job.claim("a plan")
    job.begin_visit()
    wrong = meet_under_a_rule(job)
    assert len(job.frontier.queue) == 1
    leased = job.frontier.queue.lease(lambda _: 0)
    assert leased is not None
    job.frontier.queue.finish([leased.id])
    assert job.is_finished
    assert isinstance(job.url_rules, UrlRules)
    job.url_rules.trial.revoke(wrong, "a reason", CounterExample(1, 2))
    job.close()
    job = Job(tmp_path, OPTIONS)
    try:
        assert not job.is_finished
        assert len(job.frontier.queue) == 1
    finally:
        job.close()


def test_what_rules_skipped_is_requested_where_a_visit_goes_on_without_rules(
    tmp_path: Path,
) -> None:
    with closing(ended_with_an_empty_queue(tmp_path)) as job:
        meet_under_a_rule(job)
        assert len(job.frontier.queue) == 1
    with closing(Job(tmp_path, replace(OPTIONS, learning=None))) as job:
        assert job.begin_visit()
        assert _answer_all(job) == [f"http://h.org/page?id={name}" for name in ("one", "two")]
        assert job.is_finished


def test_it_is_not_over_without_rules_where_these_were_not_tried(tmp_path: Path) -> None:
    with closing(ended_with_an_empty_queue(tmp_path)) as job:
        meet_under_a_rule(job)
        _answer_all(job)
    for is_first in (True, False):
        with closing(Job(tmp_path, replace(OPTIONS, learning=None))) as job:
            assert job.is_finished is not is_first
            assert job.begin_visit() or not is_first
            assert _answer_all(job) == (["http://h.org/page?id=two"] if is_first else [])


def test_it_is_over_without_rules_where_these_were_tried(tmp_path: Path) -> None:
    with closing(ended_with_an_empty_queue(tmp_path)) as job:
        rule = meet_under_a_rule(job)
        rule.values = [{f"a{number:05}bcdef" for number in range(3_000)}]
        _answer_all(job)
        while job.url_rules.validation.try_more():
            _answer_all(job)
    with closing(Job(tmp_path, replace(OPTIONS, learning=None))) as job:
        assert job.is_finished


def test_a_request_that_failed_without_rules_stands_for_no_other(tmp_path: Path) -> None:
    with closing(ended_with_an_empty_queue(tmp_path)) as job:
        meet_under_a_rule(job)
    with closing(Job(tmp_path, replace(OPTIONS, learning=None))) as job:
        assert job.begin_visit()
        while (leased := job.frontier.queue.lease(lambda _: 0)) is not None:
            job.store_failure(leased.url, FAILED, Reason.NO_HOST.stored())
            job.frontier.queue.finish([leased.id])
        meet(job, "http://h.org/next")
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert job.begin_visit()
        meet(job, "http://h.org/page?id=three")
        assert _answer_all(job) == ["http://h.org/next", "http://h.org/page?id=three"]


def test_no_request_of_an_earlier_visit_stands_for_another_after_one_without_rules(
    tmp_path: Path,
) -> None:
    with closing(ended_with_an_empty_queue(tmp_path)) as job:
        meet_under_a_rule(job)
        _answer_all(job)
        while job.url_rules.validation.try_more():
            _answer_all(job)
        assert job.is_finished
    with closing(Job(tmp_path, replace(OPTIONS, learning=None))) as job:
        job.run = replace(job.run, revisit="yes")
        assert not job.begin_visit()
        meet(job, "http://h.org/page?id=one")
        _answer_all(job)
        meet(job, "http://h.org/")
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert job.begin_visit()
        meet(job, "http://h.org/page?id=two")
        assert len(job.frontier.queue) == 2


def test_only_the_job_assigns_what_it_consists_of(tmp_path: Path) -> None:
    """A fact is changed by a method of the part that owns it."""
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert len(vars(job)) <= 15
        assigned = re.compile(rf"job\.({'|'.join(vars(job))})(: [^=]+)? [-+|]?= ")
    folder = Path(inspect.getfile(Job)).parent
    found = [path for path in folder.rglob("*.py") if assigned.search(path.read_text("utf-8"))]
    assert found == []


def test_a_run_that_is_stopped_gives_its_first_reason(tmp_path: Path) -> None:
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert job.failure is None
        job.result.stop("no workers")
        job.result.stop("no disk")
        assert job.failure == "no workers"


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_run_that_requests_nothing_more_has_no_urgent_requests(
    is_stopped: bool, tmp_path: Path
) -> None:
    with closing(Job(tmp_path, OPTIONS)) as job:
        job.run = replace(job.run, max_pages=3, urgent_priority=7)
        if is_stopped:
            job.result.stop_requests("--max-bytes are there")
        assert [job.is_at_limit(pages) for pages in (2, 3)] == [is_stopped, True]
        assert job.urgent_priority == (None if is_stopped else 7)


def test_a_refused_crawl_changes_no_parameters(tmp_path: Path) -> None:
    with closing(Job(tmp_path, OPTIONS)) as job:
        job.claim("a plan")
        job.begin_visit()
        meet(job, "http://h.org/")
    other = replace(OPTIONS, parameters=Parameters(min_words=20))
    with closing(Job(tmp_path, other, adopts_settings=False)) as job:
        with pytest.raises(JobError, match="in the middle of another crawl"):
            job.claim("another plan")
        assert len(history(job.database.read)) == 1
    with closing(Job(tmp_path, other, adopts_settings=False)) as job:
        job.claim("a plan")
        assert [tuned.parameters.min_words for tuned in history(job.database.read)] == [50, 20]
        assert job.processor.tuned.parameters.min_words == 20
