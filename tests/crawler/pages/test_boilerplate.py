"""Pages on one template that nothing names, at the doors of a crawl that counts its boilerplate."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.job import Job
from crawler.maintenance.merge.merging import merge
from crawler.pages.boilerplate import CountedBoilerplate, HostBoilerplate, is_counted
from crawler.pages.live_parameters import tune
from crawler.pages.verdicts import KEPT, NEAR_DUPLICATE, NEW
from crawler.storage.database import Database, open_for_reading
from neardup import Parameters
from neardup.boilerplate import BlockCounts, blocks
from tests.crawler.maintenance.rejudge.captured import Said, capture, judge_again, rows
from tests.crawler.maintenance.verify.crawled import check, check_and_repair
from tests.crawler.pages.test_capture import OPTIONS
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TEMPLATE = "\n".join(prose(f"paragraph {number}", 40) for number in range(4))
SECTIONS = 30

Page = tuple[str, Said]


def section(number: int, below: str = "") -> Said:
    fee = random.Random(number).randint(100, 999)
    own = f"Section {number}\nThe fee under section {number} is {fee} crowns a year."
    return Said(f"{TEMPLATE}\n{own}\n{below}".strip(), around=below)


def sections() -> list[Page]:
    return [(f"/act/{number}", section(number)) for number in range(SECTIONS)]


def kept(folder: Path) -> set[str]:
    return {row.url for row in rows(folder) if row.verdict in KEPT}


def crawl(folder: Path, pages: Sequence[Page], parameters: Parameters | None = None) -> None:
    capture(folder, pages, parameters or Parameters())


def counts(folder: Path) -> BlockCounts:
    with closing(open_for_reading(folder)) as connection:
        found = HostBoilerplate(connection.execute).blocks(_host(connection.execute))
    assert isinstance(found, BlockCounts)
    return found


def _host(read: object) -> int:
    (host,) = read("SELECT host FROM host_blocks").fetchone()  # type: ignore[operator]
    return int(host)


class TestJudging:
    def test_sections_are_kept_from_the_tenth_on(self, tmp_path: Path) -> None:
        crawl(tmp_path, sections())
        found = [row.verdict for row in rows(tmp_path)]
        assert found == [NEW, *[NEAR_DUPLICATE] * 9, *["same_template"] * (SECTIONS - 10)]
        assert check(tmp_path).problems == ()

    def test_judged_again_all_of_them_are_kept(self, tmp_path: Path) -> None:
        crawl(tmp_path, sections())
        assert judge_again(tmp_path).now_kept == 9
        assert len(kept(tmp_path)) == SECTIONS
        assert judge_again(tmp_path).changes == 0
        assert check(tmp_path).problems == ()

    def test_switched_off_they_are_duplicates(self, tmp_path: Path) -> None:
        crawl(tmp_path, sections(), Parameters(ignore_boilerplate=False))
        assert len(kept(tmp_path)) == 1
        tune(tmp_path, {"ignore_boilerplate": True}, "tune")
        assert judge_again(tmp_path).kept == SECTIONS

    @pytest.mark.parametrize("seed", range(3))
    def test_judged_again_the_order_of_the_crawl_does_not_count(
        self, tmp_path: Path, seed: int
    ) -> None:
        copies = [(f"/act/{number}?print=1", section(number, "Printed.")) for number in (3, 7, 12)]
        pages = sections() + copies
        random.Random(seed).shuffle(pages)
        crawl(tmp_path, pages)
        judge_again(tmp_path)
        assert {url.partition("?")[0] for url in kept(tmp_path)} == {
            f"http://example.com/act/{number}" for number in range(SECTIONS)
        }
        assert len(kept(tmp_path)) == SECTIONS

    def test_copies_with_other_ids_of_sessions_stay_copies(self, tmp_path: Path) -> None:
        pages = [
            (f"/act/{number}?session={visit}", section(number, f"Made at 12:30:{visit:02}"))
            for number in range(3)
            for visit in range(20)
        ]
        crawl(tmp_path, pages)
        each_once = [f"http://example.com/act/{number}" for number in range(3)]
        assert sorted(url.partition("?")[0] for url in kept(tmp_path)) == each_once
        judge_again(tmp_path)
        # With 20 copies each, the paragraphs of two sections are boilerplate themselves.
        assert {url.partition("?")[0] for url in kept(tmp_path)} <= set(each_once)
        assert len(kept(tmp_path)) <= 3


class TestCounting:
    @pytest.mark.parametrize(
        ("verdict", "original", "expected"),
        [
            (NEW, None, True),
            (NEAR_DUPLICATE, "http://example.com/act/2", True),
            (NEAR_DUPLICATE, "http://example.com/print/1", False),
            ("text_duplicate", "http://example.com/act/2", False),
            ("changed", None, False),
        ],
    )
    def test_other_pages_are_counted_and_copies_are_not(
        self, verdict: str, original: str | None, *, expected: bool
    ) -> None:
        assert is_counted(verdict, "http://example.com/act/1", original) == expected

    def test_what_a_killed_process_did_not_store_is_counted_later(self, tmp_path: Path) -> None:
        crawl(tmp_path, sections())
        whole = counts(tmp_path)
        with closing(Database(tmp_path)) as database:
            database.write("DELETE FROM host_blocks")
            database.write("DELETE FROM meta WHERE name = 'counted_page'")
            database.commit()
        with closing(Job(tmp_path, replace(OPTIONS, parameters=Parameters()))):
            pass
        assert counts(tmp_path).packed() == whole.packed()
        assert counts(tmp_path).texts == whole.texts == SECTIONS

    @pytest.mark.parametrize("url", ["http://[bad", "http://exa\u2100mple.com/x", "no URL", ""])
    def test_pages_may_have_any_string_for_a_url(self, tmp_path: Path, url: str) -> None:
        crawl(tmp_path, sections())
        with closing(Database(tmp_path)) as database:
            database.write("UPDATE pages SET url = ? WHERE id = 1", (url,))
            database.write("DELETE FROM host_blocks")
            database.write("DELETE FROM meta WHERE name = 'counted_page'")
            database.commit()
        with closing(Job(tmp_path, replace(OPTIONS, parameters=Parameters()))):
            pass
        with closing(open_for_reading(tmp_path)) as connection:
            (texts,) = connection.execute("SELECT sum(texts) FROM host_blocks").fetchone()
        assert texts == SECTIONS
        assert not [one for one in check(tmp_path).findings if "boilerplate" in one.rule]

    def test_a_page_that_is_counted_already_is_not_counted_again(self, tmp_path: Path) -> None:
        crawl(tmp_path, sections())
        with closing(Database(tmp_path)) as database:
            boilerplate = CountedBoilerplate.opened(database)
            boilerplate.count(1, "http://example.com/act/0", b"\1" * 8)
            boilerplate.save(database)
            database.commit()
        assert counts(tmp_path).texts == SECTIONS

    @pytest.mark.parametrize(
        "damage", ["blocks = x'01'", "host = host + 1", "last = 1000", "error = -1", "texts = 2"]
    )
    def test_wrong_counts_are_found_and_made_again(self, tmp_path: Path, damage: str) -> None:
        crawl(tmp_path, sections())
        whole = counts(tmp_path)
        with closing(Database(tmp_path)) as database:
            database.write(f"UPDATE host_blocks SET {damage}")
            database.commit()
        assert [finding.rule for finding in check(tmp_path).problems] == ["boilerplate-counted"]
        assert check_and_repair(tmp_path).findings == ()
        with closing(Job(tmp_path, replace(OPTIONS, parameters=Parameters()))):
            pass
        assert counts(tmp_path).packed() == whole.packed()

    def test_a_crawl_counts_again_where_the_counts_are_damaged(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        half = sections()[: SECTIONS // 2]
        crawl(tmp_path / "whole", half)
        crawl(tmp_path / "whole", sections()[SECTIONS // 2 :])
        crawl(tmp_path / "damaged", half)
        with closing(Database(tmp_path / "damaged")) as database:
            database.write("UPDATE host_blocks SET blocks = x'01'")
            database.commit()
        crawl(tmp_path / "damaged", sections()[SECTIONS // 2 :])
        assert "counted again" in caplog.text
        assert counts(tmp_path / "damaged").packed() == counts(tmp_path / "whole").packed()
        assert kept(tmp_path / "damaged") == kept(tmp_path / "whole")

    def test_sections_of_two_crawls_stay_apart_after_a_merge(self, tmp_path: Path) -> None:
        crawls = [tmp_path / "even", tmp_path / "odd"]
        for start, folder in enumerate(crawls):
            crawl(folder, sections()[start::2])
            judge_again(folder)
        merge(tmp_path / "merged", crawls, NoWatch())
        before = kept(tmp_path / "merged")
        assert "kept-apart" not in {one.rule for one in check(tmp_path / "merged").findings}
        check_and_repair(tmp_path / "merged")
        assert kept(tmp_path / "merged") == before
        assert len(before) == SECTIONS

    def test_a_page_that_changes_is_counted_once(self, tmp_path: Path) -> None:
        for visit in range(12):
            crawl(tmp_path, [("/news", Said(prose(f"news {visit}", 80) + TEMPLATE))])
        assert counts_of_all(tmp_path) == 1

    def test_spans_are_the_template(self, tmp_path: Path) -> None:
        crawl(tmp_path, sections())
        text = section(3).text
        with closing(open_for_reading(tmp_path)) as connection:
            spans = HostBoilerplate(connection.execute).spans("http://example.com/act/3", text)
        assert [text[start:end] for start, end in spans] == [TEMPLATE + "\n"]
        assert len(list(blocks(text))) == 6


def counts_of_all(folder: Path) -> int:
    with closing(open_for_reading(folder)) as connection:
        return int(connection.execute("SELECT sum(texts) FROM host_blocks").fetchone()[0])
