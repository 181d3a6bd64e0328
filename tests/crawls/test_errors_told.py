"""An error in any callback, errback or receiver of a signal ends the command with status 1."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import crawler
from tests.crawler.warc.foreign import answer
from tests.crawls.command import crawl_once, scrapy
from tests.crawls.planting import PLANTED, PlantingLogs
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator

ELSEWHERE = [
    *(
        ("replay {archive}", f"crawler.spiders.replay:ReplaySpider:{name}")
        for name in ("start", "_position", "_judged", "_judge", "_taken", "_take", "_response")
    ),
    *(
        ("replay {archive}", f"crawler.warc.captures:Captures:{name}")
        for name in ("look_through", "_note", "pages", "_capture")
    ),
    ("replay {archive}", "crawler.warc.sources:WarcFile:open"),
    ("replay {rows}", "crawler.spiders.replay:ReplaySpider:_take_file"),
    ("replay {rows}", "crawler.spiders.file_pages:PageFiles:look_through"),
    ("replay {rows}", "crawler.spiders.file_pages:PageFiles:pages"),
    ("urls {list}", "crawler.spiders.urls:UrlsSpider:first_requests"),
    ("urls {list}", "crawler.spiders.urls:UrlsSpider:_open"),
    ("urls {list}", "crawler.spiders.page_spider:PageSpider:parse"),
    ("mirror {site}", "crawler.spiders.mirror:MirrorSpider:first_requests"),
    ("mirror {site}", "crawler.spiders.page_spider:PageSpider:parse"),
]
"""Commands, and what raises in them."""

CALLED = [
    "crawler.spiders.page_spider:PageSpider:start",
    "crawler.spiders.page_spider:PageSpider:parse",
    "crawler.spiders.page_spider:PageSpider:fetched_of",
    "crawler.spiders.page_spider:PageSpider:failed",
    "crawler.spiders.page_spider:PageSpider:_results",
    "crawler.spiders.site:SiteSpider:first_requests",
    "crawler.spiders.site:SiteSpider:follow",
    "crawler.spiders.guessing:SitemapSpider:sitemap_failed",
    "crawler.pipelines:NearDuplicatesPipeline:process_item",
    "crawler.scheduling.scheduler:FrontierScheduler:enqueue_request",
]


def receivers() -> Iterator[str]:
    """Name the methods that the source connects to signals of Scrapy."""
    root = Path(crawler.__file__).parent
    for path in sorted(root.rglob("*.py")):
        module = ".".join(("crawler", *path.relative_to(root).with_suffix("").parts))
        source = path.read_bytes()
        for owner in ast.walk(ast.parse(source)) if b"signals." in source else ():
            if not isinstance(owner, ast.ClassDef):
                continue
            methods = {each.name for each in ast.walk(owner) if isinstance(each, _FUNCTIONS)}
            for call in ast.walk(owner):
                name = _receiver(call)
                if name in methods:
                    yield f"{module}:{owner.name}:{name}"


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _receiver(call: ast.AST) -> str | None:
    if not isinstance(call, ast.Call) or len(call.args) < 2:
        return None
    method, signal = call.args[:2]
    is_connect = getattr(call.func, "attr", getattr(call.func, "id", "")) == "connect"
    is_signal = isinstance(signal, ast.Attribute) and "signals" in ast.unparse(signal)
    return method.attr if is_connect and is_signal and isinstance(method, ast.Attribute) else None


@pytest.fixture(scope="module")
def site() -> Iterator[ChangingSite]:
    with ChangingSite() as served:
        served.put("/a", "a", links=["/b", "/missing"])
        served.put("/b", "b")
        served.fail("/missing", 404)
        yield served


@pytest.mark.parametrize("planted", [*CALLED, *dict.fromkeys(receivers())])
def test_an_error_ends_the_command_with_1_and_is_told(
    planted: str, site: ChangingSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLANTED, planted)
    settings = ("WARC_ENABLED=True", "METRICS_PORT=0", "READING_WORKERS=1",
                f"LOG_FORMATTER={PlantingLogs.__module__}.PlantingLogs")  # fmt: skip
    done = scrapy(
        *("crawl", "site", "-a", f"url={site.origin}/a", "-a", "max_time=1h", "-a", "max_bytes=1G"),
        *("-s", f"JOBDIR={tmp_path}"),
        *(word for setting in settings for word in ("-s", setting)),
    )
    if "planted" in done.stderr:
        assert done.returncode == 1, done.stdout + done.stderr
        assert "see" in done.stderr.splitlines()[-1], done.stderr
    else:  # nothing of it is in this crawl
        assert done.returncode == 0, done.stdout + done.stderr
        assert planted not in CALLED


@pytest.mark.slow
@pytest.mark.parametrize(("command", "planted"), ELSEWHERE)
def test_an_error_of_any_spider_ends_its_command_with_1(
    command: str, planted: str, site: ChangingSite, tmp_path: Path
) -> None:
    body = f"<title>A</title><p>{prose('a', 100)}"
    archive, rows, listed = tmp_path / "x.warc", tmp_path / "x.jsonl", tmp_path / "list"
    archive.write_bytes(answer("/a", body.encode()) + answer("/b", b"<p>b"))
    rows.write_text(json.dumps({"url": "http://example.org/a", "html": body}))
    listed.write_text(f"{site.origin}/a\n")
    named = command.format(archive=archive, rows=rows, list=listed, site=f"{site.origin}/a").split()
    planting = f"LOG_FORMATTER={PlantingLogs.__module__}.PlantingLogs"
    done = crawl_once(
        *named,
        *(tmp_path / "job", "-s", "READING_WORKERS=1", "-s", planting),
        environment={PLANTED: planted},
    )
    assert "planted" in done.stderr
    assert done.returncode == 1, done.stdout + done.stderr
