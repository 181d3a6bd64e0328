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
    assert found[1].row.distance == 0
    assert found[1].row.similarity == pytest.approx(0.99, abs=0.01)
