"""Pages that are kept at each of their URLs speak neither for a rule nor against one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.pages.reasons import TOLD_BY_URL, Reason, Stored
from tests.crawler.frontier.ruled import SOMEWHERE, RuledCrawl
from tests.crawler.url_rules.test_engine import argument, report

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.pages.page_row import PageRow


class ShellCrawl(RuledCrawl):
    """A crawl of which no browser can show every tenth page, whose text has its URL in it."""

    reason = Reason.NOT_RENDERED

    def row(self, url: str, verdict: str) -> PageRow:
        row = super().row(url, verdict)
        if int(argument(url, "id")) % 10 == 0:
            row.reason = Stored(f"{self.reason} the browser did not answer")
        return row


def site(url: str) -> str:
    number = argument(url, "id")
    return f"page {number}" + (f" at {url}" if int(number) % 10 == 0 else "")


@pytest.mark.parametrize("reason", sorted(TOLD_BY_URL))
@pytest.mark.parametrize("comes_late", [False, True])
def test_they_do_not_stand_against_a_rule(reason: Reason, comes_late: bool, tmp_path: Path) -> None:
    crawl = ShellCrawl(tmp_path, site)
    crawl.reason = reason
    numbers = sorted(range(300), key=lambda number: (comes_late and number % 10 == 0, number))
    for number in numbers:
        for token in range(3):
            crawl.admit(f"{SOMEWHERE}/page?id={number}&token=t{number}x{token}")
            crawl.drain()
    (rule,) = report(crawl).rules
    assert (rule.state, rule.what) == ("holds", "any token= is irrelevant")
    assert len(crawl.fetched) < 400
