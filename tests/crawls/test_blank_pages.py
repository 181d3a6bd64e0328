"""Pages that scripts fill say the same at every URL: none is a duplicate of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.pages.verdicts import TOO_SHORT
from tests.crawls.command import crawl, killed, pages, report, scrapy
from tests.crawls.crawled import crawl_site
from tests.sites.hostile import HostileSite
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.hostile import Trick

BLANK = "<html><head><title>App</title></head><body>{}<script src=/app.js></script></body></html>"
AS_THEY_COME = ("-a", "render=no")
FILLED = {
    "nothing": BLANK.format("<div id=root></div>"),
    "loading": BLANK.format("<div id=root></div><p>Loading, please wait</p>"),
    "notice": BLANK.format("<noscript>You need to enable JavaScript.</noscript><div id=x></div>"),
    "frame": BLANK.format("<nav><a href=/>Home and news</a></nav><div id=app></div><p>Acme</p>"),
    "element": BLANK.format("<app-root>Loading...</app-root>"),
}
STILL = "<html><title>A note</title><body><p>One short note.</p><script src=/count.js></script>"


def html(text: str) -> Trick:
    return lambda exchange: exchange.answer(text.encode())


@pytest.mark.slow
def test_each_is_kept(tmp_path: Path) -> None:
    added = {f"/{kind}/{name}": html(page) for kind, page in FILLED.items() for name in "abc"}
    with HostileSite(linked=tuple(added)) as site:
        site.added = added
        crawled = crawl_site(site, tmp_path, *AS_THEY_COME)
        verdicts = {path: crawled.rows[path]["verdict"] for path in added}
        assert verdicts == dict.fromkeys(added, TOO_SHORT)
        assert crawled.report.app_shells == len(added)
        shown_report = scrapy("report", str(tmp_path)).stdout
        assert "blank: 15 pages without the text that scripts show in a browser" in shown_report
        crawl(site.url, tmp_path, *AS_THEY_COME, "-a", "revisit=yes")
    seen = pages(tmp_path, "--verdict", "kept")
    assert len(seen) == len(added) + 1
    assert report(tmp_path)["changes"]["outcomes"]["unchanged"] == len(added) + 1
    assert scrapy("verify", str(tmp_path)).returncode == 0


def test_other_short_pages_have_duplicates(tmp_path: Path) -> None:
    with HostileSite(linked=("/one", "/two")) as site:
        site.added = dict.fromkeys(("/one", "/two"), html(STILL))
        crawled = crawl_site(site, tmp_path, *AS_THEY_COME)
    assert crawled.report.verdicts["exact_duplicate"] == 1
    assert crawled.report.app_shells == 0


@pytest.mark.slow
def test_many_are_no_duplicates_and_teach_no_rule(tmp_path: Path) -> None:
    added = {f"/{kind}/{place}": html(page) for kind, page in FILLED.items() for place in "ab"}
    paths = tuple(f"{path}?id={number}" for path in added for number in range(60))
    with HostileSite(linked=paths) as site:
        site.added = added
        crawled = crawl_site(site, tmp_path, *AS_THEY_COME)
    assert {crawled.rows[path]["verdict"] for path in paths} == {TOO_SHORT}
    assert set(paths) <= set(crawled.asked)
    assert crawled.report.app_shells == len(paths)
    assert scrapy("verify", str(tmp_path)).returncode == 0


@pytest.mark.slow
def test_kill_9_and_new_parameters_make_none_a_duplicate(tmp_path: Path) -> None:
    paths = tuple(f"/app/{number}" for number in range(60))
    with HostileSite(linked=paths) as site:
        site.added = dict.fromkeys(paths, html(FILLED["loading"]))
        slowly = ("-s", 'DOWNLOAD_SLOTS={"127.0.0.1": {"delay": 0.05, "concurrency": 1}}')
        where = ("-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}")
        with killed("crawl", "site", *where, *slowly, *AS_THEY_COME) as process:
            wait_until(lambda: len(site.paths()) >= 20, process)
        crawled = crawl_site(site, tmp_path, *AS_THEY_COME)
        assert {crawled.rows[path]["verdict"] for path in paths} == {TOO_SHORT}
    done = scrapy("rejudge", str(tmp_path), "-s", "NEARDUP_MIN_WORDS=1")
    assert done.returncode == 0, done.stderr
    assert report(tmp_path)["kept"] == len(paths) + 1
