"""The work of the main process for a page only ever falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Work]:
    with CopyingSite(ARTICLES) as site:
        yield count_work(site.url, tmp_path_factory.mktemp("work") / "job")


def test_every_article_is_fetched_and_few_copies(work: Work) -> None:
    assert ARTICLES < work.pages <= ARTICLES * 1.35 + 1


@pytest.mark.parametrize("name", list(pinned().a_page))
def test_no_count_is_above_its_ceiling(work: Work, name: str) -> None:
    ceiling = margin_of(name) * pinned().a_page[name]
    assert work.a_page[name] <= ceiling, modules_that_rose(work)


def test_a_module_that_rises_is_named() -> None:
    before = pinned()
    module = next(iter(before.ours))
    calls = {**before.calls, module: before.calls[module] * 2, "crawler.new": before.pages * 9}
    lines = modules_that_rose(Work(**{**vars(before), "calls": calls}))
    assert lines.splitlines()[0].startswith(f"{module}: ")
    assert "crawler.new: 9.0 calls a page, 0.0 before" in lines
