"""Pages of nearly the same words and other names, at every door of a crawl."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.pages.export import export_pages
from crawler.pages.reasons import Reason, in_words
from crawler.storage.database import open_for_reading
from crawler.url_rules.learning.evidence import agreement
from crawler.url_rules.url_groups import content_of
from neardup.names import unpacked
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.sharing import OneMemory, fleet, workers_of
from tests.crawler.pages.test_capture import LONG, OPTIONS, OTHER, capture, fetched, html, verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.pages.page_context import Captured

RED, BLUE = html(LONG, "Red lamp"), html(f"{LONG} Blue.", "Blue lamp")
RED_AGAIN = html(f"{LONG} Print view.", "Red lamp")
ALL_NAMES = replace(OPTIONS, parameters=replace(OPTIONS.parameters, compare_names=False))


def exported(folder: Path) -> dict[str, dict[str, Any]]:
    with closing(open_for_reading(folder)) as connection:
        return {row["canonical_url"][18:]: row for row in export_pages(connection)}


def names(captured: list[Captured]) -> list[str]:
    return [unpacked(one.row.name or "").title for one in captured]


def test_a_page_of_another_name_is_kept_and_names_what_it_resembles(tmp_path: Path) -> None:
    captured = capture(tmp_path, [("/red", RED), ("/blue", BLUE), ("/red?print", RED_AGAIN)])
    assert verdicts(captured) == ["new", "same_template", "near_duplicate"]
    blue = captured[1]
    assert blue.resembled_url == "http://example.com/red"
    assert blue.kept_url is None
    assert blue.row.similarity is not None
    assert 0.9 < blue.row.similarity < 1
    pages = exported(tmp_path)
    assert pages["/blue"]["resembles"] == "http://example.com/red"
    assert pages["/blue"]["duplicate_of"] is None
    assert pages["/blue"]["text"] is not None
    assert pages["/red?print"]["duplicate_of"] == "http://example.com/red"


def test_names_do_not_count_where_they_are_switched_off(tmp_path: Path) -> None:
    captured = capture(tmp_path, [("/red", RED), ("/blue", BLUE)], ALL_NAMES)
    assert verdicts(captured) == ["new", "near_duplicate"]


def test_a_copy_of_a_page_that_resembles_another_is_a_copy_of_that_page(tmp_path: Path) -> None:
    copy = html(f"{LONG} Blue. Print.", "Blue lamp")
    captured = capture(tmp_path, [("/red", RED), ("/blue", BLUE), ("/blue2", copy)])
    assert verdicts(captured)[2] == "near_duplicate"
    assert captured[2].kept_url == "http://example.com/blue"


def test_the_same_text_is_a_duplicate_whatever_the_title(tmp_path: Path) -> None:
    body = f"<title>{{}}</title><article><p>{LONG}</p></article>"
    answers = [("/a", body.format("Mail (1)").encode()), ("/b", body.format("Mail (2)").encode())]
    captured = capture(tmp_path, answers)
    assert verdicts(captured) == ["new", "text_duplicate"]
    assert names(captured) == ["Mail (1)", "Mail (2)"]  # its own one, beside the shared text


def test_a_page_without_title_and_heading_is_called_by_its_first_lines(tmp_path: Path) -> None:
    (one,) = capture(tmp_path, [("/a", f"<article><p>{LONG}</p></article>".encode())])
    name = unpacked(one.row.name or "")
    assert (name.title, name.heading) == ("", "")
    assert LONG.startswith(name.opening[:100])
    assert name.opening


def test_a_page_of_the_same_bytes_has_the_name_of_its_original(tmp_path: Path) -> None:
    body = f"<article><p>{LONG}</p></article>".encode()
    captured = capture(tmp_path, [("/a", body), ("/b", body)])
    assert verdicts(captured) == ["new", "exact_duplicate"]
    assert captured[0].row.name == captured[1].row.name


def article(number: str, comment: str = "") -> bytes:
    """An article without a heading, which a number in its text alone tells from others."""
    said = f"A fine lamp of brass. SKU: {number}. {LONG}"
    return f"<title>Shop</title><article><p>{said}</p></article><!-- {comment} -->".encode()


ONE, TWO = article("AB-1234"), article("AB-9876")


def test_a_promoted_page_of_the_same_bytes_is_told_by_the_number_in_its_text(
    tmp_path: Path,
) -> None:
    assert verdicts(capture(tmp_path, [("/a", ONE), ("/b", ONE)])) == ["new", "exact_duplicate"]
    capture(tmp_path, [("/a", html(OTHER, "Other")), ("/b", ONE)])
    assert exported(tmp_path)["/b"]["text"] is not None
    assert verdicts(capture(tmp_path, [("/c", TWO)])) == ["same_template"]


def test_a_page_of_the_same_bytes_keeps_its_own_canonical_url(tmp_path: Path) -> None:
    body = b"<link rel=canonical href=one>" + ONE
    for one in capture(tmp_path, [("/a/x", body), ("/b/x", body)]):
        folder = one.row.url.removesuffix("x")
        assert unpacked(one.row.name or "").identifiers == (f"canonical:{folder}one", "sku:AB-1234")


class TestRevisit:
    @pytest.mark.parametrize("comment", ["", "changed"])
    def test_what_the_text_tells_of_a_name_stays(self, tmp_path: Path, comment: str) -> None:
        (before,) = capture(tmp_path, [("/a", ONE)])
        (again,) = capture(tmp_path, [("/a", article("AB-1234", comment))])
        assert again.verdict == "unchanged"
        assert again.row.name == before.row.name
        assert verdicts(capture(tmp_path, [("/b", TWO)])) == ["same_template"]

    def test_a_new_title_of_an_unchanged_page_is_stored(self, tmp_path: Path) -> None:
        body = f"<title>{{}}</title><article><p>{LONG}</p></article>"
        capture(tmp_path, [("/a", body.format("Before").encode())])
        (again,) = capture(tmp_path, [("/a", body.format("After").encode())])
        assert again.verdict == "unchanged"
        assert names([again]) == ["After"]
        assert exported(tmp_path)["/a"]["title"] == "After"

    def test_a_near_duplicate_that_gets_a_name_of_its_own_is_kept(self, tmp_path: Path) -> None:
        text = f"<title>{{}}</title><article><p>{LONG} Edited.</p></article>"
        first = f"<title>Lamp</title><article><p>{LONG}</p></article>".encode()
        before = capture(tmp_path, [("/a", first), ("/b", text.format("Lamp").encode())])
        assert verdicts(before) == ["new", "near_duplicate"]
        after = capture(tmp_path, [("/a", first), ("/b", text.format("Shade").encode())])
        assert verdicts(after) == ["unchanged", "same_template"]
        assert exported(tmp_path)["/b"]["resembles"] == "http://example.com/a"

    def test_a_page_that_is_called_like_the_one_that_it_resembles_is_a_copy(
        self, tmp_path: Path
    ) -> None:
        text = f"<title>{{}}</title><article><p>{LONG} Edited.</p></article>"
        first = f"<title>Lamp</title><article><p>{LONG}</p></article>".encode()
        capture(tmp_path, [("/a", first), ("/b", text.format("Shade").encode())])
        after = capture(tmp_path, [("/a", first), ("/b", text.format("Lamp").encode())])
        assert verdicts(after) == ["unchanged", "near_duplicate"]
        assert exported(tmp_path)["/b"]["resembles"] is None

    def test_a_page_keeps_its_verdict_while_the_resembled_one_changes(self, tmp_path: Path) -> None:
        capture(tmp_path, [("/red", RED), ("/blue", BLUE)])
        after = capture(tmp_path, [("/red", html(OTHER, "Red lamp")), ("/blue", BLUE)])
        assert verdicts(after) == ["changed", "unchanged"]
        assert exported(tmp_path)["/blue"]["resembles"] == "http://example.com/red"

    def test_a_changed_page_names_what_it_resembles_with_measures_of_its_last_version(
        self, tmp_path: Path
    ) -> None:
        capture(tmp_path, [("/red", RED), ("/blue", html(OTHER, "Blue lamp"))])
        after = capture(tmp_path, [("/red", RED), ("/blue", BLUE)])
        assert verdicts(after) == ["unchanged", "changed"]
        assert after[1].resembled_url == "http://example.com/red"
        assert after[1].row.similarity is not None
        assert after[1].row.similarity < 0.1
        assert exported(tmp_path)["/blue"]["resembles"] == "http://example.com/red"
        assert not check(tmp_path).problems

    def test_a_changed_page_that_gets_the_name_of_what_it_resembles_is_a_copy(
        self, tmp_path: Path
    ) -> None:
        capture(tmp_path, [("/red", RED), ("/blue", html(OTHER, "Blue lamp"))])
        capture(tmp_path, [("/red", RED), ("/blue", BLUE)])
        after = capture(tmp_path, [("/red", RED), ("/blue", RED_AGAIN)])
        assert verdicts(after) == ["unchanged", "near_duplicate"]
        assert exported(tmp_path)["/blue"]["resembles"] is None


def test_a_promoted_duplicate_is_judged_by_its_own_name(tmp_path: Path) -> None:
    """Its text is that of the old version of its original, and another page resembles both."""
    body = f"<title>{{}}</title><article><p>{LONG}</p></article>"
    lamp, mail = body.format("Lamp").encode(), body.format("Mail (2)").encode()
    shade = f"<title>Shade</title><article><p>{LONG} Edited.</p></article>".encode()
    capture(tmp_path, [("/a", lamp), ("/b", mail), ("/shade", shade)])
    after = capture(tmp_path, [("/a", html(OTHER, "Lamp")), ("/b", mail), ("/shade", shade)])
    assert exported(tmp_path)["/b"]["text"] is not None
    (promoted,) = (one for one in after if one.row.url.endswith("/b"))
    assert names([promoted]) == ["Mail (2)"]
    assert promoted.row.verdict == "same_template"
    assert promoted.resembled_url == "http://example.com/shade"


def test_a_page_of_another_name_is_another_page_for_the_rules_of_urls(tmp_path: Path) -> None:
    """Its words in another order would make it the same one."""
    words = LONG.split()
    turned = " ".join([*words[-5:], *words[:-5]])
    red, blue = capture(
        tmp_path, [("/?id=1", html(LONG, "Red blue")), ("/?id=2", html(turned, "Blue red"))]
    )
    assert blue.verdict == "same_template"
    assert red.row.words_digest == blue.row.words_digest
    one, other = content_of(red.row), content_of(blue.row)
    assert one is not None
    assert other is not None
    assert agreement(one, other) is False


async def test_a_page_that_resembles_one_of_another_crawl_says_its_url(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    with fleet(folders, OPTIONS, OneMemory(OPTIONS.parameters)) as jobs:
        one, other = jobs
        answers = [
            (one, "/red", RED),
            (other, "/blue", BLUE),
            (other, "/blue?print", html(f"{LONG} Blue!", "Blue lamp")),
            (one, "/green", html(f"{LONG} Green.", "Green lamp")),
        ]
        async with workers_of(jobs):
            captured = [
                await job.processor.capture(fetched(job, path, body)) for job, path, body in answers
            ]
    assert verdicts(captured) == ["new", "same_template", "near_duplicate", "same_template"]
    blue, green = captured[1], captured[3]
    assert blue.row.resembles is None
    assert blue.resembled_url == "http://example.com/red"
    assert blue.row.reason == Reason.RESEMBLES.stored("http://example.com/red")
    assert "another crawl" in (in_words(blue.row.reason) or "")
    if green.resembled_url == "http://example.com/red":
        assert green.row.resembles == captured[0].row.id
    else:  # both are kept pages of other names, and either is near enough
        assert green.row.reason == Reason.RESEMBLES.stored("http://example.com/blue")
