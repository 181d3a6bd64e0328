"""Duplicates are counted by the template of their URLs."""

from __future__ import annotations

from dataclasses import replace

from crawler.lab.choice import Choice
from crawler.lab.site_links import TemplatePages, templates_of
from tests.crawler.lab.pages import Book, Made
from tests.neardup.texts import prose

HOST = "http://shop.example"


def templates(urls: list[tuple[str, int]]) -> list[TemplatePages]:
    """Return the templates of pages whose number says what they say."""
    session = Book([Made(prose(text, 80)) for _, text in urls]).session()
    pages = [replace(page, url=url) for page, (url, _) in zip(session.pages, urls, strict=True)]
    return templates_of(pages, session.judge(Choice()))


def test_copies_below_one_folder_have_one_template() -> None:
    folders = ("a", "b", "c", "d")
    originals = [(f"{HOST}/{folder}/page", number) for number, folder in enumerate(folders)]
    copies = [(f"{HOST}/print/{folder}/page", number) for number, folder in enumerate(folders)]
    first, *others = templates([*originals, *copies])
    assert first == TemplatePages("shop.example/print/*/*", 4, 4, 4, f"{HOST}/print/a/page")
    assert {(one.template, one.dropped) for one in others} == {
        (f"shop.example/{folder}/*", 0) for folder in folders
    }


def test_arguments_endings_and_numbers_tell_templates_apart() -> None:
    urls = [
        (f"{HOST}/item.php?id=1&sort=up", 1),
        (f"{HOST}/item.php?id=1&sort=down", 1),
        (f"{HOST}/item.php?id=2", 2),
        (f"{HOST}/2024/", 3),
        (f"{HOST}/2025/", 4),
        (f"{HOST}/", 5),
    ]
    found = {one.template: (one.pages, one.dropped, one.clusters) for one in templates(urls)}
    assert found == {
        "shop.example/item.php?id=&sort=": (2, 1, 1),
        "shop.example/item.php?id=": (1, 0, 0),
        "shop.example/#/": (2, 0, 0),
        "shop.example/": (1, 0, 0),
    }


def test_pages_may_be_named_in_any_way() -> None:
    found = templates([("", 1), ("file:///home/a/b.html", 2), ("a b", 3), ("http://[", 4)])
    assert sum(one.pages for one in found) == 4


def test_without_pages_there_is_no_template() -> None:
    assert templates([]) == []
