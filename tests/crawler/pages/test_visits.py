"""Visits at random: what a page said last is held by itself or by a page that says the same."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from crawler.job import Job
from crawler.maintenance.crawl_report import make_report
from crawler.pages.export import KEPT_FILTER, PageFilter, export_pages
from crawler.pages.page_context import Fetched
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import FAILED, NOINDEX, OUTCOMES
from crawler.reading.pool import ReadingPool
from crawler.reading.protocol import ReadingOptions
from crawler.run import JobOptions
from crawler.storage.database import open_for_reading
from neardup import Parameters, analyse, jaccard
from tests.crawler.pages.test_capture import capture, html, working
from tests.crawler.pages.test_capture import fetched as answer_of
from tests.crawler.reading.pages import read_page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.reasons import Stored

PARAMETERS = Parameters()
# Of what a page said before its newest version, nothing is kept for its own sake.
OPTIONS = JobOptions(parameters=PARAMETERS, reading=ReadingOptions(workers=1), keep_versions=1)
TITLE = "A page"
PATHS = st.sampled_from(["/a", "/b", "/c"])


def near(text: str, other: str) -> bool:
    one, two = (analyse(f"{TITLE}\n{each}", PARAMETERS) for each in (text, other))
    if one.fingerprint is None or two.fingerprint is None:
        return one.digest == two.digest
    return jaccard(one.text, two.text) >= 0.8


def drifting() -> Iterator[str]:
    """Texts of which each is nearly the one before, and none nearly the one before that."""
    chance, vocabulary = random.Random(1), prose("vocabulary", 3000).split()
    texts = [prose("drift", 300)]
    while len(texts) < 4:
        words = texts[-1].split()
        size = chance.choice([10, 14, 18])
        start = chance.randrange(len(words) - size)
        words[start : start + size] = chance.choices(vocabulary, k=size)
        text = " ".join(words)
        if near(text, texts[-1]) and not any(near(text, earlier) for earlier in texts[:-1]):
            texts.append(text)
    yield from texts


TEXTS = (*drifting(), prose("other", 300), "Only a few words.", "Only a few others.")
PAGES = {
    **{f"drift {number}": html(text) for number, text in enumerate(TEXTS[:4])},
    "drift 0 in other bytes": html(TEXTS[0], TITLE, "<!-- 2 -->"),
    "other": html(TEXTS[4]),
    "short": html(TEXTS[5]),
    "short in other bytes": html(TEXTS[5], TITLE, "<!-- 2 -->"),
    "another short": html(TEXTS[6]),
    "empty": b"",
    "shell": b"<html><body><div id=x></div></body></html>",
    "image": b"\x89PNG\r\n\x1a\n" * 9,
}
NAMES = tuple(PAGES)
ANSWERS = st.sampled_from([*NAMES[:4], *NAMES[:9], *NAMES])
TYPES = st.sampled_from(["text/html"] * 9 + ["application/json"])
FAILURES = st.sampled_from(
    [
        (404, Reason.HTTP_STATUS.stored(404)),
        (500, Reason.HTTP_STATUS.stored(500)),
        (0, Reason.NO_HOST.stored()),
        (0, Reason.FORBIDDEN.stored()),
    ]
)
WORDS = st.sampled_from([""] * 9 + ["noindex"])


@cache
def says(body: bytes, content_type: str) -> str | None:
    """What an answer says, read in this process; None for what is no page, or an empty one."""
    extract = read_page("http://example.com/", body, content_type, OPTIONS.reading).extract
    return extract.text if extract is not None and extract.words else None


def is_same(text: str, other: str) -> bool:
    enough = min(len(text.split()), len(other.split())) >= PARAMETERS.min_words
    return text == other or (enough and jaccard(text, other) >= PARAMETERS.min_similarity)


class Visits(RuleBasedStateMachine):
    """A few URLs whose answers change; the workers and the folder are real."""

    loop: asyncio.AbstractEventLoop
    pool: ReadingPool

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        # What each path said last; and as of the last commit.
        self.said: dict[str, str] = {}
        self.committed = self.said.copy()
        self.asked: set[str] = set()  # in this visit
        self.open()

    def open(self) -> None:
        self.job = Job(self.folder, OPTIONS)
        self.job.processor.pool = self.pool
        if not self.job.begin_visit():
            self.asked.clear()

    @rule()
    def visit_again(self) -> None:
        if not self.job.begin_visit():
            self.asked.clear()
        self.check()

    @rule()
    def stop_and_go_on(self) -> None:
        self.job.close()
        self.open()
        self.check()

    @rule()
    def kill_and_go_on(self) -> None:
        self.job.database.fail("killed")
        self.job.close()
        self.said = self.committed.copy()
        self.open()
        self.check()

    def fetched(
        self, path: str, body: bytes, kind: str = "text/html", robots: frozenset[str] = frozenset()
    ) -> Fetched:
        url = f"http://example.com{path}"
        canonical, key = self.job.canonicalizer(url), self.job.canonicalizer.key(url)
        etag = next((name for name in NAMES if PAGES[name] is body), None)
        return Fetched(url, canonical, key, 1, 200, body, kind, etag, robots=robots)

    @rule(path=PATHS, name=ANSWERS, kind=TYPES, word=WORDS, commit=st.booleans())
    def fetch(self, path: str, name: str, kind: str, word: str, *, commit: bool) -> None:
        body = PAGES[name]
        answer = self.fetched(path, body, kind, frozenset({word} - {""}))
        captured = self.loop.run_until_complete(self.job.processor.capture(answer))
        text = says(body, kind)
        if captured.row.verdict == NOINDEX:
            assert word
            self.said.pop(path, None)
        elif text is not None:
            if path in self.said and path not in self.asked:
                same = text == self.said[path]
                assert self.outcome(answer.key) == ("unchanged" if same else "changed")
            self.said[path] = text
        self.asked.add(path)
        if commit:
            self.check()

    def outcome(self, key: bytes) -> str:
        sql = "SELECT outcome FROM known WHERE key = ?"
        return str(self.job.database.read(sql, (key,)).fetchone()[0])

    @rule(answers=st.fixed_dictionaries({"/a": ANSWERS, "/b": ANSWERS, "/c": ANSWERS}))
    def fetch_together(self, answers: dict[str, str]) -> None:
        async def gather() -> None:
            pages = [self.fetched(path, PAGES[name]) for path, name in answers.items()]
            await asyncio.gather(*map(self.job.processor.capture, pages))

        self.loop.run_until_complete(gather())
        for path, name in answers.items():
            text = says(PAGES[name], "text/html")
            if text is not None:
                self.said[path] = text
        self.asked.update(answers)
        self.check()

    @rule(path=PATHS, commit=st.booleans())
    def ask_whether_it_changed(self, path: str, *, commit: bool) -> None:
        """The server says that the version is still good by whose ETag it is asked."""
        key = self.fetched(path, b"").key
        validators = self.job.processor.validators(key)
        captured = self.job.processor.not_modified(self.fetched(path, b"?"))
        if validators is None or captured is None:
            assert validators is None or not any(validators)
            return
        self.asked.add(path)
        said = says(PAGES[validators.etag or ""], captured.row.content_type or "")
        if said is not None:
            assert self.said[path] == said, "the version that is held is not that of the ETag"
        if commit:
            self.check()

    @rule(path=PATHS, failure=FAILURES)
    def fail(self, path: str, failure: tuple[int, Stored]) -> None:
        status, reason = failure
        fetched = replace(self.fetched(path, b""), status=status)
        self.job.processor.store_failure(fetched, FAILED, reason)

    @rule(path=PATHS, permanent=st.booleans())
    def move(self, path: str, *, permanent: bool) -> None:
        target = "http://example.com/elsewhere"
        key = self.fetched(path, b"").key
        self.job.processor.note_moved(key, target, status=301, permanent=permanent)

    def check(self) -> None:
        """Hold the promise against the export, as a process leaves it that ends now."""
        self.job.end_visit()
        self.committed = self.said.copy()
        with closing(open_for_reading(self.folder)) as connection:
            rows = list(export_pages(connection))
            kept = list(export_pages(connection, PageFilter(KEPT_FILTER)))
        assert len({row["url"] for row in rows}) == len(rows)
        texts = [row["text"] for row in kept]
        for path, said in self.said.items():
            assert any(is_same(said, text) for text in texts), f"the text of {path} is lost"
        kept_urls = {row["url"] for row in kept}
        for row in rows:
            if row["words"] and row["duplicate_of"]:
                assert row["duplicate_of"] in kept_urls
        with closing(open_for_reading(self.folder)) as connection:
            twice = connection.execute(
                "SELECT count(*) FROM pages WHERE latest = 1 AND text IS NOT NULL AND words > 0"
                " GROUP BY text_digest HAVING count(*) > 1"
            ).fetchall()
        assert not twice
        self.check_outcomes()
        assert len(self.job.processor.deduplicator) == self.job.store.count_fingerprints()

    def check_outcomes(self) -> None:
        """Every URL that was asked for has one, and what gave no page is named so."""
        known = dict(self.job.database.read("SELECT key, outcome FROM known"))
        asked = {key for (key,) in self.job.database.read("SELECT key FROM pages")}
        assert known.keys() == asked
        assert set(known.values()) <= set(OUTCOMES)
        changes = self.job.database.read("SELECT is_near FROM known WHERE outcome <> 'changed'")
        assert not any(is_near for (is_near,) in changes)

    def teardown(self) -> None:
        try:
            self.check()
        finally:
            self.job.close()
            shutil.rmtree(self.folder)


def test_whatever_a_page_said_last_stays_held() -> None:
    Visits.loop = asyncio.new_event_loop()
    Visits.pool = ReadingPool(OPTIONS.reading)
    Visits.loop.run_until_complete(Visits.pool.start())
    try:
        Visits.TestCase.settings = settings(
            max_examples=60,
            stateful_step_count=20,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        Visits.TestCase("runTest").runTest()
    finally:
        Visits.loop.run_until_complete(Visits.pool.close())
        Visits.loop.close()


A, B = "/a", "/b"
D0, D1, D2, OTHER = (html(TEXTS[number]) for number in (0, 1, 2, 4))
SHELL = PAGES["shell"]

SEQUENCES = {
    "the original drifts away in small steps": [
        [(A, D0), (B, D0)], [(A, D1)], [(A, D2), (B, D0)],
    ],
    "the heir says what it said, not what the original said last": [
        [(A, D0), (B, D0)], [(A, D1), (B, D0)], [(A, OTHER), (B, D0)],
    ],
    "a near copy is read anew": [[(A, D1), (B, D0)], [(A, D2), (B, D0)], [(B, D0)]],
    "an empty page fills with what another one says": [[(A, SHELL), (B, D0)], [(A, D0), (B, D0)]],
    "a copy empties and then its original changes": [
        [(A, D0), (B, D0)], [(B, b""), (A, OTHER), (B, D0)],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", SEQUENCES)
def test_every_page_ends_with_its_text_held(name: str, tmp_path: Path) -> None:
    for visit in SEQUENCES[name]:
        capture(tmp_path, visit)
    last = {path: body for visit in SEQUENCES[name] for path, body in visit}
    with closing(open_for_reading(tmp_path)) as connection:
        rows = {
            row["url"].removeprefix("http://example.com"): row for row in export_pages(connection)
        }
        fetched = make_report(connection).fetched
    assert fetched == len(SEQUENCES[name][-1]), "each fetch of the last visit counts once"
    for path, body in last.items():
        row = rows[path]
        while row["duplicate_of"]:
            row = rows[row["duplicate_of"].removeprefix("http://example.com")]
        assert is_same(says(body, "text/html") or "", row["text"])


def test_a_part_of_a_page_does_not_take_the_place_of_the_whole(tmp_path: Path) -> None:
    capture(tmp_path, [(A, D0)])

    async def fetch_part() -> None:
        async with working(tmp_path, OPTIONS) as job:
            part = replace(answer_of(job, A, D0[: len(D0) // 2]), cut=Reason.CUT_TRANSFER)
            await job.processor.capture(part)

    asyncio.run(fetch_part())
    with closing(open_for_reading(tmp_path)) as connection:
        assert [row["text"] for row in export_pages(connection)] == [says(D0, "text/html")]
