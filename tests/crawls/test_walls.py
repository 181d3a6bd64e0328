"""Areas that answer with something else than their pages, and manuals, which have none of them."""

from __future__ import annotations

import mimetypes
import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from crawler.url_rules.kinds import NEW_TEXT
from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import crawl, killed, pages, report, scrapy
from tests.crawls.crawled import exported, queried
from tests.crawls.fleet import fleet_settings
from tests.sites.packages import PACKAGES
from tests.sites.prose import document
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Response
from tests.sites.walled import PAGES, WALLS, WalledSite
from tests.waiting import wait_until

if TYPE_CHECKING:
    from typing import Any

    from tests.sites.serving import Request

QUICK = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8", "-s", "DOWNLOAD_DELAY=0")


def rows_of(jobdir: Path, site: WalledSite) -> dict[str, dict[str, Any]]:
    return exported(jobdir, site.origin)


def verdicts_of(rows: dict[str, dict[str, Any]], area: str) -> Counter[str]:
    return Counter(row["verdict"] for path, row in rows.items() if path.startswith(f"/{area}/"))


def kept(rows: dict[str, dict[str, Any]]) -> set[str]:
    return {path for path, row in rows.items() if row["text"] is not None}


def probes(site: WalledSite, rows: dict[str, dict[str, Any]]) -> list[str]:
    """What was asked for and became no page, but for the script of a page in a browser."""
    return [path for path in site.asked if path not in {*rows, *OF_EVERY_HOST, "/main.js"}]


@pytest.mark.parametrize("area", sorted(set(WALLS) - {"silent"}))
def test_all_urls_of_an_area_behind_a_wall_get_the_verdict(tmp_path: Path, area: str) -> None:
    with WalledSite([area]) as site:
        crawl(site.url, tmp_path, *QUICK)
        rows = rows_of(tmp_path, site)
        assert verdicts_of(rows, area) == {WALLS[area]: PAGES}
        assert kept(rows) == site.real_paths()
        assert len(probes(site, rows)) == 1
    assert report(tmp_path)["url_rules"] == 0
    assert check(tmp_path).findings == ()


def test_a_text_without_a_wording_is_told_by_the_answer_to_a_url_that_cannot_exist(
    tmp_path: Path,
) -> None:
    with WalledSite(WALLS, answers_unknown=True) as site:
        crawl(site.url, tmp_path, *QUICK)
        rows = rows_of(tmp_path, site)
        assert {area: verdicts_of(rows, area) for area in WALLS} == {
            area: {verdict: PAGES} for area, verdict in WALLS.items()
        }
        assert kept(rows) == site.real_paths()
        assert len(probes(site, rows)) == 1
    told = scrapy("report", str(tmp_path)).stdout
    assert f"{PAGES}  soft_404         many URLs answer like one that cannot exist" in told
    assert f"{PAGES}  wall             many URLs ask for the same: login" in told
    assert f"{site.origin}/members/" in told
    assert check(tmp_path).findings == ()


def test_a_host_is_probed_though_links_of_duplicates_are_not_followed(tmp_path: Path) -> None:
    with WalledSite(["silent"], answers_unknown=True) as site:
        crawl(site.url, tmp_path, *QUICK, "-s", "NEARDUP_FOLLOW_DUPLICATES=False")
        rows = rows_of(tmp_path, site)
        assert verdicts_of(rows, "silent") == {"soft_404": PAGES}
        assert len(probes(site, rows)) == 1


def test_no_page_is_lost_where_unknown_urls_are_told_and_sessions_have_many(
    tmp_path: Path,
) -> None:
    with WalledSite(["silent", "sessions"]) as site:
        crawl(site.url, tmp_path, *QUICK, "-s", "CRAWL_LEARN_URL_RULES=False")
        rows = rows_of(tmp_path, site)
        assert len(probes(site, rows)) == 1
    for area in ("silent", "sessions"):
        found = verdicts_of(rows, area)
        assert found["soft_404"] == found["wall"] == 0
        assert sum(path.startswith(f"/{area}/") for path in kept(rows)) == 1
    assert check(tmp_path).findings == ()


class FalteringSite(WalledSite):
    """Breaks off the connection, or says HTTP 404, for a URL that does not exist, for a while."""

    failure: Response | None = None
    fails = True

    def respond(self, request: Request) -> Response | None:
        answer = super().respond(request)
        is_probe = re.fullmatch("/[0-9a-f]{16}", request.target) is not None
        return self.failure if is_probe and self.fails else answer


@pytest.mark.parametrize(("failure", "stored"), [(None, None), (NOT_FOUND, b"")])
def test_each_visit_asks_for_a_url_that_cannot_exist_and_a_broken_answer_is_none(
    tmp_path: Path, failure: Response | None, stored: bytes | None
) -> None:
    quick = (*QUICK, "-s", "RETRY_TIMES=1", "-s", "CRAWL_LEARN_URL_RULES=False")
    with FalteringSite(["silent"], answers_unknown=True) as site:
        site.failure = failure
        crawl(site.url, tmp_path, *quick)
        assert verdicts_of(rows_of(tmp_path, site), "silent")["soft_404"] == 0
        (found,) = queried(tmp_path, "SELECT skeleton FROM wall_probes")
        assert tuple(found) == (stored,)
        site.fails = False
        crawl(site.url, tmp_path, *quick, "-a", "revisit=yes")
        sql = "SELECT count(*) FROM pages WHERE latest = 1 AND verdict = 'soft_404'"
        ((count,),) = queried(tmp_path, sql)
        assert count == PAGES, "guessed sitemaps are no pages"


class EndlessCalendar(MadeSite):
    """Serves a soft 404 for each month, which leads on to the next month; there is no last one."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def respond(self, request: Request) -> Response:
        self.asked.append(request.target)
        if request.target == "/":
            return Response(document("A town", '<a href="/month/1">Calendar</a>'))
        month = re.fullmatch(r"/month/(\d+)", request.target)
        if month is None:
            return NOT_FOUND
        onward = f'<a href="/month/{int(month[1]) + 1}">next</a>'
        said = f"<h1>Calendar</h1><p>Page not found. There is nothing for this month.</p>{onward}"
        return Response(f"<html><title>Calendar</title><body>{said}</body></html>".encode())


def test_soft_404s_that_lead_on_without_end_are_a_trap(tmp_path: Path) -> None:
    with EndlessCalendar() as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK, "-a", "max_pages=500")
        assert len(site.asked) < NEW_TEXT.enough + 20
    assert report(tmp_path)["verdicts"]["soft_404"] >= NEW_TEXT.enough
    assert check(tmp_path).findings == ()


def test_soft_404s_count_for_the_budget_of_a_kind_of_urls(tmp_path: Path) -> None:
    with EndlessCalendar() as site:
        crawl(f"{site.origin}/", tmp_path, *QUICK, "-s", "CRAWL_MAX_PAGES_PER_CLUSTER=40")
        assert len(site.asked) < 50


def test_a_wall_that_stays_costs_one_request_more(tmp_path: Path) -> None:
    with WalledSite(["lost", "members"]) as site:
        crawl(site.url, tmp_path, *QUICK)
        times = Counter(path for path in site.asked if path not in OF_EVERY_HOST)
    again = [path for path, count in times.items() if count > 1]
    assert sorted(path.split("/")[1] for path in again) == ["lost", "members"]


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    with WalledSite(["news"]) as site:
        crawl(site.url, tmp_path, *QUICK, "-s", "CRAWL_FIND_WALLS=False")
        rows = rows_of(tmp_path, site)
        assert probes(site, rows) == []
    assert "wall" not in verdicts_of(rows, "news")
    assert sum(path.startswith("/news/") for path in kept(rows)) == 1


def test_a_fleet_finds_none_and_says_so(tmp_path: Path, redis_url: str) -> None:
    settings = fleet_settings(redis_url, tmp_path) | {"CRAWL_FIND_WALLS": "1"}
    options = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
    with WalledSite(["members"]) as site:
        done = scrapy("crawl", "site", "-a", f"url={site.url}", *QUICK, *options)
        rows = rows_of(tmp_path, site)
    assert done.returncode == 0, done.stderr
    (warning,) = (line for line in done.stdout.splitlines() if line.startswith("warning: "))
    assert warning.startswith("warning: CRAWL_FIND_WALLS has no effect in a fleet")
    found = verdicts_of(rows, "members")
    assert (found.total(), found["wall"], found["soft_404"]) == (PAGES, 0, 0)
    assert sum(path.startswith("/members/") for path in kept(rows)) == 1


def test_a_wall_is_taken_back_by_one_of_its_urls(tmp_path: Path) -> None:
    with WalledSite(["members", "news"]) as site:
        crawl(site.url, tmp_path, *QUICK)
        before = rows_of(tmp_path, site)
        for url in (f"{site.origin}/terms", f"{site.origin}/members/absent", "members"):
            done = scrapy("rejudge", "--no-wall", url, str(tmp_path))
            assert (done.returncode, done.stdout) == (2, "")
            hint = f"crawl-once report {tmp_path} names one of each wall"
            said = f"{url}: neither a wall nor a soft 404 answered there; {hint}"
            assert done.stderr == f"scrapy rejudge: {said}\n"
        assert rows_of(tmp_path, site) == before
        url = next(path for path in before if path.startswith("/members/"))
        done = scrapy("rejudge", "--no-wall", site.origin + url, str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        (freed,) = (at for at, line in enumerate(lines) if "walls or soft 404s before" in line)
        assert lines[freed + 1].strip().startswith(f"{site.origin}/members/")
        assert lines[freed + 2].endswith("0  duplicates before, kept now")
        assert lines[freed + 3].endswith("0  kept before, duplicates now")
        after = rows_of(tmp_path, site)
        assert verdicts_of(after, "members")["wall"] == 0
        assert sum(path.startswith("/members/") for path in kept(after)) == 1
        assert verdicts_of(after, "news") == {"wall": PAGES}
        crawl(site.url, tmp_path, *QUICK, "-a", "revisit=yes")
        again = rows_of(tmp_path, site)
    assert {row["verdict"] for path, row in again.items() if path in kept(after)} == {"unchanged"}
    assert kept(again) == kept(after)
    assert check(tmp_path).findings == ()


def _has_served(site: WalledSite, requests: int) -> bool:
    return len(site.asked) >= requests


def test_a_crawl_that_is_killed_comes_to_the_same_verdicts(tmp_path: Path) -> None:
    command = ("-s", f"JOBDIR={tmp_path}", *QUICK)
    with WalledSite(WALLS, answers_unknown=True) as site:
        for requests in (30, 80, 130):
            with killed("crawl", "site", "-a", f"url={site.url}", *command) as process:
                wait_until(partial(_has_served, site, requests), process)
        crawl(site.url, tmp_path, *QUICK)
        rows = rows_of(tmp_path, site)
        assert {area: verdicts_of(rows, area) for area in WALLS} == {
            area: {verdict: PAGES} for area, verdict in WALLS.items()
        }
        assert kept(rows) == site.real_paths()
    assert check(tmp_path).findings == ()


SHORT_PAGES = 300


class FolderSite(MadeSite):
    """Serves the files of a folder, whose index is ``index.html`` or in English."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def respond(self, request: Request) -> Response:
        path = self._folder / unquote(urlsplit(request.target).path).lstrip("/")
        found = next((each for each in (path, path / "index.html") if each.is_file()), None)
        if found is None:
            return NOT_FOUND
        kind = mimetypes.guess_type(found.name)[0] or "text/html"
        return Response(found.read_bytes(), content_type=kind)


@pytest.mark.parametrize(
    ("package", "start"),
    [
        ("apache2-doc", "en/index.html"),
        ("python3.11-doc", "contents.html"),
        ("postgresql-doc-15", "index.html"),
        ("openjdk-17-doc", "allclasses-index.html"),
    ],
)
def test_no_page_of_a_manual_is_called_a_wall(tmp_path: Path, package: str, start: str) -> None:
    folder = Path("/") / PACKAGES[package].folder
    if not (folder / start).is_file():
        pytest.skip(f"{package} is not installed: no {folder / start}")
    with FolderSite(folder) as site:
        bounds = ("-a", "scope=host", "-a", f"max_pages={SHORT_PAGES}", "-s", "DOWNLOAD_DELAY=0")
        crawl(f"{site.origin}/{start}", tmp_path, *bounds, "-s", "CRAWL_LEARN_URL_RULES=False")
    counts = report(tmp_path)["verdicts"]
    assert sum(counts.values()) >= SHORT_PAGES
    assert counts["soft_404"] == counts["wall"] == 0
    assert all(page["text"] for page in pages(tmp_path, "--verdict", "too_short"))
