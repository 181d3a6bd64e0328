"""What is held of pages between visits: validators, links, versions, failures."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.job import Job
from crawler.maintenance.crawl_report import make_report
from crawler.pages.reasons import Reason, in_words
from crawler.pages.stored_texts import unpack
from crawler.pages.verdicts import FAILED
from crawler.reading.protocol import ReadingOptions
from crawler.run import JobOptions
from crawler.storage.database import open_for_reading
from tests.crawler.pages.test_capture import LONG, OTHER, fetched, html
from tests.sites.changing import page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.maintenance.crawl_report import Report
    from crawler.pages.page_context import Captured, Fetched

OPTIONS = JobOptions(reading=ReadingOptions(workers=1))
PDF = b"%PDF-1.4 " + b"\x93" * 60
NEAR = LONG + " One word."


class Visiting:
    """Visits of one crawl directory, one after the other, with real workers."""

    def __init__(self, folder: Path, options: JobOptions = OPTIONS) -> None:
        self.loop = asyncio.new_event_loop()
        self.job = Job(folder, options)
        self.job.processor.keep_links = True
        self.job.begin_visit()
        self.loop.run_until_complete(self.job.start_pool())

    def close(self) -> None:
        self.loop.run_until_complete(self.job.close_pool())
        self.job.close()
        self.loop.close()

    def again(self) -> None:
        self.job.begin_visit()

    def answer(self, path: str, body: bytes = b"", etag: str | None = '"1"') -> Fetched:
        return replace(fetched(self.job, path, body), etag=etag, depth=1)

    def get(self, path: str, body: bytes, etag: str | None = '"1"') -> Captured:
        return self.take(self.answer(path, body, etag))

    def get_part(self, path: str, body: bytes) -> Captured:
        return self.take(replace(self.answer(path, body), cut=Reason.CUT_TRANSFER))

    def take(self, answer: Fetched) -> Captured:
        return self.loop.run_until_complete(self.job.processor.capture(answer))

    def may_ask(self, path: str) -> bool:
        return self.job.processor.validators(self.answer(path).key) is not None

    def not_modified(self, path: str) -> Captured | None:
        return self.job.processor.not_modified(self.answer(path))

    def fail(self, path: str) -> Captured:
        url, reason = self.answer(path).url, Reason.HTTP_STATUS.stored(404)
        return self.job.store_failure(url, FAILED, reason, status=404)

    def outcome(self, path: str) -> tuple[str, str | None]:
        outcome, reason = self.job.database.read(
            "SELECT outcome, reason FROM known WHERE key = ?", (self.answer(path).key,)
        ).fetchone()
        return outcome, in_words(reason)

    def report(self, folder: Path) -> Report:
        self.job.commit()
        with closing(open_for_reading(folder)) as connection:
            return make_report(connection)

    def texts(self, path: str) -> list[bool]:
        """Whether each version of a page still has its text, the oldest first."""
        rows = self.job.database.read(
            "SELECT text IS NOT NULL FROM pages WHERE key = ? ORDER BY id", (self.answer(path).key,)
        )
        return [bool(has) for (has,) in rows]


@pytest.fixture
def visiting(tmp_path: Path) -> Iterator[Visiting]:
    visiting = Visiting(tmp_path)
    yield visiting
    visiting.close()


class TestNotModified:
    def test_page_leads_where_it_led(self, visiting: Visiting) -> None:
        body = page(LONG, ["/b", "/c"], head='<meta name="robots" content="nofollow">')
        first = visiting.get("/a", body)
        assert [link.url for link in first.links] == [
            "http://example.com/b",
            "http://example.com/c",
        ]
        assert first.nofollow
        visiting.again()
        second = visiting.not_modified("/a")
        assert second is not None
        assert second.verdict == "unchanged"
        assert second.links == first.links
        assert second.nofollow
        stored = visiting.job.store.previous(visiting.answer("/a").key)
        assert stored is not None
        assert (stored.visit, stored.seen_visit) == (1, 2)
        assert visiting.outcome("/a") == ("unchanged", None)

    def test_newest_links_count_also_where_the_text_is_the_same(self, visiting: Visiting) -> None:
        visiting.get("/a", page(LONG, ["/b"]))
        visiting.again()
        assert visiting.get("/a", page(LONG, ["/c"])).verdict == "unchanged"
        visiting.again()
        third = visiting.not_modified("/a")
        assert third is not None
        assert [link.url for link in third.links] == ["http://example.com/c"]

    def test_new_validators_take_the_place_of_the_old(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        visiting.again()
        visiting.job.processor.not_modified(visiting.answer("/a", etag='"2"'))
        validators = visiting.job.processor.validators(visiting.answer("/a").key)
        assert validators == ('"2"', None)

    def test_near_copy_of_what_changed_is_held_by_itself(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        visiting.get("/near", html(NEAR))
        visiting.get("/also-near", html(NEAR, head="<!-- -->"))
        visiting.again()
        visiting.get("/a", html(OTHER), '"2"')
        visiting.job.end_visit()
        heir = visiting.job.store.previous(visiting.answer("/near").key)
        assert heir is not None
        assert heir.text is not None
        assert unpack(heir.text).endswith(NEAR)
        assert visiting.may_ask("/near")
        assert visiting.not_modified("/near") is not None
        copy = visiting.job.store.previous(visiting.answer("/also-near").key)
        assert copy is not None
        assert (copy.verdict, copy.duplicate_of) == ("text_duplicate", heir.id)
        assert (copy.distance, copy.similarity) == (0, 1.0)

    def test_whole_page_is_wanted_where_its_text_passed_to_another(self, tmp_path: Path) -> None:
        visiting = Visiting(tmp_path, replace(OPTIONS, keep_near_texts=False))
        visiting.get("/a", html(LONG))
        near = visiting.get("/near", html(NEAR))
        assert near.verdict == "near_duplicate"
        visiting.again()
        assert visiting.may_ask("/near")
        visiting.get("/a", html(OTHER), '"2"')
        # Its own words were never stored; it stands for what it was near to.
        assert not visiting.may_ask("/near")
        assert visiting.not_modified("/near") is None
        assert visiting.get("/near", html(NEAR)).row.text is not None
        visiting.close()

    def test_near_copy_whose_original_changed_is_unchanged(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        also_near = LONG + " Two words."
        visiting.get("/near", html(NEAR))
        visiting.get("/also-near", html(also_near))
        visiting.again()
        visiting.get("/a", html(OTHER), '"2"')
        for path, body in (("/near", html(NEAR)), ("/also-near", html(also_near))):
            visiting.get(path, body)
            assert visiting.outcome(path) == ("unchanged", None)
        visiting.again()
        for path in ("/near", "/also-near"):
            assert visiting.not_modified(path) is not None

    def test_near_copy_that_says_now_what_it_is_held_to_say_has_changed(
        self, visiting: Visiting
    ) -> None:
        visiting.get("/a", html(LONG))
        visiting.get("/near", html(NEAR))
        visiting.again()
        visiting.get("/a", html(OTHER), '"2"')
        visiting.again()
        visiting.get("/near", html(LONG), '"2"')
        assert visiting.outcome("/near")[0] == "changed"

    def test_copy_of_what_changed_is_held_by_itself(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        assert visiting.get("/copy", html(LONG)).is_duplicate
        visiting.again()
        visiting.get("/a", html(OTHER), '"2"')
        copy = visiting.not_modified("/copy")
        assert copy is not None
        assert copy.row.text is not None
        assert not copy.is_duplicate

    def test_what_was_not_sent_was_neither_fetched_nor_saved(
        self, visiting: Visiting, tmp_path: Path
    ) -> None:
        bodies = {"/a": html(LONG), "/copy": html(LONG), "/other": html(OTHER)}
        for path, body in bodies.items():
            visiting.get(path, body)
        assert visiting.report(tmp_path).saved_bytes == len(html(LONG))
        visiting.again()
        for path in ("/a", "/copy"):
            assert visiting.not_modified(path) is not None
        visiting.get("/other", html(OTHER))
        report = visiting.report(tmp_path)
        assert (report.saved_bytes, report.fetched_bytes) == (0, len(html(OTHER)))


class TestAgain:
    """Pages that a process stored whose requests it left open: the next one fetches them again."""

    def test_only_what_an_earlier_process_stored_in_this_visit(self, tmp_path: Path) -> None:
        first = Visiting(tmp_path)
        assert not first.get("/same", html(LONG)).is_again
        assert not first.get("/dynamic", html(OTHER)).is_again
        assert not first.fail("/gone").is_again
        assert not first.get("/same", html(LONG)).is_again
        first.close()
        second = Visiting(tmp_path)
        second.job.processor.visit = first.job.processor.visit
        assert second.get("/same", html(LONG)).is_again
        assert second.get("/dynamic", html(NEAR)).is_again
        assert second.fail("/gone").is_again
        assert not second.get("/new", html(LONG + OTHER)).is_again
        second.job.processor.visit += 1
        assert not second.get("/same", html(LONG)).is_again
        assert not second.fail("/gone").is_again
        second.close()

    def test_a_page_that_was_found_unchanged_before(self, tmp_path: Path) -> None:
        first = Visiting(tmp_path)
        first.get("/a", html(LONG))
        first.get("/b", html(OTHER))
        first.again()
        assert not first.get("/a", html(LONG)).is_again
        visit = first.job.processor.visit
        first.close()
        second = Visiting(tmp_path)
        second.job.processor.visit = visit
        assert not second.may_ask("/a"), "what was to follow from it may have been lost"
        sent, not_sent = second.not_modified("/a"), second.not_modified("/b")
        assert sent is not None
        assert not_sent is not None
        assert (sent.is_again, not_sent.is_again) == (True, False)
        second.close()

    def test_what_is_to_be_proven_of_a_page_that_was_dropped(self, tmp_path: Path) -> None:
        now = time.time()
        said = time.strftime("The build passed on %d %b %Y at %H:%M:%S.", time.gmtime(now))
        first = Visiting(tmp_path)
        for path in ("/a", "/b"):
            body = html(f"{said}{'' if path == '/a' else ' '}")
            dropped = first.take(replace(first.answer(path, body), made_at=now))
        assert dropped.is_duplicate
        assert dropped.unproven
        visit = first.job.processor.visit
        first.close()
        second = Visiting(tmp_path)
        second.job.processor.visit = visit
        again = second.take(replace(second.answer("/b", body), made_at=now))
        assert again.is_again
        assert again.unproven == dropped.unproven
        second.close()


class TestValidators:
    def test_none_of_a_page_that_is_not_known(self, visiting: Visiting) -> None:
        assert not visiting.may_ask("/a")

    def test_none_where_the_server_gave_none(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG), None)
        assert not visiting.may_ask("/a")

    def test_none_of_a_document_whose_library_was_missing(self, tmp_path: Path) -> None:
        reading = replace(OPTIONS.reading, documents=frozenset({"text"}))
        visiting = Visiting(tmp_path, replace(OPTIONS, reading=reading))
        try:
            visiting.get("/a.pdf", b"%PDF-1.7")
            visiting.get("/a.gif", b"GIF89a")
            assert not visiting.may_ask("/a.pdf")
            assert visiting.may_ask("/a.gif")
        finally:
            visiting.close()

    def test_none_of_a_part(self, visiting: Visiting) -> None:
        visiting.get_part("/a", html(LONG)[:800])
        assert not visiting.may_ask("/a")

    def test_none_of_a_page_that_asked_not_to_be_kept(self, visiting: Visiting) -> None:
        visiting.get("/a", page(LONG, head='<meta name="robots" content="noindex">'))
        assert not visiting.may_ask("/a")

    def test_none_where_the_links_are_not_known(self, visiting: Visiting) -> None:
        visiting.job.processor.keep_links = False
        visiting.get("/a", html(LONG))
        assert visiting.may_ask("/a")
        visiting.job.processor.keep_links = True
        assert not visiting.may_ask("/a")

    def test_those_of_the_whole_stay_when_a_part_or_nothing_comes(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        visiting.again()
        visiting.get_part("/a", html(LONG)[:800])
        visiting.get("/a", b"", '"3"')
        validators = visiting.job.processor.validators(visiting.answer("/a").key)
        assert validators == ('"1"', None)


class TestOutcomes:
    def test_answers_that_say_nothing_are_failures(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        visiting.again()
        visiting.get("/a", b"")
        assert visiting.outcome("/a") == ("failed", "it has no text now")
        visiting.again()
        visiting.get_part("/a", html(LONG)[:800])
        assert visiting.outcome("/a") == ("failed", "only a part of it came")

    def test_page_that_became_a_copy_has_changed(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        assert visiting.get("/b", html(LONG)).is_duplicate
        visiting.get("/c", html(OTHER))
        visiting.again()
        assert visiting.get("/b", html(OTHER)).is_duplicate
        assert visiting.outcome("/b") == ("changed", None)

    def test_file_is_unchanged_where_the_one_that_it_copied_is_another(
        self, visiting: Visiting
    ) -> None:
        visiting.get("/a", PDF)
        assert visiting.get("/copy", PDF).is_duplicate
        for body, kind in [(PDF, "unchanged"), (PDF + b"2", "changed")]:
            visiting.again()
            visiting.get("/a", PDF + b"1")
            visiting.get("/copy", body)
            assert visiting.outcome("/copy")[0] == kind

    def test_page_that_became_a_file_has_changed_once(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        bodies = [PDF, PDF, PDF + b"2", PDF + b"2", html(LONG), PDF + b"2"]
        kinds = ["changed", "unchanged", "changed", "unchanged", "unchanged", "changed"]
        for body, kind in zip(bodies, kinds, strict=True):
            visiting.again()
            visiting.get("/a", body)
            assert visiting.outcome("/a")[0] == kind
        assert visiting.texts("/a")[0]
        visiting.again()
        answer = replace(visiting.answer("/a"), status=404)
        visiting.job.processor.store_failure(answer, FAILED, Reason.HTTP_STATUS.stored(404))
        visiting.again()
        visiting.get("/a", PDF + b"2")
        assert visiting.outcome("/a") == ("unchanged", None)
        visiting.again()
        visiting.get_part("/a", PDF + b"2")
        assert visiting.outcome("/a")[0] == "failed"

    def test_failures_of_earlier_visits_are_forgotten(self, visiting: Visiting) -> None:
        visiting.get("/a", html(LONG))
        for _ in range(5):
            visiting.again()
            answer = replace(visiting.answer("/a"), status=404)
            visiting.job.processor.store_failure(answer, FAILED, Reason.HTTP_STATUS.stored(404))
        assert visiting.texts("/a") == [True, False]
        assert visiting.outcome("/a") == ("gone", "HTTP 404")
