"""Crawls of pages that scripts fill, in the real Chromium."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from crawler.url_rules.render_kinds import FIRST_OF_HOST
from tests.crawler.warc.exchanges import read_all
from tests.crawls.command import crawl, killed, report, scrapy, start_scrapy
from tests.crawls.crawled import exported
from tests.sites.scripted import PAGES, ScriptedSite, filled
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]
ROUTES = 20


def rows_of(jobdir: Path, site: ScriptedSite) -> dict[str, dict[str, Any]]:
    return exported(jobdir, site.origin)


def test_all_routes_are_found_and_each_text_is_kept_once(tmp_path: Path) -> None:
    with ScriptedSite(ROUTES) as site:
        crawl(site.url, tmp_path)
        rows = rows_of(tmp_path, site)
        asked = Counter(site.asked)
    assert set(rows) == site.paths()
    assert max(asked.values()) == 1, "the script too is fetched once, and so are all data"
    for_pages = sum(path.startswith(("/data/", "/static/")) for path in asked)
    told = json.loads((tmp_path / "status.json").read_text())["run"]
    assert told["browser_requests"] == report(tmp_path)["browser_requests"] == for_pages
    assert told["bytes"] > report(tmp_path)["fetched_bytes"]
    near = {f"/route/{number}" for number in range(9, ROUTES, 10)}
    dropped = {path for path, row in rows.items() if row["text"] is None}
    assert {rows[path]["verdict"] for path in dropped} <= {"near_duplicate"}
    assert len(dropped) == len(near)
    for path in site.paths() - dropped:
        assert rows[path]["reason"] == (None if path == "/plain" else "as a browser shows it")
    assert scrapy("verify", str(tmp_path)).returncode == 0


def test_what_could_not_load_its_data_is_kept_at_each_url(tmp_path: Path) -> None:
    with ScriptedSite(3, has_data=False) as site:
        urls = tmp_path / "urls"
        urls.write_text("".join(f"{site.origin}/route/{number}\n" for number in range(6)))
        done = scrapy("crawl", "urls", "-a", f"file={urls}", "-s", f"JOBDIR={tmp_path / 'job'}")
        assert done.returncode == 0, done.stderr
        rows = rows_of(tmp_path / "job", site)
    assert len(rows) == 6
    for row in rows.values():
        assert row["verdict"] == "too_short"
        assert "subrequest failed" in row["reason"]
    assert report(tmp_path / "job")["shown_in_part"] == 6


def test_kill_9_loses_nothing_and_leaves_no_browser(tmp_path: Path) -> None:
    with ScriptedSite(ROUTES) as site:
        where = ("-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}")
        with killed("crawl", "site", *where) as process:
            wait_until(lambda: sum(path.startswith("/data/") for path in site.asked) >= 6, process)
            browsers = _browsers_of(process.pid)
            assert browsers
        wait_until(lambda: not any(map(_is_running, browsers)))
        crawl(site.url, tmp_path)
        assert set(rows_of(tmp_path, site)) == site.paths()


@pytest.mark.parametrize("ending", ["signal", "time"])
def test_the_end_of_a_crawl_ends_tabs_that_wait_and_the_next_one_shows_their_pages(
    tmp_path: Path, ending: str
) -> None:
    with ScriptedSite(0) as site:
        urls = tmp_path / "urls"
        urls.write_text("".join(f"{site.origin}/partly/{number}\n" for number in range(60)))
        command: tuple[str, ...] = (
            *("crawl", "urls", "-a", f"file={urls}"),
            *("-s", f"JOBDIR={tmp_path / 'job'}", "-s", "CRAWL_RENDER_TIMEOUT_SECS=200"),
        )
        if ending == "time":
            start = ("-a", f"url={site.origin}/mixed", "-a", "scope=host")
            command = ("crawl", "site", *start, *command[4:])
        site.released.clear()
        process = start_scrapy(*command, *(("-a", "max_time=20s") if ending == "time" else ()))
        wait_until(lambda: any(path.startswith("/data/") for path in site.asked), process)
        if ending == "signal":
            os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors
        fetched = {path for path in site.asked if path.startswith("/partly/")}
        assert len(fetched) < 30, "but for what is shown, under way and waiting, none is fetched"
        site.released.set()
        done = scrapy(*command)
        assert done.returncode == 0, done.stderr
        rows = rows_of(tmp_path / "job", site)
    shown = [path for path in rows if path.startswith("/partly/")]
    assert len(shown) == (PAGES if ending == "time" else 60)
    for path in shown:
        assert filled(path)[:60] in (rows[path]["text"] or ""), (path, rows[path]["reason"])


def test_a_second_visit_sees_what_changed_in_a_browser_alone(tmp_path: Path) -> None:
    with ScriptedSite(4) as site:
        crawl(site.url, tmp_path)
        site.routes = 6  # routes 1 and 2 lead on now
        crawl(site.url, tmp_path, "-a", "revisit=yes")
        assert set(rows_of(tmp_path, site)) == site.paths()
    outcomes = report(tmp_path)["changes"]["outcomes"]
    assert outcomes["unchanged"] >= 4
    assert outcomes["new"] == 2


def test_a_visit_without_a_browser_takes_no_text_away(tmp_path: Path) -> None:
    with ScriptedSite(3) as site:
        crawl(site.url, tmp_path)
        before = rows_of(tmp_path, site)
        crawl(site.url, tmp_path, "-a", "render=no", "-a", "revisit=yes")
        after = rows_of(tmp_path, site)
    assert {path: row["text"] for path, row in after.items()} == {
        path: row["text"] for path, row in before.items()
    }
    assert report(tmp_path)["changes"]["outcomes"]["failed"] == 4
    assert scrapy("verify", str(tmp_path)).returncode == 0


def test_a_mixed_site_is_shown_where_that_shows_more(tmp_path: Path) -> None:
    with ScriptedSite(0) as site:
        crawl(f"{site.origin}/mixed", tmp_path, "-a", "scope=host")
        rows = rows_of(tmp_path, site)
        told = scrapy("report", "--rendering", str(tmp_path)).stdout
        kinds = json.loads(scrapy("report", "--rendering", "--json", str(tmp_path)).stdout)
    shown = [path for path in rows if rows[path]["reason"] == "as a browser shows it"]
    assert {path.split("/")[1] for path in shown} == {"partly"}
    assert len(shown) == PAGES
    assert all(row["text"] is not None for row in rows.values())
    assert report(tmp_path)["rendered"] == PAGES
    assert any(line.endswith("all") and "/partly/" in line for line in told.splitlines())
    # Whether one of the others is among the few that are tried is up to the order of the answers.
    (still,) = (kind for name, kind in kinds.items() if "/still/" in name)
    assert (still["pages"], still["gained"]) == (PAGES, 0)
    assert still["tried"] <= FIRST_OF_HOST
    assert scrapy("rules", "--forget-rendering", str(tmp_path)).returncode == 0
    assert "no page was tried" in scrapy("report", "--rendering", str(tmp_path)).stdout


def test_screenshots_are_of_all_pages_and_of_none_that_is_not_asked_for(tmp_path: Path) -> None:
    with ScriptedSite(2) as site:
        crawl(site.url, tmp_path, "-a", "screenshots=yes", "-s", "WARC_ENABLED=True")
        rows = rows_of(tmp_path, site)
    pictures = {file.read_bytes() for file in (tmp_path / "screenshots").glob("*.webp")}
    assert len(list((tmp_path / "screenshots").glob("*.webp"))) == len(rows) == 4
    assert all(picture[8:12] == b"WEBP" for picture in pictures)
    views = [found for found in read_all(tmp_path / "warc") if found.kind == "resource"]
    assert {view.url for view in views} == {
        f"urn:view:{site.url.rstrip('/')}{path}" for path in rows
    }
    assert {view.payload for view in views} == pictures


def test_always_shows_pages_with_scripts_and_no_shows_none(tmp_path: Path) -> None:
    with ScriptedSite(2) as site:
        crawl(site.url, tmp_path / "no", "-a", "render=no")
        assert not any(path.startswith("/data/") for path in site.asked)
        crawl(site.url, tmp_path / "always", "-a", "render=always")
        rows = rows_of(tmp_path / "always", site)
    assert rows["/plain"]["reason"] is None
    assert report(tmp_path / "no")["app_shells"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-a", "render=atuo"), "-a render must be auto, always or no, got 'atuo'; did you mean"),
        (
            ("-a", "render=always", "-s", "CRAWL_RENDER_BROWSER=/no/chromium"),
            "/no/chromium is no program",
        ),
        (
            ("-s", "CRAWL_RENDER_BEHAVIOURS=scrol"),
            "some of scroll, click, routes, got scrol",
        ),
        (("-a", "screenshots=maybe"), "-a screenshots must be yes or no, got 'maybe'"),
        (("-a", "screenshots=yes", "-a", "render=no"), "and -a render=no has none"),
        (("-s", "CRAWL_RENDER_TIMEOUT_SECS=0"), "CRAWL_RENDER_TIMEOUT_SECS must be at least 0.5"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_fetched(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    with ScriptedSite(1) as site:
        done = scrapy(
            *("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}", *arguments)
        )
        assert not site.asked
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _browsers_of(process: int) -> list[int]:
    """Return the processes below one that are Chromium's."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(name))
    found, left = [], [process]
    while left:
        below = children.get(left.pop(), [])
        left += below
        found += [one for one in below if _is_running(one)]
    return found


def _is_running(process: int) -> bool:
    """Return whether a process runs, and is Chromium's."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return b"chrom" in file.read().partition(b"\0")[0]
    except OSError:
        return False
