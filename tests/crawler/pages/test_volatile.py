"""Words of names that change at every visit: learned from revisits, and told from other things."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.job import Job
from crawler.maintenance.merge.merging import merge
from crawler.pages import volatile
from crawler.pages.walls import MIN_NAMES
from crawler.storage.database import open_for_reading
from neardup.names import NO_NAME, unpacked
from tests.crawler.maintenance.rejudge.captured import judge_again
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.test_capture import OPTIONS, fetched, html
from tests.crawler.pages.walled_visits import LOGIN, in_folders
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LAMP, TABLE = prose("lamp", 200), prose("table", 200)


def seen(name: str, visit: int, text: str, more: str = "") -> bytes:
    """A page with a counter in its title and in its text, and a heading without it."""
    times = f"{visit * 137:,}"
    body = f"<h1>{name}</h1><p>Seen {times} times. {text} {more}</p>"
    title = f"<title>{name} | seen {times} times | Shop</title>"
    return f"<html><head>{title}</head><body><main>{body}</main></body></html>".encode()


def shop(visit: int) -> dict[str, bytes]:
    """Two lamps on one template, each under two URLs."""
    return {
        "/red": seen("Red lamp", visit, LAMP),
        "/blue": seen("Blue lamp", visit + 3, LAMP),
        "/red-again": seen("Red lamp", visit + 1, LAMP, "Print view."),
        "/blue-again": seen("Blue lamp", visit + 2, LAMP, "Print view."),
    }


def visits(folder: Path, *answers: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Visits of one process, in which these answers come; the verdicts that are stored then."""

    async def crawl() -> None:
        job = Job(folder, OPTIONS)
        try:
            await job.start_pool()
            job.claim("one plan")
            job.run = replace(job.run, revisit="yes")
            for pages in answers:
                job.begin_visit()
                for path, body in pages:
                    await job.processor.capture(replace(fetched(job, path, body), depth=1))
                job.visits.end_queueing()
        finally:
            await job.close_pool()
            job.close()

    asyncio.run(crawl())
    return stored(folder)


def stored(folder: Path) -> dict[str, str]:
    with closing(open_for_reading(folder)) as connection:
        rows = connection.execute("SELECT url, verdict FROM pages WHERE latest = 1").fetchall()
    return {url.removeprefix("http://example.com"): verdict for url, verdict in rows}


def visited(folder: Path, count: int) -> dict[str, str]:
    return visits(folder, *(shop(number).items() for number in range(1, count + 1)))


def kept(verdicts: dict[str, str]) -> set[str]:
    return {path for path, verdict in verdicts.items() if not verdict.endswith("duplicate")}


def is_each_kept_once(verdicts: dict[str, str]) -> bool:
    found = sorted(path.removesuffix("-again") for path in kept(verdicts) & set(shop(1)))
    return found == ["/blue", "/red"]


def test_a_counter_tells_nothing_apart_after_two_visits_showed_that_it_changes(
    tmp_path: Path,
) -> None:
    assert kept(visited(tmp_path, 3)) == set(shop(1))
    found = visits(tmp_path, [*shop(4).items(), ("/new", seen("Red lamp", 9, LAMP, "New."))])
    assert is_each_kept_once(found)
    assert found["/new"] == "near_duplicate"
    assert check(tmp_path).findings == ()
    assert visits(tmp_path, shop(5).items()) == found
    assert check(tmp_path).findings == ()


def test_a_page_that_comes_back_from_behind_a_wall_is_found_by_its_name_without_them(
    tmp_path: Path,
) -> None:
    for number in (1, 2, 3):
        pages = {"/red": seen("Red lamp", number, LAMP), "/table": seen("Table", number, TABLE)}
        visits(tmp_path, pages.items())
    visits(tmp_path, [("/red", LOGIN)])

    async def recognise(job: Job) -> None:
        await job.start_pool()
        job.begin_visit()
        source = job.processor.deduplicator._source
        assert source._ids_of(NO_NAME).tolist() == []  # it reads all names now
        for path in in_folders(MIN_NAMES):
            await job.processor.capture(replace(fetched(job, path, LOGIN), depth=1))
        sql = "SELECT id FROM pages WHERE url LIKE '%/red' AND latest = 1 AND text IS NOT NULL"
        (page,) = job.database.read(sql).fetchone()
        assert source._ids_of(unpacked(job.store.name(page))).tolist() == [page]
        await job.close_pool()

    with closing(Job(tmp_path, OPTIONS)) as job:
        asyncio.run(recognise(job))
    assert stored(tmp_path)["/red"] == "changed"


def test_rejudge_knows_what_the_visits_showed(tmp_path: Path) -> None:
    assert kept(visited(tmp_path, 3)) == set(shop(1))
    judge_again(tmp_path)
    found = stored(tmp_path)
    assert is_each_kept_once(found)
    assert check(tmp_path).findings == ()
    judge_again(tmp_path)
    assert stored(tmp_path) == found


def test_it_is_merged(tmp_path: Path) -> None:
    visited(tmp_path / "one", 3)
    visits(tmp_path / "two", [("/own", html(TABLE, "Table"))])
    merge(tmp_path / "out", [tmp_path / "two", tmp_path / "one"], NoWatch())
    judge_again(tmp_path / "out")
    assert is_each_kept_once(stored(tmp_path / "out"))
    assert "/own" in kept(stored(tmp_path / "out"))


def test_two_visits_are_too_few(tmp_path: Path) -> None:
    visited(tmp_path, 2)
    judge_again(tmp_path)
    assert kept(stored(tmp_path)) == set(shop(1))


def test_one_url_is_too_few(tmp_path: Path) -> None:
    answers = [[("/red", shop(number)["/red"])] for number in range(1, 5)]
    found = visits(tmp_path, *answers, [("/red-again", shop(9)["/red-again"])])
    assert found["/red-again"] == "same_template"
    judge_again(tmp_path)
    assert kept(stored(tmp_path)) == {"/red", "/red-again"}


def section(number: int, place: int, text: str) -> bytes:
    return html(f"{text} It is paragraph {number} of file {place}.", f"Section {number} | Act")


def test_sections_that_are_numbered_anew_stay_apart(tmp_path: Path) -> None:
    acts = {f"/{n}": prose(f"act {n}", 100) for n in range(1, 6)}
    more = [(f"/more/{n}", section(n, 0, LAMP)) for n in range(20, 26)]

    def numbered(shift: int) -> list[tuple[str, bytes]]:
        pages = enumerate(acts.items(), start=1)
        return [(path, section(n + shift, n, act)) for n, (path, act) in pages]

    found = visits(tmp_path, *map(numbered, (0, 1, 1, 1)), more)
    assert kept(found) == {*acts, *dict(more)}
    judge_again(tmp_path)
    assert kept(stored(tmp_path)) == {*acts, *dict(more)}


@pytest.mark.parametrize("is_last", [True, False])
def test_a_page_whose_number_stays_speaks_for_all_of_its_kind(
    tmp_path: Path, is_last: bool
) -> None:
    fixed = ("/fixed", seen("Green lamp", 5, TABLE))
    each = [list(shop(number).items()) for number in range(1, 5)]
    found = visits(tmp_path, *([*one, fixed] if is_last else [fixed, *one] for one in each))
    assert kept(found) == {*shop(1), "/fixed"}
    judge_again(tmp_path)
    assert kept(stored(tmp_path)) == {*shop(1), "/fixed"}


def test_a_number_that_changes_with_the_text_is_a_name(tmp_path: Path) -> None:
    def issue(path: str, number: int) -> tuple[str, bytes]:
        text = f"{LAMP} {prose(f'{path} {number}', 12)}"
        return path, html(text, f"Issue {number} of the paper")

    newest = [[issue(path, number) for path in ("/one", "/two")] for number in range(1, 5)]
    older = [issue(f"/older/{number}", number) for number in range(50, 56)]
    assert kept(visits(tmp_path, *newest, older)) >= set(dict(older))
    judge_again(tmp_path)
    assert kept(stored(tmp_path)) >= set(dict(older))


def test_a_host_with_too_many_slots_learns_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volatile, "MAX_SLOTS", 3)
    fixed = [(f"/{name}", html(prose(name, 80), f"Part {name} 7 of 9")) for name in "abcdef"]
    visits(tmp_path, *([*fixed, *shop(number).items()] for number in range(1, 5)))
    with closing(open_for_reading(tmp_path)) as connection:
        assert connection.execute("SELECT count(*) FROM name_slots").fetchone()[0] == 3
    judge_again(tmp_path)
    assert kept(stored(tmp_path)) >= set(shop(1))


class TestSlotsOfTexts:
    """What one fetch of a page after another one tells of its clocks."""

    def test_what_moves_is_proven_and_what_stays_is_content(self, tmp_path: Path) -> None:
        with closing(Job(tmp_path, OPTIONS)) as job:
            slots, url = job.store.volatile, "http://example.com/a"
            before = ((2, "16:40:12"), (4, "16:40:11"), (6, "in 0.1 s"), (6, "in 0.2 s"))
            assert slots.unproven(url, before) == before
            now = ((2, "16:41:12"), (4, "16:40:11"), (6, "in 0.3 s"), (6, "in 0.2 s"))
            assert not slots.prove(url, before, now)
            assert [slot for slot, _ in slots.unproven(url, before)] == [4, 6, 6]
            assert set(slots.fixed(url) or ()) == {4, 6}
            assert slots.unproven("http://other.example/", before) == before
            assert slots.prove(url, ((8, "16:40"),), ((8, "16:41"),))
        with closing(Job(tmp_path, OPTIONS)) as again:
            assert set(again.store.volatile.fixed(url) or ()) == {4, 6}

    def test_what_was_not_met_again_is_content(self, tmp_path: Path) -> None:
        with closing(Job(tmp_path, OPTIONS)) as job:
            assert not job.store.volatile.prove("http://example.com/", ((2, "16:40:12"),), ())
            assert job.store.volatile.fixed("http://example.com/b") == (2,)

    def test_nothing_is_set_aside_where_there_are_too_many_places(self, tmp_path: Path) -> None:
        with closing(Job(tmp_path, OPTIONS)) as job:
            many = [(2 * number, "16:40:12") for number in range(volatile.MAX_TEXT_SLOTS + 1)]
            job.store.volatile.prove("http://example.com/", many, ())
            assert job.store.volatile.fixed("http://example.com/") is None
