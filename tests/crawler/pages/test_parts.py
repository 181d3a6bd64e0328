"""Pages that are parts of others, at every door of a crawl."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.console.report_text import report_lines
from crawler.maintenance.crawl_report import make_report
from crawler.maintenance.merge.merging import merge
from crawler.pages.export import export_pages
from crawler.pages.live_parameters import tune
from crawler.storage.database import open_for_reading
from tests.crawler.maintenance.rejudge.captured import Said, judge_again
from tests.crawler.maintenance.rejudge.captured import capture as capture_texts
from tests.crawler.maintenance.verify.crawled import check, execute, rules
from tests.crawler.pages.test_capture import OPTIONS, capture, html, verdicts
from tests.crawler.pages.test_promotion import says
from tests.crawler.pages.test_sibling_promotion import finish, opened
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = "http://example.com"
CHAPTERS = [prose(f"chapter {number}", 240) for number in range(3)]
BOOK = html("</p><p>".join(CHAPTERS), "The book")
CHAPTER = html(CHAPTERS[1], "The book")
NEARLY_ALL = pytest.approx(0.99, abs=0.011)
"""The title stands before another text."""

DROPPING = replace(OPTIONS, parameters=replace(OPTIONS.parameters, drop_contained=True))


def exported(folder: Path) -> dict[str, dict[str, Any]]:
    with closing(open_for_reading(folder)) as connection:
        rows = list(export_pages(connection))
    return {row["url"].removeprefix(ORIGIN): row for row in rows}


def told(folder: Path) -> dict[str, tuple[object, ...]]:
    """Verdict, original, container and containment of each page."""
    names = ("verdict", "duplicate_of", "part_of", "containment")
    return {url: tuple(row[name] for name in names) for url, row in exported(folder).items()}


class TestReporting:
    def test_a_later_part_is_kept_and_names_the_page_that_holds_it(self, tmp_path: Path) -> None:
        captured = capture(tmp_path, [("/book", BOOK), ("/chapter", CHAPTER)])
        assert verdicts(captured) == ["new", "new"]
        assert captured[1].part_of_url == f"{ORIGIN}/book"
        found = told(tmp_path)["/chapter"]
        assert found == ("new", None, f"{ORIGIN}/book", captured[1].row.containment)
        assert captured[1].row.containment == NEARLY_ALL
        assert exported(tmp_path)["/chapter"]["text"] is not None
        assert not check(tmp_path).problems

    def test_a_later_whole_is_written_into_the_rows_of_its_parts(self, tmp_path: Path) -> None:
        parts = [(f"/{n}", html(text, "The book")) for n, text in enumerate(CHAPTERS)]
        captured = capture(tmp_path, [*parts, ("/book", BOOK)])
        assert [one.part_of_url for one in captured] == [None] * 4
        found = told(tmp_path)
        for path, _ in parts:
            assert found[path] == ("new", None, f"{ORIGIN}/book", NEARLY_ALL)
        assert found["/book"] == ("new", None, None, None)
        assert not check(tmp_path).problems

    def test_a_part_of_two_pages_names_the_first(self, tmp_path: Path) -> None:
        archive = html("</p><p>".join([*CHAPTERS[1:], prose("post", 99)]), "Archive")
        capture(tmp_path, [("/book", BOOK), ("/chapter", CHAPTER), ("/archive", archive)])
        assert told(tmp_path)["/chapter"][2] == f"{ORIGIN}/book"

    def test_a_part_that_another_process_kept_is_found(self, tmp_path: Path) -> None:
        capture(tmp_path, [("/book", BOOK)])
        (again,) = capture(tmp_path, [("/chapter", CHAPTER)])
        assert again.part_of_url == f"{ORIGIN}/book"

    def test_an_index_that_is_missing_is_made_of_the_texts(self, tmp_path: Path) -> None:
        capture(tmp_path, [("/book", BOOK)])
        for file in (tmp_path / "passages").iterdir():
            file.unlink()
        assert "passages-right" in rules(check(tmp_path))
        (again,) = capture(tmp_path, [("/chapter", CHAPTER)])
        assert again.part_of_url == f"{ORIGIN}/book"
        assert not check(tmp_path).findings

    def test_a_page_is_no_part_of_its_own_last_version(self, tmp_path: Path) -> None:
        capture(tmp_path, [("/book", BOOK)])
        (again,) = capture(tmp_path, [("/book", CHAPTER)])
        assert again.verdict == "changed"
        assert again.part_of_url is None

    def test_a_changed_whole_goes_on_holding_its_parts(self, tmp_path: Path) -> None:
        longer = html("</p><p>".join([*CHAPTERS, prose("a new chapter", 150)]), "The book")
        capture(tmp_path, [("/book", BOOK), ("/chapter", CHAPTER)])
        book, _ = capture(tmp_path, [("/book", longer), ("/chapter", CHAPTER)])
        assert book.verdict == "changed"
        with closing(open_for_reading(tmp_path)) as connection:
            sql = "SELECT part_of FROM pages WHERE url LIKE '%/chapter'"
            assert connection.execute(sql).fetchone()[0] == book.row.id


class TestDropping:
    def test_a_part_is_dropped_and_its_text_stays(self, tmp_path: Path) -> None:
        captured = capture(tmp_path, [("/book", BOOK), ("/chapter", CHAPTER)], DROPPING)
        assert verdicts(captured) == ["new", "contained"]
        chapter = captured[1]
        assert chapter.is_duplicate
        assert chapter.kept_url == f"{ORIGIN}/book"
        assert told(tmp_path)["/chapter"] == ("contained", f"{ORIGIN}/book", None, NEARLY_ALL)
        with closing(open_for_reading(tmp_path)) as connection:
            sql = "SELECT count(*) FROM near_texts"
            assert connection.execute(sql).fetchone()[0] == 1
        assert not check(tmp_path).problems

    @pytest.mark.parametrize("keeps", [True, False])
    def test_it_is_promoted_when_the_page_that_held_it_says_something_else(
        self, tmp_path: Path, keeps: bool
    ) -> None:
        options = replace(DROPPING, keep_near_texts=keeps)
        answers = [("/book", BOOK), ("/chapter", CHAPTER), ("/same", CHAPTER + b"<!-- -->")]
        assert verdicts(capture(tmp_path, answers, options))[1:] == ["contained"] * 2
        other = html(prose("another book", 500), "Another book")
        capture(tmp_path, [("/book", other)], options)
        found = told(tmp_path)
        assert found["/chapter"] == ("new", None, None, None)
        assert found["/same"] == ("text_duplicate", f"{ORIGIN}/chapter", None, None)
        text = exported(tmp_path)["/chapter"]["text"]
        assert text is not None
        assert CHAPTERS[1] in text
        assert not check(tmp_path).problems

    def test_it_stays_a_part_of_a_page_that_only_grew(self, tmp_path: Path) -> None:
        longer = html("</p><p>".join([*CHAPTERS, prose("a new chapter", 150)]), "The book")
        capture(tmp_path, [("/book", BOOK), ("/chapter", CHAPTER)], DROPPING)
        book, chapter = capture(tmp_path, [("/book", longer), ("/chapter", CHAPTER)], DROPPING)
        assert chapter.verdict == "unchanged"
        assert chapter.row.duplicate_of == book.row.id
        assert told(tmp_path)["/chapter"][0] == "unchanged"
        assert not check(tmp_path).problems

    def test_a_part_that_gets_a_name_of_its_own_is_kept(self, tmp_path: Path) -> None:
        body = f"<title>{{}}</title><article><p>{CHAPTERS[1]}</p></article>"
        text = "</p><p>".join(CHAPTERS)
        book = f"<title>Book</title><article><p>{text}</p></article>".encode()
        before = capture(tmp_path, [("/b", book), ("/c", body.format("Book").encode())], DROPPING)
        assert verdicts(before) == ["new", "contained"]
        after = capture(tmp_path, [("/b", book), ("/c", body.format("Lamps").encode())], DROPPING)
        assert verdicts(after) == ["unchanged", "new"]
        assert told(tmp_path)["/c"][1:] == (None, f"{ORIGIN}/b", 1.0)
        assert not check(tmp_path).problems

    def test_a_running_crawl_adopts_the_choice(self, tmp_path: Path) -> None:
        capture(tmp_path, [("/book", BOOK)])
        tune(tmp_path, {"drop_contained": True}, "tune")
        assert verdicts(capture(tmp_path, [("/chapter", CHAPTER)])) == ["contained"]


TERMS = "\n".join(prose(f"terms {number}", 60) for number in range(3))


def shop_page(text: str) -> Said:
    return Said(f"{text}\n{TERMS}")


class TestBoilerplate:
    """All pages of a host have the same terms; one of them says nearly nothing besides."""

    def told_of(self, folder: Path, said: Said) -> tuple[object, ...]:
        """Capture it behind twelve products; return what is told of it."""
        products = [(f"/{n}", shop_page(prose(f"product {n}", 300))) for n in range(12)]
        capture_texts(folder, [*products, ("/last", said)], DROPPING.parameters)
        assert not check(folder).problems
        return told(folder)["/last"]

    def test_what_a_page_says_besides_decides(self, tmp_path: Path) -> None:
        fee = shop_page("The fee for a lamp of this kind is seven crowns a week.")
        assert self.told_of(tmp_path, fee) == ("new", None, None, None)

    def test_boilerplate_alone_is_a_part_of_nothing(self, tmp_path: Path) -> None:
        assert self.told_of(tmp_path, Said(TERMS)) == ("new", None, None, None)

    def test_a_true_part_is_found_all_the_same(self, tmp_path: Path) -> None:
        excerpt = " ".join(prose("product 3", 300).split()[12:132])
        found = self.told_of(tmp_path, shop_page(excerpt))
        assert found[:2] == ("contained", f"{ORIGIN}/3")

    def test_judged_again_it_is_the_same_with_all_counted(self, tmp_path: Path) -> None:
        """The terms come first: only when all are counted are they known to be boilerplate."""
        products = [(f"/{n}", shop_page(prose(f"product {n}", 300))) for n in range(12)]
        capture_texts(tmp_path, [("/terms", Said(TERMS)), *products], DROPPING.parameters)
        assert told(tmp_path)["/terms"][0] == "new"
        judge_again(tmp_path)
        assert told(tmp_path)["/terms"] == ("new", None, None, None)

    def test_what_was_dropped_before_boilerplate_was_known_is_called_back(
        self, tmp_path: Path
    ) -> None:
        """Each page has fewer words of its own than the first one, so it is a part of that."""
        fees = [f"The fee is {number} crowns." for number in range(100, 120)]
        sections = [shop_page(fee) for fee in fees]
        first = shop_page(f"{fees[0]} {prose('first', 60)}")
        options = replace(DROPPING.parameters, min_similarity=0.97)
        with closing(opened(tmp_path, options)) as job:
            found = [says(job, "/first", first)]
            found += [says(job, f"/{n}", section) for n, section in enumerate(sections)]
            assert {one.verdict for one in found[1:9]} == {"contained"}
            finish(job)
        assert {one[0] for path, one in told(tmp_path).items() if path != "/0"} == {"new"}
        judge_again(tmp_path)
        assert {one[0] for path, one in told(tmp_path).items() if path != "/0"} == {"new"}
        assert not check(tmp_path).problems


class TestJudgedAgain:
    def pages(self) -> list[tuple[str, Said]]:
        book = "\n".join(CHAPTERS)
        return [
            ("/first", Said(CHAPTERS[0])),
            ("/book", Said(book)),
            ("/chapter", Said(CHAPTERS[1])),
            ("/half", Said(book[: len(book) // 2])),
        ]

    def test_the_choice_is_applied_both_ways(self, tmp_path: Path) -> None:
        capture_texts(tmp_path, self.pages(), OPTIONS.parameters)
        first = told(tmp_path)
        assert [one[0] for one in first.values()] == ["new"] * 4
        tune(tmp_path, {"drop_contained": True}, "tune")
        assert judge_again(tmp_path).now_dropped == 2
        dropped = told(tmp_path)
        assert dropped["/first"] == first["/first"] == ("new", None, f"{ORIGIN}/book", 1.0)
        assert dropped["/chapter"] == ("contained", f"{ORIGIN}/book", None, 1.0)
        assert dropped["/half"][:3] == ("contained", f"{ORIGIN}/book", None)
        assert not check(tmp_path).findings
        tune(tmp_path, {"drop_contained": False}, "tune")
        assert judge_again(tmp_path).now_kept == 2
        assert told(tmp_path) == first
        assert not check(tmp_path).findings

    def test_what_a_crawl_told_stays_told(self, tmp_path: Path) -> None:
        for number, parameters in enumerate((OPTIONS.parameters, DROPPING.parameters)):
            folder = tmp_path / str(number)
            capture_texts(folder, self.pages(), parameters)
            assert judge_again(folder).changes == 0

    def test_a_dropped_part_without_a_text_of_its_own_stays_one(self, tmp_path: Path) -> None:
        capture_texts(tmp_path, self.pages(), DROPPING.parameters)
        execute(tmp_path, "DELETE FROM near_texts")
        before = told(tmp_path)
        assert before["/chapter"] == ("contained", f"{ORIGIN}/book", None, 1.0)
        assert judge_again(tmp_path).changes == 0
        assert told(tmp_path) == before
        tune(tmp_path, {"drop_contained": False}, "tune")
        assert judge_again(tmp_path).to_fetch == 2


class TestMerging:
    def test_parts_go_on_naming_their_page(self, tmp_path: Path) -> None:
        one, other, merged = tmp_path / "one", tmp_path / "other", tmp_path / "merged"
        book = Said("\n".join(CHAPTERS))
        capture_texts(one, [("/book", book), ("/chapter", Said(CHAPTERS[1]))], OPTIONS.parameters)
        capture_texts(other, [("/copy", book), ("/2", Said(CHAPTERS[2]))], OPTIONS.parameters)
        merge(merged, [one, other], NoWatch())
        found = told(merged)
        assert found["/copy"][:2] == ("exact_duplicate", f"{ORIGIN}/book")
        for path in ("/chapter", "/2"):
            assert found[path] == ("new", None, f"{ORIGIN}/book", 1.0)
        assert not check(merged).problems

    def test_parts_of_a_page_that_changed_elsewhere_are_kept(self, tmp_path: Path) -> None:
        one, other, merged = tmp_path / "one", tmp_path / "other", tmp_path / "merged"
        book = Said("\n".join(CHAPTERS))
        capture_texts(one, [("/book", book), ("/chapter", Said(CHAPTERS[1]))], DROPPING.parameters)
        assert told(one)["/chapter"][0] == "contained"
        capture_texts(other, [("/book", Said(prose("new", 300)))], DROPPING.parameters)
        merge(merged, [one, other], NoWatch())
        assert told(merged)["/chapter"] == ("new", None, None, None)
        assert exported(merged)["/chapter"]["text"] == CHAPTERS[1]
        assert not check(merged).problems

    def test_parts_in_another_crawl_are_found(self, tmp_path: Path) -> None:
        one, other, merged = tmp_path / "one", tmp_path / "other", tmp_path / "merged"
        capture_texts(one, [("/book", Said("\n".join(CHAPTERS)))], OPTIONS.parameters)
        capture_texts(other, [("/chapter", Said(CHAPTERS[1]))], OPTIONS.parameters)
        merge(merged, [one, other], NoWatch())
        assert told(merged)["/chapter"] == ("new", None, f"{ORIGIN}/book", 1.0)


def test_a_report_tells_parts_with_an_example(tmp_path: Path) -> None:
    capture(tmp_path, [("/book", BOOK), ("/chapter", CHAPTER)])
    with closing(open_for_reading(tmp_path)) as connection:
        report = make_report(connection)
    assert report.parts == 1
    lines = list(report_lines(report, "DIR"))
    assert "1 kept page is a part of another kept page (containment, 0 to 1):" in lines
    assert f"      in {ORIGIN}/book" in lines
