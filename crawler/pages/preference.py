"""Which of two copies is the better one to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from crawler.pages.shared_verdicts import Original


def is_better(candidate: PageRow, kept: PageRow | Original) -> bool:
    """Whether a later copy would have been the better one, in the order of Apache Nutch.

    Nutch compares score, then fetch time, then https before http, then the
    length of the URL. Our score is the nearness to a seed. Copies of one visit
    count as fetched at one time: that one was met a second later says nothing.
    """
    return _rank(candidate) < _rank(kept)


def _rank(row: PageRow | Original) -> tuple[int, int, bool, int]:
    return row.depth, -row.visit, urlsplit(row.url).scheme != "https", len(row.url)
