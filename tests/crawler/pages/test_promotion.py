"""Pages change, each in its own way, visit after visit: each text is kept, and kept once."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from crawler.frontier.order import NewRequest, host_number
from crawler.job import Job
from crawler.maintenance.verify.finding import encoded_request
from crawler.pages.page_row import to_unsigned
from crawler.pages.reasons import Reason
from crawler.pages.stored_texts import unpack
from crawler.pages.verdicts import CONTAINED, DUPLICATES, FAILED
from crawler.reading.reading import Reading
from crawler.storage.database import open_for_reading
from crawler.url_rules.learning.hypothesis import LearningPolicy
from neardup import Parameters, hamming, jaccard
from neardup.fingerprints.minhash import minhash_many
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.parts import MIN_CONTAINMENT
from neardup.verification import containment
from tests.crawler.maintenance.rejudge.captured import PLAN, Said, content_of, judge_again
from tests.crawler.maintenance.rejudge.test_rejudging import edited
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.test_capture import OPTIONS, fetched
from tests.crawler.storage.counting import rows_written
from tests.sites.prose import prose

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from crawler.pages.page_context import Captured, Fetched

pytestmark = pytest.mark.slow

ORIGIN = "http://example.com"


def answer(job: Job, path: str, body: bytes) -> Fetched:
    return replace(fetched(job, path, body), etag='"1"', depth=1)


def says(job: Job, path: str, said: Said) -> Captured:
    """A page is fetched, and says this."""
    came = answer(job, path, said.body)
    extract = said.extract
    reading = Reading(came.url, visible_digest=extract.visible_digest, extract=extract)
    return asyncio.run(job.processor.capture_read(came, reading))


def visit(folder: Path | None, answers: Iterable[tuple[str, Said]]) -> list[Captured]:
    """One visit in which pages say this, one after the other."""
    with closing(Job(folder, OPTIONS)) as job:
        job.claim(PLAN)
        job.begin_visit()
        return [says(job, path, said) for path, said in answers]


def kept_texts(folder: Path) -> dict[str, str]:
    """The text of each kept page, by its path."""
    sql = "SELECT url, text FROM pages WHERE latest = 1 AND text IS NOT NULL"
    with closing(open_for_reading(folder)) as connection:
        return {url.removeprefix(ORIGIN): unpack(text) for url, text in connection.execute(sql)}


WALL, NEW_WALL = prose("please log in", 200), prose("sign in to read on", 200)
COUNT = 1_600


class TestWall:
    """Many URLs show one text, which is another one at the next visit."""

    @pytest.mark.parametrize(
        "page",
        [
            lambda text, number: Said(text),
            lambda text, number: Said(text, f"you asked for {number}"),
            lambda text, number: Said(f"{text} Page number{number}."),
        ],
        ids=["the same bytes", "the same text", "nearly the same text"],
    )
    def test_it_is_kept_once_with_a_bounded_price_a_page(
        self, tmp_path: Path, page: Callable[[str, int], Said]
    ) -> None:
        paths = [f"/{number}" for number in range(COUNT)]
        visit(tmp_path, [(path, page(WALL, n)) for n, path in enumerate(paths)])
        statements: list[int] = []
        with closing(Job(tmp_path, OPTIONS)) as job:
            job.begin_visit()
            job.database.read("SELECT 1").connection.set_trace_callback(
                lambda sql: statements.append(len(sql))
            )
            dearest, before = 0, rows_written(job.database)
            for number, path in enumerate(paths):
                statements.clear()
                assert says(job, path, page(NEW_WALL, number)).verdict != "unchanged"
                dearest = max(dearest, len(statements))
            statements.clear()
            job.end_visit()
            assert len(statements) < 100
            assert rows_written(job.database) - before < 10 * COUNT
        assert dearest < 40
        assert len(kept_texts(tmp_path)) == 1
        assert check(tmp_path).findings == ()

    def test_copies_that_are_unchanged_are_asked_for_one_after_the_other(
        self, tmp_path: Path
    ) -> None:
        paths = [f"/{number}" for number in range(COUNT)]
        visit(tmp_path, [(path, Said(WALL)) for path in paths])
        changed = [("/0", Said(NEW_WALL)), *((path, Said(WALL)) for path in paths[1:])]
        found = visit(tmp_path, changed)
        assert {one.verdict for one in found[1:]} == {"unchanged"}
        assert {one.kept_url for one in found[2:]} == {f"{ORIGIN}/1"}
        assert kept_texts(tmp_path) == {"/0": NEW_WALL, "/1": WALL}
        assert check(tmp_path).findings == ()

    @pytest.mark.parametrize("is_text_known", [True, False])
    def test_copies_that_are_not_asked_for_go_on_together(
        self, is_text_known: bool, tmp_path: Path
    ) -> None:
        visit(tmp_path, [(f"/{number}", Said(WALL)) for number in range(COUNT)])
        statements: set[str] = set()  # an update is traced once more for each row, by its trigger
        with closing(Job(tmp_path, OPTIONS)) as job:
            job.begin_visit()
            if not is_text_known:
                job.database.write("UPDATE pages SET text_digest = NULL WHERE text IS NULL")
            says(job, "/0", Said(NEW_WALL))
            connection = job.database.read("SELECT 1").connection
            connection.set_trace_callback(statements.add)
            job.end_visit()
            connection.set_trace_callback(None)
        assert len(statements) < 100
        assert kept_texts(tmp_path) == {"/0": NEW_WALL, "/1": WALL}
        assert check(tmp_path).findings == ()


def test_a_notice_on_all_pages_is_kept_once_and_loses_none(tmp_path: Path) -> None:
    own = {f"/{number}": Said(prose(f"page {number}", 200)) for number in range(20)}
    notice = Said(prose("we are back soon", 200))
    visit(tmp_path, own.items())
    visit(tmp_path, [(path, notice) for path in own])
    assert list(kept_texts(tmp_path).values()) == [notice.text]
    assert check(tmp_path).findings == ()
    visit(tmp_path, own.items())
    assert kept_texts(tmp_path) == {path: said.text for path, said in own.items()}
    assert check(tmp_path).findings == ()


def test_a_page_that_says_what_another_kept_one_says_is_its_duplicate(tmp_path: Path) -> None:
    visit(tmp_path, [("/a", Said(WALL)), ("/b", Said(NEW_WALL)), ("/copy", Said(WALL))])
    found = visit(tmp_path, [("/a", Said(f"{NEW_WALL} One word."))])
    assert [one.verdict for one in found] == ["near_duplicate"]
    assert kept_texts(tmp_path) == {"/b": NEW_WALL, "/copy": WALL}


def test_learned_rules_know_the_new_capture_of_a_promoted_page(tmp_path: Path) -> None:
    visit(tmp_path, [("/a", Said(WALL)), ("/copy", Said(WALL))])
    with closing(Job(tmp_path, replace(OPTIONS, learning=LearningPolicy()))) as job:
        job.begin_visit()
        job.database.write(
            "INSERT INTO url_groups (group_digest, host, key, page, tries, explored, tested)"
            " SELECT CAST(printf('%016d', id) AS BLOB), 1, key, id, 0, 0, '' FROM pages"
        )
        says(job, "/a", Said(NEW_WALL))
        job.end_visit()
        sql = "SELECT url FROM url_groups JOIN pages ON pages.id = page AND latest = 1"
        assert job.database.read(sql).fetchall() == [(f"{ORIGIN}/copy",)]


TEXTS = [
    *(edited(seed, 200, changes) for seed in "ab" for changes in (0, 2, 5, 9)),
    *(edited("short", 20, changes) for changes in (0, 1)),
    " ".join(edited("a", 200, 0).split()[:120]),
    " ".join(edited("b", 200, 5).split()[80:]),
]
PATHS = st.sampled_from([f"/{name}" for name in "abcdef"])
SAID = st.builds(Said, st.sampled_from(TEXTS), st.sampled_from(["menu", "another menu"]))


def assert_contents_belong_to_texts(connection: sqlite3.Connection) -> None:
    """Each text has the content of a page that said it, and no other row has one."""
    sql = "SELECT text, content, page_type, content_source FROM pages"
    for text, content, *facts in connection.execute(sql):
        if text is None:
            assert content is None
            continue
        said = content_of(unpack(text))
        assert content == said.xml_zstd
        assert facts == [said.kind, said.source]
    for text, content in connection.execute("SELECT text, content FROM near_texts"):
        assert content == content_of(unpack(text)).xml_zstd


class Visits(RuleBasedStateMachine):
    """One directory, and what each page said last."""

    def __init__(self) -> None:
        super().__init__()
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self._temporary.name) / "job"
        self.job: Job | None = None
        self.said: dict[str, Said] = {}
        self.committed: dict[str, Said] = {}
        self.parameters = Parameters(features=Parameters().fingerprint_features)

    def teardown(self) -> None:
        try:
            self.end()
        finally:
            self._temporary.cleanup()

    @initialize(
        keep_versions=st.integers(0, 2),
        keep_near_texts=st.booleans(),
        drop_contained=st.booleans(),
        answers=st.lists(SAID),
    )
    def begin(
        self,
        keep_versions: int,
        keep_near_texts: bool,
        drop_contained: bool,
        answers: list[Said],
    ) -> None:
        self.parameters = replace(self.parameters, drop_contained=drop_contained)
        self.options = replace(
            OPTIONS,
            parameters=self.parameters,
            keep_versions=keep_versions,
            keep_near_texts=keep_near_texts,
        )
        self.open()
        for path, said in zip("abcdef", answers, strict=False):
            self.say(f"/{path}", said)

    def open(self) -> Job:
        if self.job is None:
            self.job = Job(self.folder, self.options)
            self.job.claim(PLAN)
            if not self.job.begin_visit():
                self.queue(self.job, f"{ORIGIN}/more")  # so that the visit goes on
                self.job.commit()
        return self.job

    def queue(self, job: Job, url: str) -> None:
        key = job.canonicalizer.key(url)
        job.frontier.seen.add(key)
        host = host_number("example.com")
        job.frontier.queue.push(
            NewRequest(host, url, 0, encoded_request(0), job.frontier.seen.take(key))
        )

    @rule(path=PATHS, said=SAID)
    def say(self, path: str, said: Said) -> None:
        says(self.open(), path, said)
        self.said[path] = said

    @rule(said=SAID)
    def say_everywhere(self, said: Said) -> None:
        for path in self.said:
            self.say(path, said)

    @rule(path=PATHS)
    def say_the_same(self, path: str) -> None:
        """Say that nothing was modified, where that is enough."""
        if path not in self.said:
            return
        came = answer(self.open(), path, b"")
        if self.open().processor.validators(came.key) is None:
            self.say(path, self.said[path])
        else:
            assert self.open().processor.not_modified(came) is not None

    @rule(path=PATHS, status=st.sampled_from([404, 503, 0]))
    def fail(self, path: str, status: int) -> None:
        came = replace(answer(self.open(), path, b""), status=status)
        self.open().processor.store_failure(came, FAILED, Reason.ERROR.stored("a fault"))

    @rule(path=PATHS)
    def redirect(self, path: str) -> None:
        key = answer(self.open(), path, b"").key
        self.open().processor.note_moved(key, f"{ORIGIN}/x", status=302, permanent=False)

    @rule()
    def commit(self) -> None:
        self.open().commit()
        self.committed = self.said.copy()

    @rule()
    def kill(self) -> None:
        """Nothing after the last commit counts, and the visit goes on."""
        self.open().database.fail("killed")
        self.open().close()
        self.job = None
        self.said = self.committed.copy()
        assert check(self.folder).problems == ()

    @rule()
    def stop(self) -> None:
        """The process ends as it should; the visit goes on."""
        self.open().close()
        self.job = None
        self.committed = self.said.copy()
        self.check()

    @rule()
    def end(self) -> None:
        """The visit ends."""
        job = self.open()
        leased = job.frontier.queue.lease(lambda host: 0)
        assert leased is not None
        job.frontier.queue.finish([leased.id], failed=False)
        self.stop()

    @precondition(lambda self: self.job is None)
    @rule()
    def judge_again(self) -> None:
        judge_again(self.folder)
        found = check(self.folder)
        assert found.problems == ()
        # A process that was killed leaves duplicates of what a page said to the next visit.
        if not found.findings:
            self.check()

    def check(self) -> None:
        """Hold the directory against what each page said last."""
        assert check(self.folder).findings == ()
        sql = "SELECT * FROM pages WHERE latest = 1"
        with closing(open_for_reading(self.folder)) as connection:
            rows = {row["url"].removeprefix(ORIGIN): row for row in connection.execute(sql)}
            assert_contents_belong_to_texts(connection)
        kept = {row["id"]: row for row in rows.values() if row["text"] is not None}
        texts = {number: unpack(row["text"]) for number, row in kept.items()}
        assert len({row["text_digest"] for row in kept.values()}) == len(kept)
        for first, second in combinations(kept.values(), 2):
            fingerprints = first["fingerprint"], second["fingerprint"]
            pair = texts[first["id"]], texts[second["id"]]
            assert not self._are_candidates(fingerprints, pair) or (
                jaccard(*pair) < self.parameters.min_similarity
            )
        for path, said in self.said.items():
            row = rows[path]
            holder = kept[row["duplicate_of"] if row["verdict"] in DUPLICATES else row["id"]]
            if holder["text_digest"] == said.extract.document(self.parameters.min_words).digest:
                assert texts[holder["id"]] == said.text
            elif row["verdict"] == CONTAINED:
                assert self.parameters.drop_contained
                assert containment(said.text, texts[holder["id"]]) >= MIN_CONTAINMENT
            else:
                assert row["verdict"] == "near_duplicate" or row["payload_digest"] is None
                similarity = jaccard(texts[holder["id"]], said.text)
                # Where near texts are not held, near stands for near what is near.
                least = self.parameters.min_similarity if self.options.keep_near_texts else 0.5
                assert similarity >= least

    def _are_candidates(
        self, fingerprints: tuple[int | None, int | None], texts: tuple[str, str]
    ) -> bool:
        """Whether two texts are compared: near by fingerprint, or equal in all rows of a band."""
        first, second = map(to_unsigned, fingerprints)
        if first is None or second is None:
            return False
        if hamming(first, second) <= self.parameters.max_distance:
            return True
        bands = minhash_many(texts, permutations=CANDIDATE_PERMUTATIONS).reshape(
            2, *CANDIDATE_BANDING
        )
        return bool((bands[0] == bands[1]).all(axis=1).any())


Visits.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestVisits = Visits.TestCase
