"""Pages come and change, parameters are tuned, processes killed, all judged again: in any order."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.job import Job
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.reading import Reading
from neardup import Parameters
from tests.crawler.maintenance.rejudge.captured import PLAN, Said, dump, judge_again
from tests.crawler.maintenance.rejudge.test_rejudging import (
    PATHS,
    chosen,
    every_text,
    pages,
    tune_to,
)
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.test_capture import OPTIONS, fetched

PAGE, NOINDEX, FILE = "page", "noindex", "file"
FIRST = Parameters(features=Parameters().fingerprint_features)


@dataclass(frozen=True)
class Answer:
    """What a path answers; afterwards all is committed, where ``tuned`` is, and tuned to that."""

    path: str
    said: Said
    kind: str = PAGE
    tuned: Parameters | None = None


@dataclass(frozen=True)
class Visit:
    """What comes, how it ends, and to what it is tuned and judged again afterwards."""

    answers: list[Answer]
    keep_versions: int
    is_killed: bool
    judged: Parameters | None


@dataclass
class Crawl:
    """A directory, and what each path said last, as far as it was to be kept."""

    folder: Path
    said: dict[str, Said] = field(default_factory=dict)

    def visit(self, visit: Visit) -> None:
        options = replace(OPTIONS, parameters=FIRST, keep_versions=visit.keep_versions)
        committed = self.said.copy()
        with closing(Job(self.folder, options)) as job:
            job.claim(PLAN)
            job.begin_visit()
            for answer in visit.answers:
                self._answer(job, answer)
                if answer.tuned is not None:
                    job.commit()
                    committed = self.said.copy()
                    tune_to(self.folder, answer.tuned)
                    job.database.count_work(1000)  # so that a commit is due, and it is heard of
                    job.commit_if_due()
            if visit.is_killed:
                job.database.fail("killed")  # nothing after the last commit counts
                self.said = committed

    def _answer(self, job: Job, answer: Answer) -> None:
        came = fetched(job, answer.path, answer.said.body)
        extract = answer.said.extract
        reading = Reading(came.url, visible_digest=extract.visible_digest, extract=extract)
        if answer.kind == NOINDEX:
            reading = replace(reading, metadata=Metadata(robots=("noindex",)))
            self.said.pop(answer.path, None)
        elif answer.kind == FILE:
            reading = Reading(came.url, not_html="a file")
        elif answer.said.text:
            self.said[answer.path] = answer.said
        asyncio.run(job.processor.capture_read(came, reading))

    def check(self) -> None:
        """Nothing that was said last is lost, and the directory is what it claims to be."""
        assert check(self.folder).problems == ()
        assert {said.text for said in self.said.values()} <= every_text(self.folder)


ANSWERS = st.builds(
    Answer,
    PATHS,
    pages(),
    st.sampled_from([PAGE] * 8 + [NOINDEX, FILE]),
    st.sampled_from([False, False, True]).flatmap(
        lambda is_tuned: chosen() if is_tuned else st.none()
    ),
)
VISITS = st.builds(
    Visit,
    st.lists(ANSWERS, max_size=6),
    st.integers(0, 3),
    st.booleans(),
    st.one_of(st.none(), chosen(), chosen()),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(VISITS, min_size=1, max_size=4))
def test_nothing_is_lost_in_any_order(visits: list[Visit]) -> None:
    with tempfile.TemporaryDirectory() as name:
        crawl = Crawl(Path(name) / "job")
        for visit in visits:
            crawl.visit(visit)
            crawl.check()
            if visit.judged is None:
                continue
            tune_to(crawl.folder, visit.judged)
            judge_again(crawl.folder)
            crawl.check()
            written = dump(crawl.folder)
            assert judge_again(crawl.folder).changes == 0
            assert dump(crawl.folder) == written
