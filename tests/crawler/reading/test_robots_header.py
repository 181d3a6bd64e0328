"""Which words of ``X-Robots-Tag`` bind this crawler."""

from __future__ import annotations

import pytest

from crawler.reading.robots_header import robots_words

AGENT = "crawl-once/0.1"
BROWSER_LIKE = "Mozilla/5.0 (compatible; crawl-once/0.1; +https://example.org/about)"


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ([], set()),
        ([""], set()),
        ([" , ,"], set()),
        (["noindex"], {"noindex"}),
        (["NoIndex,  NOFOLLOW "], {"noindex", "nofollow"}),
        (["noindex", "nofollow"], {"noindex", "nofollow"}),
        (["otherbot: noindex"], set()),
        (["otherbot: none, nofollow"], set()),
        (["otherbot: noindex", "nofollow"], {"nofollow"}),
        (["nofollow, otherbot: noindex"], {"nofollow"}),
        (["otherbot: noindex, crawl-once: nofollow, noarchive"], {"nofollow", "noarchive"}),
        (["crawl-once: noindex"], {"noindex"}),
        (["Crawl-Once : noindex"], {"noindex"}),
        (["crawl-once: noindex, otherbot: nofollow"], {"noindex"}),
        (["*: noindex"], {"noindex"}),
        # A part of our name, or of nobody's, is not our name.
        (["crawl: noindex"], set()),
        (["o: noindex"], set()),
        # A colon in a directive's own value names no robot.
        (["max-snippet: -1, noindex"], {"max-snippet: -1", "noindex"}),
        (["otherbot: max-snippet: 20, nofollow"], set()),
        (
            ["unavailable_after: Friday, 25-Jun-2027 15:00:00 GMT, nofollow"],
            {"unavailable_after: friday", "25-jun-2027 15:00:00 gmt", "nofollow"},
        ),
        (["otherbot: unavailable_after: 25 Jun 2027 15:00:00 GMT, noindex"], set()),
    ],
)
@pytest.mark.parametrize("agent", [AGENT, BROWSER_LIKE])
def test_only_what_is_meant_for_us_binds(headers: list[str], words: set[str], agent: str) -> None:
    assert robots_words(headers, agent) == words
