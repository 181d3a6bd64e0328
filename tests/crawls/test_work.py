"""The work of the main process for a page only ever falls."""

from __future__ import annotations

import pytest

from tests.crawls.work import (
    ARTICLES,
    CopyingSite,
    Work,
    count_work,
    margin_of,
    modules_that_rose,
    pinned,
)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """The work of a crawl; of the third one where a busy machine answered the others out of order.

    What the rules learn, and so what they compute, depends on the order of the answers.
    """
    for last in (False, False, True):
        with CopyingSite(ARTICLES) as site:
            found = count_work(site.url, tmp_path_factory.mktemp("work") / "job")
        if last or all(is_within(found, name) for name in pinned().a_page):
            break
    return found


def is_within(work: Work, name: str) -> bool:
    return work.a_page[name] <= margin_of(name) * pinned().a_page[name]


def test_every_article_is_fetched_and_few_copies(work: Work) -> None:
    assert ARTICLES < work.pages <= ARTICLES * 1.35 + 1


@pytest.mark.parametrize("name", list(pinned().a_page))
def test_no_count_is_above_its_ceiling(work: Work, name: str) -> None:
    assert is_within(work, name), modules_that_rose(work)


def test_a_module_that_rises_is_named() -> None:
    before = pinned()
    module = next(iter(before.ours))
    calls = {**before.calls, module: before.calls[module] * 2, "crawler.new": before.pages * 9}
    lines = modules_that_rose(Work(**{**vars(before), "calls": calls}))
    assert lines.splitlines()[0].startswith(f"{module}: ")
    assert "crawler.new: 9.0 calls a page, 0.0 before" in lines
