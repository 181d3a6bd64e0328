"""Pages that were dropped before boilerplate was known are judged again in the crawl itself."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from crawler.job import Job
from crawler.pages.boilerplate import HostBoilerplate
from crawler.pages.promotion import BATCH, LAST_BATCH
from crawler.pages.verdicts import KEPT, NEAR_DUPLICATE, NEW, SAME_TEMPLATE, TEXT_DUPLICATE
from crawler.pages.visits import YES
from crawler.storage.database import open_for_reading
from neardup import Parameters
from tests.crawler.maintenance.rejudge.captured import PLAN, Said, judge_again, rows
from tests.crawler.maintenance.verify.crawled import check, check_and_repair, execute, rules
from tests.crawler.pages.test_boilerplate import (
    SECTIONS,
    TEMPLATE,
    Page,
    counts,
    section,
    sections,
)
from tests.crawler.pages.test_capture import OPTIONS
from tests.crawler.pages.test_promotion import says
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DROPPED = 9
"""Sections after the first one that are near-duplicates before boilerplate is known."""


def opened(folder: Path, parameters: Parameters | None = None) -> Job:
    job = Job(folder, replace(OPTIONS, parameters=parameters or Parameters()))
    job.claim(PLAN)
    job.begin_visit()
    return job


def following(folder: Path) -> Job:
    """Open a crawl that follows no links of duplicates."""
    job = Job(folder, replace(OPTIONS, follow_duplicates=False))
    job.claim(PLAN)
    job.run = replace(job.run, revisit=YES)
    job.begin_visit()
    return job


def capture(job: Job, pages: Iterable[Page]) -> list[str]:
    """Capture pages as a spider does; return the URLs of those kept after all."""
    kept = []
    for path, said in pages:
        job.callbacks.captured({}, says(job, path, said))
        kept += [captured.row.url for captured in job.promote_siblings() or ()]
    return kept


def finish(job: Job) -> list[list[str]]:
    """Judge what is left as a crawl does at its end; return the URLs kept, by batches."""
    found = []
    while (promoted := job.promote_siblings(is_last=True)) is not None:
        found.append([captured.row.url for captured in promoted])
    return found


def verdicts(folder: Path) -> Counter[str]:
    return Counter(row.verdict for row in rows(folder))


def urls(numbers: Iterable[int]) -> list[str]:
    return [f"http://example.com/act/{number}" for number in numbers]


def copies(numbers: Iterable[int]) -> list[Page]:
    return [(f"/copy/act/{number}", section(number, "Printed for you.")) for number in numbers]


def shared(count: int) -> list[Page]:
    """Copies of the first section with other ids of sessions."""
    return [(f"/s/{number}/act/0", section(0, f"Session {number}")) for number in range(count)]


class TestInTheCrawl:
    def test_the_page_kept_first_calls_its_siblings_back(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path)) as job:
            assert capture(job, sections()[: DROPPED + 1]) == []
            assert capture(job, sections()[DROPPED + 1 :]) == urls(range(1, DROPPED + 1))
            assert finish(job) == [[]]
            assert finish(job) == []
        assert verdicts(tmp_path) == {NEW: 1, SAME_TEMPLATE: SECTIONS - 1}
        assert check(tmp_path).problems == ()

    def test_it_is_done_in_small_steps(self, tmp_path: Path) -> None:
        pages = sections()
        with closing(opened(tmp_path)) as job:
            capture(job, [*shared(2 * BATCH), *pages[: DROPPED + 1]])
            found = [len(capture(job, [page])) for page in pages[DROPPED + 1 :]]
        assert found == [0, 0, BATCH, DROPPED - BATCH, *[0] * (SECTIONS - DROPPED - 5)]

    def test_no_count_falls_and_what_is_kept_after_all_is_counted_apart(
        self, tmp_path: Path
    ) -> None:
        with closing(opened(tmp_path)) as job:
            for path, said in sections():
                captured = says(job, path, said)
                job.result.count(captured.verdict, captured.row.body_bytes)
            before = dict(job.result.sums)
            dropped = job.result.verdicts[NEAR_DUPLICATE]
            assert dropped > 0
            finish(job)
            assert dict(job.result.sums) == before
            assert job.result.promoted == dropped

    def test_copies_are_compared_and_stay_copies(self, tmp_path: Path) -> None:
        pages = [*sections(), *copies(range(SECTIONS))]
        random.Random(17).shuffle(pages)
        with closing(opened(tmp_path)) as job:
            capture(job, pages)
            finish(job)
        assert verdicts(tmp_path)[NEAR_DUPLICATE] == SECTIONS
        assert judge_again(tmp_path).kept == SECTIONS
        assert check(tmp_path).problems == ()

    def test_switched_off_nothing_is_judged_again(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path, Parameters(ignore_boilerplate=False))) as job:
            assert capture(job, sections()) == []
            assert finish(job) == []
        assert verdicts(tmp_path) == {NEW: 1, NEAR_DUPLICATE: SECTIONS - 1}


def test_a_template_alone_that_is_kept_first_takes_no_section(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as job:
        capture(job, [("/act/contents", Said(TEMPLATE)), *sections()])
        finish(job)
    assert verdicts(tmp_path) == {NEW: 1, SAME_TEMPLATE: SECTIONS}
    assert judge_again(tmp_path).kept == SECTIONS + 1


class TestSmallShare:
    def test_sections_that_are_a_twentieth_of_their_host_are_kept(self, tmp_path: Path) -> None:
        pages = [(f"/news/{number}", Said(prose(f"news {number}", 80))) for number in range(270)]
        pages += sections()[:14]
        random.Random(17).shuffle(pages)
        with closing(opened(tmp_path)) as job:
            capture(job, pages)
            finish(job)
        assert verdicts(tmp_path) == {NEW: 271, SAME_TEMPLATE: 13}
        with closing(open_for_reading(tmp_path)) as connection:
            spans = HostBoilerplate(connection.execute).spans(urls([3])[0], section(3).text)
        assert spans == []  # a reader may want them


class TestAtTheEnd:
    @pytest.mark.parametrize("seed", range(4))
    def test_nothing_is_left_for_rejudge(self, tmp_path: Path, seed: int) -> None:
        chance = random.Random(seed)
        pages = sections()[: chance.randint(10, SECTIONS)]
        pages += copies(range(0, len(pages), 3))
        chance.shuffle(pages)
        with closing(opened(tmp_path)) as job:
            capture(job, pages)
            finish(job)
        kept = {row.text for row in rows(tmp_path) if row.verdict in KEPT}
        again = judge_again(tmp_path)
        assert again.kept == again.kept_before == len(kept)

    def test_a_crawl_that_ends_with_the_tenth_section_keeps_all(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path)) as job:
            assert capture(job, sections()[:10]) == []
            assert finish(job) == [urls(range(1, 10))]
        assert verdicts(tmp_path) == {NEW: 1, SAME_TEMPLATE: 9}

    def test_nine_pages_tell_nothing(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path)) as job:
            capture(job, sections()[:9])
            assert finish(job) == []

    def test_many_copies_are_compared_in_batches(self, tmp_path: Path) -> None:
        number = 2 * LAST_BATCH
        with closing(opened(tmp_path)) as job:
            for path, said in [*shared(number), *sections()[:10]]:
                says(job, path, said)
            found = [len(batch) for batch in finish(job)]
        assert found == [0, 0, DROPPED]

    def test_what_was_not_judged_is_judged_by_the_next_process(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path)) as job:
            for path, said in sections():
                says(job, path, said)
        assert verdicts(tmp_path)[NEAR_DUPLICATE] == DROPPED
        with closing(opened(tmp_path)) as job:
            assert [url for batch in finish(job) for url in batch] == urls(range(1, 10))
        with closing(opened(tmp_path)) as job:
            assert finish(job) == []

    def test_after_rejudge_nothing_is_left(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path)) as job:
            for path, said in sections():
                says(job, path, said)
        judge_again(tmp_path)
        with closing(opened(tmp_path)) as job:
            assert finish(job) == []


class TestFollowing:
    """The links of each page that is kept after all are to be looked at again."""

    @pytest.mark.parametrize("is_committed", [True, False])
    def test_a_kill_loses_the_note_only_with_the_page(
        self, tmp_path: Path, *, is_committed: bool
    ) -> None:
        job = following(tmp_path)
        for path, said in sections():
            says(job, path, said)
        job.database.commit()
        job.promote_siblings(is_last=True)
        first = job.visits.notes.followed_again
        assert first == SECTIONS  # the captures behind it are those that were promoted
        if is_committed:
            job.database.commit()
        job.database.fail("killed")
        job.close()
        with closing(opened(tmp_path)) as job:
            assert job.visits.notes.followed_again == (first if is_committed else None)
        assert (verdicts(tmp_path)[NEAR_DUPLICATE] == 0) is is_committed

    def test_the_earliest_that_is_not_looked_at_yet_is_noted(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path)) as job:
            notes = job.visits.notes
            for page_id in (7, 9, 4):
                notes.follow_from(page_id)
            assert notes.followed_again == 3

    def test_what_a_killed_process_did_not_settle_is_noted_by_the_next(
        self, tmp_path: Path
    ) -> None:
        said = section(0)
        with closing(opened(tmp_path)) as job:
            capture(job, [("/original", said), ("/copy", said)])
        job = following(tmp_path)
        capture(job, [("/original", Said(prose("another", 80)))])
        job.visits.end_queueing()
        job.database.commit()
        job.database.fail("killed")
        job.close()
        with closing(following(tmp_path)) as job:
            assert job.visits.notes.is_following_again
        assert verdicts(tmp_path)[TEXT_DUPLICATE] == 0


class TestCounting:
    def test_a_promoted_page_is_counted_once_also_by_the_next_process(self, tmp_path: Path) -> None:
        with closing(opened(tmp_path)) as job:
            capture(job, [*sections(), *copies([3])])
            finish(job)
        found = counts(tmp_path)
        with closing(opened(tmp_path)) as job:
            capture(job, [("/more", section(SECTIONS))])
        after = counts(tmp_path)
        assert (found.texts, after.texts) == (SECTIONS, SECTIONS + 1)
        assert after.error == 0

    def test_a_process_that_ends_at_any_moment_counts_each_page_once(self, tmp_path: Path) -> None:
        pages = sections()
        for begin, end in pairwise([0, 4, 11, 12, 13, 20, SECTIONS]):
            job = opened(tmp_path)
            capture(job, pages[begin:end])
            job.database.commit()  # the counts are stored at longer intervals
            job.database.fail("killed")
            job.close()
        with closing(opened(tmp_path)) as job:
            finish(job)
        assert counts(tmp_path).texts == SECTIONS
        assert verdicts(tmp_path) == {NEW: 1, SAME_TEMPLATE: SECTIONS - 1}


def test_a_wrong_verdict_is_repaired_where_boilerplate_is_known(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as job:
        capture(job, sections())
        finish(job)
    execute(tmp_path, f"UPDATE pages SET similarity = 0.5 WHERE verdict = '{SAME_TEMPLATE}'")
    assert "resembled-measured" in rules(check(tmp_path))
    assert check_and_repair(tmp_path).findings == ()
    assert verdicts(tmp_path) == {NEW: 1, SAME_TEMPLATE: SECTIONS - 1}
