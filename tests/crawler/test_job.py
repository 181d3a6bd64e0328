"""A crawl's directory: when a visit is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.order import host_number
from crawler.frontier.url_rules import UrlRules
from crawler.job import Job
from crawler.job_options import JobOptions
from crawler.reading.options import ReadingOptions
from crawler.urls.learning.context import Context
from crawler.urls.learning.evidence import CounterExample
from crawler.urls.learning.hypothesis import LearningPolicy
from crawler.urls.learning.transforms import DropArguments

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = JobOptions(reading=ReadingOptions(workers=1), learning=LearningPolicy())
HOST = host_number("h.org")


def meet(job: Job, url: str) -> None:
    """A link is met."""
    job.url_rules.push(HOST, url, 0, b"", job.canonicalizer.key(url), is_fixed=False)


def test_it_is_not_over_where_a_revoked_rule_skipped_something(tmp_path: Path) -> None:
    job = Job(tmp_path, OPTIONS)
    job.claim("a plan")
    job.begin_visit()
    job.url_rules.take([(Context("h.org"), DropArguments(("id",)))], "a file")
    job.url_rules.fold_all()
    assert isinstance(job.url_rules, UrlRules)
    (wrong,) = job.url_rules.rules
    wrong.patterns, wrong.values = {"/page?": 1}, [{"one", "two"}]
    for name in ("one", "two"):
        meet(job, f"http://h.org/page?id={name}")
    assert len(job.queue) == 1
    leased = job.queue.lease(lambda _: 0)
    assert leased is not None
    job.queue.finish([leased.id])
    assert job.is_finished
    job.url_rules.trial.revoke(wrong, "a reason", CounterExample(1, 2))
    job.close()
    job = Job(tmp_path, OPTIONS)
    try:
        assert not job.is_finished
        assert len(job.queue) == 1
    finally:
        job.close()
