"""Pages of one main text are judged by the words beside it, and links do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawler.pages.test_capture import capture, held, verdicts
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

BESIDE = {
    "figcaption": "<figure><img src=a.png><figcaption>{}</figcaption></figure>",
    "aside": "<aside>{}</aside>",
    "related": '<div class="related">{}</div>',
    "widget": '<div class="product-widget">{}</div>',
    "hidden": '<div style="display:none">{}</div>',
}


def beside(markup: str, words: str) -> bytes:
    """A page of 141 words of main text, with something beside it."""
    text = prose("shared", 141)
    return f"<html><body><main><p>{text}</p></main>{markup.format(words)}</body></html>".encode()


@pytest.mark.parametrize("markup", BESIDE.values(), ids=BESIDE)
def test_pages_of_one_main_text_that_differ_beside_it_are_all_kept(
    tmp_path: Path, markup: str
) -> None:
    words = [prose(f"beside {number}", 150 + 25 * number) for number in range(3)]
    pages = [(f"/{number}", beside(markup, one)) for number, one in enumerate(words)]
    found = capture(tmp_path / "job", pages)
    assert verdicts(found) == ["new"] * 3
    assert all(prose("shared", 141) in text for text in held(tmp_path / "job").values())


def test_one_article_behind_other_links_is_a_duplicate(tmp_path: Path) -> None:
    links = '<nav><ul>{0}</ul></nav><div class="related"><ul>{0}</ul></div><p>Imprint</p>'
    pages = [
        (
            f"/{number}",
            beside(links, "".join(f"<li><a href=/{number}/{n}>{number} {n}</a>" for n in range(9))),
        )
        for number in range(3)
    ]
    found = capture(tmp_path / "job", pages)
    assert verdicts(found) == ["new", "text_duplicate", "text_duplicate"]


def test_one_article_beside_nearly_the_same_is_a_near_duplicate(tmp_path: Path) -> None:
    aside, words = "<aside>{}</aside>", prose("aside", 150)
    pages = [("/a", beside(aside, f"{words} today")), ("/b", beside(aside, f"{words} tomorrow"))]
    found = capture(tmp_path / "job", pages)
    assert verdicts(found) == ["new", "near_duplicate"]
    assert (found[1].row.distance or 0) <= 3
    assert found[1].row.similarity == pytest.approx(0.99, abs=0.01)


def test_framesets_of_one_notice_are_told_apart_by_their_frames(tmp_path: Path) -> None:
    notice = f"<noframes><body><p>{prose('notice', 80)}</p></body></noframes>"
    pages = [
        (f"/{name}", f"<frameset><frame src={name}.html></frameset>{notice}".encode())
        for name in ("one", "two")
    ]
    assert [one.is_duplicate for one in capture(tmp_path / "job", pages)] == [False, False]


def test_indexes_that_differ_behind_their_first_20000_entries_are_both_kept(tmp_path: Path) -> None:
    def index(last: str) -> bytes:
        entries = [*range(21_000), *(f"{last} {number}" for number in range(300))]
        return "".join(f"<li><a href=/{one}>entry {one}</a></li>" for one in entries).encode()

    found = capture(tmp_path / "job", [("/a", index("apple")), ("/b", index("pear"))])
    assert [one.is_duplicate for one in found] == [False, False]
    assert "equality alone" in (found[0].row.reason or "") or found[0].row.is_main == 0


def test_topics_of_one_introduction_are_told_apart_by_their_links(tmp_path: Path) -> None:
    def listing(introduction: str, entries: list[str]) -> bytes:
        items = "".join(f"<li><a href=/{n}>{one}</a></li>" for n, one in enumerate(entries))
        return f"<main><h1>Read on</h1><p>{introduction}</p><ul>{items}</ul></main>".encode()

    pages = [
        (f"/articles/{n}", listing(prose(f"article {n}", 300), ["next", "previous", "up"]))
        for n in range(12)
    ]
    shared = prose("introduction", 60)
    pages += [
        (f"/topics/{name}", listing(shared, [prose(f"{name} {n}", 8) for n in range(7)]))
        for name in "abc"
    ]
    assert not any(one.is_duplicate for one in capture(tmp_path / "job", pages))
