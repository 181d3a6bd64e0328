"""The pages of a wall: their texts, when they get the verdict, and how it is taken back."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.job import Job
from crawler.pages.verdicts import KEPT
from crawler.pages.wall_clusters import unknown_urls
from crawler.pages.walls import (
    BATCH,
    MAX_OWN_LINKS,
    MIN_NAMES,
)
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.test_capture import OPTIONS, fetched, html
from tests.crawler.pages.walled_visits import (
    FORM,
    LOGIN,
    LONGER,
    NAMES,
    in_folders,
    judged_again,
    stored,
    verdicts,
    visit,
    visit_and_die,
)
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


class TestPagesThatAWallReplaces:
    """A login that is asked for at a revisit, at URLs whose pages are stored."""

    PATHS = in_folders(MIN_NAMES + 3)

    def articles(self) -> list[tuple[str, bytes]]:
        return [(path, html(prose(path, 80), f"Article {path}")) for path in self.PATHS]

    @pytest.mark.parametrize("keep_versions", [0, 1])
    @pytest.mark.parametrize("visits", [1, 2])
    def test_their_texts_are_their_newest_again(
        self, tmp_path: Path, keep_versions: int, visits: int
    ) -> None:
        options = replace(OPTIONS, keep_versions=keep_versions)
        visit(tmp_path, self.articles(), options)
        before = stored(tmp_path)
        for number in range(visits):
            visit(tmp_path, [(path, LOGIN) for path in self.PATHS[number::visits]], options)
            assert check(tmp_path).findings == ()
        assert stored(tmp_path) == before
        assert self.behind(tmp_path) == (len(self.PATHS), len(self.PATHS))
        assert {one.verdict for one in visit(tmp_path, self.articles(), options)} == {"unchanged"}
        assert check(tmp_path).findings == ()

    def test_of_many_visits_one_capture_of_the_wall_stays(self, tmp_path: Path) -> None:
        visit(tmp_path, self.articles())
        for text in ("Please log in.", "Log in to go on.", "Log in, please."):
            wall = html(f"{text}{FORM}", "Members")
            visit(tmp_path, [(path, wall) for path in self.PATHS])
            assert self.behind(tmp_path) == (len(self.PATHS), len(self.PATHS))
        assert check(tmp_path).findings == ()

    def behind(self, folder: Path) -> tuple[int, int]:
        """Captures of walls that are not the newest, and the texts beside them."""
        with closing(open_for_reading(folder)) as connection:
            sql = (
                "SELECT count(*), count(near_texts.text) FROM pages"
                " LEFT JOIN near_texts ON page = id WHERE latest = 0 AND verdict = 'wall'"
            )
            captures, texts = connection.execute(sql).fetchone()
            return captures, texts

    def test_what_one_said_that_nearly_repeated_another_outlasts_many_walls(
        self, tmp_path: Path
    ) -> None:
        (path, article), *others = self.articles()
        near = html(prose(path, 80) + " Only here: the green handle.", f"Article {path}")
        visit(tmp_path, [(path, article), ("/b/near", near)])
        text = stored(tmp_path)["/b/near"][1]
        assert "the green handle" in (text or "")
        for wording in ("Please log in.", "Log in, please.", "Sign in, please."):
            wall = html(f"{wording}{FORM}", "Members")
            visit(tmp_path, [(path, article), ("/b/near", wall)])
        visit(tmp_path, [(path, others[0][1]), *((other, wall) for other, _ in others)])
        assert stored(tmp_path)["/b/near"][1] == text
        assert check(tmp_path).findings == ()

    def test_one_that_repeats_another_repeats_it_again(self, tmp_path: Path) -> None:
        copies = [("/a/copy", self.articles()[0][1]), ("/b/copy", self.articles()[1][1])]
        near = html(prose(self.PATHS[2], 80) + " One more.", f"Article {self.PATHS[2]}")
        visit(tmp_path, [*self.articles(), *copies, ("/b/near", near)])
        before = stored(tmp_path)
        assert (before["/a/copy"][0], before["/b/near"][0]) == ("exact_duplicate", "near_duplicate")
        # The copies are open still, or closed as well.
        closed = [(path, LOGIN) for path in (*self.PATHS[:4], "/b/near", *self.PATHS[4:])]
        visit(tmp_path, [closed[0], copies[0], ("/b/copy", LOGIN), *closed[1:]])
        after = stored(tmp_path)
        assert {path: text for path, (_, text) in after.items()} == {
            path: text for path, (_, text) in before.items()
        }
        assert "wall" not in {verdict for verdict, _ in after.values()}
        assert check(tmp_path).findings == ()

    def test_a_page_that_changes_into_something_short_is_no_wall(self, tmp_path: Path) -> None:
        options = replace(OPTIONS, keep_versions=1)
        visit(tmp_path, self.articles(), options)
        visit(tmp_path, [(path, LOGIN) for path in self.PATHS[:3]], options)
        changed = [(path, html(prose(path + "new", 90), "New")) for path in self.PATHS[:3]]
        visit(tmp_path, changed, options)
        visit(tmp_path, [("/own", html(prose("own", 80), "Own"))], options)
        assert self.old_texts(tmp_path) == 0
        assert check(tmp_path).findings == ()

    @pytest.mark.parametrize("then", [LOGIN, html(prose("renovated", 90), "Renovated")])
    def test_what_a_copy_said_outlasts_visits_that_settle_and_no_other_text_does(
        self, tmp_path: Path, then: bytes
    ) -> None:
        options = replace(OPTIONS, keep_versions=1)
        article = self.articles()[0][1]
        copies = [(self.PATHS[0], article), ("/b/copy", article + b"<!-- another one -->")]
        found = visit(tmp_path, copies, options)
        assert [one.verdict for one in found] == ["new", "text_duplicate"]
        text = stored(tmp_path)["/b/copy"][1]
        for wording in ("Please log in.", "Log in, please."):
            other = html(f"{wording}{FORM}", "Members")
            visit(tmp_path, [(self.PATHS[0], then), ("/b/copy", other)], options)
            assert self.old_texts(tmp_path) == 1
        visit(tmp_path, [(self.PATHS[0], then), ("/b/copy", LOGIN)], options)
        visit(tmp_path, [(path, LOGIN) for path in self.PATHS[1:]], options)
        assert stored(tmp_path)["/b/copy"][1] == text
        assert check(tmp_path).findings == ()
        assert self.old_texts(tmp_path) == 0

    def old_texts(self, folder: Path) -> int:
        """Texts of captures that are not the newest of their page."""
        with closing(open_for_reading(folder)) as connection:
            sql = "SELECT count(*) FROM pages WHERE latest = 0 AND text IS NOT NULL"
            return int(connection.execute(sql).fetchone()[0])

    def test_a_wall_before_a_page_is_taken_back_by_a_new_fetch(self, tmp_path: Path) -> None:
        visit(tmp_path, self.articles())
        visit(tmp_path, [(path, LOGIN) for path in self.PATHS])
        judged_again(tmp_path, self.PATHS[0])
        with closing(open_for_reading(tmp_path)) as connection:
            sql = "SELECT count(*) FROM known WHERE due_at = 0"
            assert connection.execute(sql).fetchone()[0] == len(self.PATHS)
        again = visit(tmp_path, [(path, LOGIN) for path in self.PATHS])
        assert "wall" not in {one.verdict for one in again}
        assert check(tmp_path).findings == ()


def test_html_of_a_wall_stays_and_comes_back_with_its_page(tmp_path: Path) -> None:
    options = replace(OPTIONS, reading=replace(OPTIONS.reading, keep_html=True))
    paths = in_folders(MIN_NAMES + 2)
    visit(tmp_path, [(path, LOGIN) for path in paths], options)
    assert verdicts(tmp_path) == {"wall"}
    judged_again(tmp_path, paths[0])
    with closing(open_for_reading(tmp_path)) as connection:
        sql = "SELECT count(*) FROM pages WHERE verdict = 'too_short' AND html IS NOT NULL"
        assert connection.execute(sql).fetchone()[0] == 1
    assert check(tmp_path).findings == ()


def test_a_seed_that_repeats_a_soft_404_and_leads_on_is_kept(tmp_path: Path) -> None:
    lost = html("Page not found. Sorry.", "Oops")
    links = "".join(f'<a href="/own{number}"></a>' for number in range(9))
    seed = html(f"Page not found. Sorry.{links}", "Oops")
    paths = in_folders(MIN_NAMES + 2)
    visit(tmp_path, [(paths[0], lost), ("/", seed), ("/c/list", seed)])
    visit(tmp_path, [(path, lost) for path in paths[1:]])
    found = stored(tmp_path)
    assert {found.pop("/")[0], found.pop("/c/list")[0]} == {"too_short", "text_duplicate"}
    assert {verdict for verdict, _ in found.values()} == {"soft_404"}
    assert check(tmp_path).findings == ()


def test_a_copy_whose_words_are_stored_nowhere_is_read_at_the_next_visit(tmp_path: Path) -> None:
    options = replace(OPTIONS, keep_near_texts=False)
    wall = html(f"{LONGER}{FORM}", "Log in")
    real = html(f"{LONGER} And a map.{FORM}", "Log in")
    paths = in_folders(MIN_NAMES)
    found = visit(tmp_path, [(paths[0], wall), ("/board", real)], options)
    assert found[1].verdict == "near_duplicate"
    visit(tmp_path, [(path, wall) for path in paths[1:]], options)
    assert stored(tmp_path)[paths[0]][0] == "wall"
    visit(tmp_path, [("/board", real)], options)
    verdict, text = stored(tmp_path)["/board"]
    assert verdict in KEPT
    assert "And a map." in (text or "")
    assert check(tmp_path).findings == ()


def test_many_pages_get_the_verdict_some_between_every_two_captures(tmp_path: Path) -> None:
    def oops(path: str) -> bytes:
        return html(f"Nothing is at {path} today.", "Shop")

    paths = [f"/{'ab'[n % 2]}/{NAMES[n % 40]}-{n}" for n in range(2 * BATCH)]
    own = [(f"/page/{n}", html(prose(f"page {n}", 80), "A page")) for n in range(3)]
    visit_and_die(tmp_path, [(path, oops(path)) for path in paths])
    name = unknown_urls("http://example.com/a/b")[1].removeprefix("http://example.com")
    visit_and_die(tmp_path, [], probed=oops(name))  # the rest is for the next process
    counts = Counter(verdict for verdict, _ in stored(tmp_path).values())
    assert counts["soft_404"] == BATCH
    visit_and_die(tmp_path, own[:1])
    counts = Counter(verdict for verdict, _ in stored(tmp_path).values())
    assert counts == {"soft_404": 2 * BATCH, "new": 1}
    visit(tmp_path, own[1:])
    assert len(stored(tmp_path)) == 2 * BATCH + 3
    assert check(tmp_path).findings == ()


def test_a_copy_of_a_page_that_waits_for_the_verdict_is_kept(tmp_path: Path) -> None:
    # Its links are relative, so that in another folder it leads on to other pages.
    links = "".join(f'<a href="part{n}.html">part {n}</a> ' for n in range(MAX_OWN_LINKS + 1))
    nothing = html(f"Nothing is here today. {links}", "Shop")
    visit_and_die(tmp_path, [(f"/a/{NAMES[n % 40]}-{n}", nothing) for n in range(2 * BATCH)])
    visit_and_die(tmp_path, [], probed=nothing)
    counts = Counter(verdict for verdict, _ in stored(tmp_path).values())
    assert counts == {"soft_404": BATCH, "exact_duplicate": BATCH - 1, "too_short": 1}
    visit(tmp_path, [("/b/other", nothing)])
    found = stored(tmp_path)
    assert found.pop("/b/other")[0] == "too_short"
    assert {verdict for verdict, _ in found.values()} == {"soft_404"}
    assert check(tmp_path).findings == ()


def test_no_statement_reads_all_pages_when_a_wall_is_recognised(tmp_path: Path) -> None:
    paths = in_folders(MIN_NAMES)
    own = ("/own", html(prose("own", 80), "Own"))
    visit(tmp_path, [own, *((path, LOGIN) for path in paths[1:])])
    asked: list[str] = []

    async def recognise(job: Job) -> None:
        await job.start_pool()
        await job.processor.capture(replace(fetched(job, paths[0], LOGIN), depth=1))
        changed = await job.processor.capture(fetched(job, "/own", html(prose("new", 80), "New")))
        assert changed.verdict == "changed"
        await job.close_pool()

    with closing(Job(tmp_path, replace(OPTIONS, keep_versions=1))) as job:
        job.database._connection.set_trace_callback(asked.append)
        job.processor.walls.begin_visit()
        asyncio.run(recognise(job))
        job.database._connection.set_trace_callback(None)
    assert verdicts(tmp_path) == {"wall", "changed"}
    scans = []
    with closing(open_for_reading(tmp_path)) as connection:
        for sql in asked:
            if re.match(r"\s*(SELECT|UPDATE|DELETE)", sql) and "superseded" not in sql:
                plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
                scans += [
                    (row[3], sql)
                    for row in plan
                    if re.match(r"SCAN (pages|url_groups|copy|old|wall)\b", row[3])
                ]
    assert len(asked) > MIN_NAMES
    assert scans == []


def test_a_page_behind_a_wall_that_opens_is_kept(tmp_path: Path) -> None:
    paths = in_folders(MIN_NAMES)
    visit(tmp_path, [(path, LOGIN) for path in paths])
    assert {one.verdict for one in visit(tmp_path, [(path, LOGIN) for path in paths])} == {
        "unchanged"
    }
    opened = visit(tmp_path, [(paths[0], html(prose("opened", 80), "Open"))])
    assert [one.verdict for one in opened] == ["changed"]
    assert stored(tmp_path)[paths[0]][0] == "changed"
    assert check(tmp_path).findings == ()
    with closing(open_for_reading(tmp_path)) as connection:
        sql = "SELECT url FROM known JOIN pages USING (key) WHERE due_at = 0 AND latest = 1"
        due = {url.removeprefix("http://example.com") for (url,) in connection.execute(sql)}
    assert due == set(paths[1:])  # the others may be open too


class TestTakenBack:
    def test_its_pages_are_judged_by_their_texts_and_it_is_never_found_again(
        self, tmp_path: Path
    ) -> None:
        paths = in_folders(MIN_NAMES)
        other = html(f"Sign in, please.{FORM}", "Others")
        others = [f"/c{path}" for path in paths]
        visit(tmp_path, [*((path, LOGIN) for path in paths), *((path, other) for path in others)])
        assert verdicts(tmp_path) == {"wall"}
        tried = judged_again(tmp_path, paths[3], dry_run=True)
        assert verdicts(tmp_path) == {"wall"}
        found = judged_again(tmp_path, paths[3])
        assert found == tried
        assert (found.judged, found.kept_before, found.kept) == (MIN_NAMES, 0, 1)
        assert (found.freed, found.freed_kept, found.now_kept) == (MIN_NAMES, 1, 0)
        assert found.freed_examples == (f"http://example.com{paths[0]}",)
        assert found.kept_examples == ()
        after = stored(tmp_path)
        assert [after[path][0] for path in paths] == [
            "too_short",
            *["exact_duplicate"] * (MIN_NAMES - 1),
        ]
        assert {after[path][0] for path in others} == {"wall"}
        assert check(tmp_path).findings == ()
        again = visit(tmp_path, [(f"/more{path}", LOGIN) for path in paths])
        assert {one.verdict for one in again} == {"exact_duplicate"}
        assert check(tmp_path).findings == ()

    def test_a_url_at_which_none_answered_is_told(self, tmp_path: Path) -> None:
        visit(tmp_path, [("/own", html(prose("own", 80), "Own"))])
        with pytest.raises(JobError, match="neither a wall nor a soft 404 answered there"):
            judged_again(tmp_path, "/own")


def test_a_text_that_no_page_has_any_more_is_forgotten(tmp_path: Path) -> None:
    def counts() -> tuple[int, ...]:
        with closing(open_for_reading(tmp_path)) as connection:
            tables = ("wall_clusters", "wall_pages")
            sql = "SELECT count(*) FROM {}"
            return tuple(connection.execute(sql.format(table)).fetchone()[0] for table in tables)

    for day in ("Monday", "Tuesday", "Wednesday"):
        visit(tmp_path, [("/a", html(f"It is {day}.", "Day"))])
    with closing(Job(tmp_path, OPTIONS)) as job:
        assert counts() == (2, 2)  # of Monday nothing is known any more
        job.processor.walls.begin_visit()
        job.database.commit()
    assert counts() == (1, 1)
