"""The add-on in a Scrapy project that knows nothing of us."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest

from crawler.demo import DemoServer
from crawler.lab.live import LiveCrawl
from crawler.storage.states import DONE
from tests.crawls.command import PROJECT, killed, pages, report, scrapy
from tests.crawls.test_passing_answers import MendedSite
from tests.sites.many import ManyPages, page_path, page_text
from tests.sites.many import pages as many_pages
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPIDER = """
import scrapy


class Foreign(scrapy.Spider):
    name = "foreign"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        for request in response.follow_all(css="a"):
            yield request
        yield {"url": response.url, FIELD: response.VALUE}
        if response.url.endswith("/walk"):
            yield {"number": 42}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with DemoServer() as server:
        yield server


def make_project(folder: Path, field: str, value: str, settings: str = "") -> None:
    package = folder / "strangers"
    package.mkdir()
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = strangers.settings\n")
    (package / "__init__.py").write_text("")
    (package / "settings.py").write_text(
        'SPIDER_MODULES = ["strangers.spider"]\n'
        'ADDONS = {"crawler.addon.NearDuplicates": 300}\n'
        'LOG_LEVEL = "WARNING"\n'
        f"{settings}\n"
    )
    code = SPIDER.replace("FIELD", repr(field)).replace("VALUE", value)
    (package / "spider.py").write_text(code)


def run(
    folder: Path, url: str, *arguments: str, environment: dict[str, str] | None = None
) -> list[dict[str, object]]:
    output = folder / "items.jsonl"
    done = scrapy(
        "crawl", "foreign", "-a", f"url={url}", "-O", str(output), *arguments,
        cwd=folder, environment=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return [json.loads(line) for line in output.read_text().splitlines()]


def expect_each_once(server: DemoServer, items: list[dict[str, object]]) -> None:
    """Expect one page of each planted pair, and pages that are in none."""
    urls = {
        str(item["url"]).removeprefix(server.url.rstrip("/")) for item in items if "url" in item
    }
    assert "/ropes/splice" in urls or "/mirror/ropes/splice" in urls
    assert not {"/ropes/splice", "/mirror/ropes/splice"} <= urls
    assert not {"/harbour/quay", "/print/harbour/quay"} <= urls
    assert not {"/notices/spring", "/notices/summer"} <= urls
    assert {"/ropes/bowline", "/boats/keel", "/zh/gangkou"} & urls


def test_items_with_html_are_kept_once_and_state_is_taken_up_again(
    server: DemoServer, tmp_path: Path
) -> None:
    make_project(tmp_path, "html", "text")
    first = run(tmp_path, server.url, "-s", f"JOBDIR={tmp_path / 'job'}")
    expect_each_once(server, first)
    assert {"number": 42} in first, "an item without any of the fields passes untouched"
    second = run(tmp_path, server.url, "-s", f"JOBDIR={tmp_path / 'job'}")
    again = {str(item["url"]).removeprefix(server.url) for item in second if "url" in item}
    assert again == {"envelope", "files/harbour-plan"}, "only what holds no text comes again"


def test_a_run_says_which_items_an_earlier_one_passed_on(
    server: DemoServer, tmp_path: Path
) -> None:
    make_project(tmp_path, "html", "text")
    said = [
        scrapy(
            "crawl", "foreign", "-a", f"url={server.url}walk", "-s", f"JOBDIR={tmp_path / 'job'}",
            "-s", "DEPTH_LIMIT=1", cwd=tmp_path,
        ).stderr
        for _ in range(2)
    ]  # fmt: skip
    told = [" items are not passed on, since an earlier run on this JOBDIR" in one for one in said]
    assert told == [False, True], said


def test_items_with_a_body_are_kept_once_without_a_directory(
    server: DemoServer, tmp_path: Path
) -> None:
    make_project(tmp_path, "body", "body.decode('utf-8', 'replace')")
    expect_each_once(server, run(tmp_path, server.url))


@pytest.mark.parametrize("pages_at_most", ["3", "0"])
def test_items_of_which_none_has_a_text_are_told_once(
    server: DemoServer, tmp_path: Path, pages_at_most: str
) -> None:
    make_project(tmp_path, "text", "css('no.such::text').get(default='')")
    done = scrapy(
        "crawl", "foreign", "-a", f"url={server.url}", "-O", str(tmp_path / "items.jsonl"),
        "-s", f"CLOSESPIDER_PAGECOUNT={pages_at_most}", "-s", "CONCURRENT_REQUESTS=1",
        cwd=tmp_path,
    )  # fmt: skip
    warnings = [line for line in done.stderr.splitlines() if "is a selector wrong?" in line]
    assert len(warnings) == 1, done.stderr
    number = int(warnings[0].partition("no item of ")[2].split()[0])
    assert number == 20 if pages_at_most == "0" else 3 <= number < 20
    assert "the fields text (NEARDUP_TEXT_FIELDS) and html, body" in warnings[0]
    assert "and the first item has url, text; is" in warnings[0]


def test_a_few_items_without_text_are_no_warning(server: DemoServer, tmp_path: Path) -> None:
    make_project(tmp_path, "text", "css('title::text').get(default='')")
    done = scrapy(
        "crawl", "foreign", "-a", f"url={server.url}", "-O", str(tmp_path / "items.jsonl"),
        cwd=tmp_path,
    )  # fmt: skip
    assert '"number": 42' in (tmp_path / "items.jsonl").read_text()
    assert "is a selector wrong?" not in done.stderr


@pytest.mark.parametrize(("fields", "count"), [("url", 3), ("link, url", 0)])
def test_items_without_a_url_are_told(
    server: DemoServer, tmp_path: Path, fields: str, count: int
) -> None:
    make_project(tmp_path, "html", "text", f"NEARDUP_URL_FIELDS = '{fields}'.split(', ')")
    spider = tmp_path / "strangers" / "spider.py"
    spider.write_text(spider.read_text().replace('{"url":', '{"link":'))
    done = scrapy(
        "crawl", "foreign", "-a", f"url={server.url}", "-O", str(tmp_path / "items.jsonl"),
        "-s", "CLOSESPIDER_ITEMCOUNT=3", "-s", "CONCURRENT_REQUESTS=1",
        "-s", f"JOBDIR={tmp_path / 'job'}", cwd=tmp_path,
    )  # fmt: skip
    said = " items have no URL, so that texts that repeat are unchanged: it is looked for in the"
    assert (said in done.stderr) == (count > 0), done.stderr
    assert (
        "the fields url (NEARDUP_URL_FIELDS), and the first item has link, html" in done.stderr
    ) == (count > 0)
    found = json.loads(scrapy("links", str(tmp_path / "job"), "--json").stdout)
    unasked = ["fragments", "external_links"]
    assert found["unknown"] == ["broken_links", "redirected_links", "orphans", *unasked]
    assert not {*found["unknown"]} & {*found["faults"]}
    assert report(tmp_path / "job")["failed"] is None, "its 404 is not seen"
    said = scrapy("report", str(tmp_path / "job")).stdout
    assert "failures not known, " in said.splitlines()[0]
    page = scrapy("report", str(tmp_path / "job"), "--html", "-").stdout
    assert "<b>not known</b> URLs failed" in page
    watched = LiveCrawl(tmp_path / "job")
    watched.look()
    assert watched.seen.tally.failed is None


def test_where_one_text_stands_is_not_asked_for_again(tmp_path: Path) -> None:
    make_project(tmp_path, "html", "text")
    with MendedSite(12, open_requests=1) as site:
        run(tmp_path, f"{site.origin}/", "-s", f"JOBDIR={tmp_path / 'job'}")
        assert set(site.asked.values()) == {1}
        assert site.is_mended


def test_text_stands_in_a_field_of_another_name(server: DemoServer, tmp_path: Path) -> None:
    settings = 'NEARDUP_TEXT_FIELDS = ["words"]'
    make_project(tmp_path, "words", "xpath('string(//main)').get()", settings)
    items = run(tmp_path, server.url)
    texts = [" ".join(str(item["words"]).split()) for item in items if item.get("words")]
    assert len(texts) == len(set(texts)) > 20


def test_links_of_duplicates_are_not_queued_where_that_is_chosen(
    server: DemoServer, tmp_path: Path
) -> None:
    make_project(tmp_path, "html", "text", "NEARDUP_FOLLOW_DUPLICATES = False")
    items = run(tmp_path, server.url, "-s", f"JOBDIR={tmp_path / 'job'}")
    assert len(items) > 20
    report = scrapy("report", str(tmp_path / "job"), "--json")
    assert json.loads(report.stdout)["duplicates"] > 5


SEVERAL_ITEMS = """
import scrapy

TEXTS = ["one " * 60, "two " * 60, "one " * 60]


class Foreign(scrapy.Spider):
    name = "foreign"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield response.follow("/walk")
        for n in range(5):
            yield {"url": response.url, "name": n}
        for text in TEXTS:
            yield {"url": response.url, "text": text}


class Copying:
    def process_item(self, item):
        return dict(item)


class Editing:
    def process_item(self, item):
        return {**item, "text": item["text"] + " edited"} if "text" in item else item
"""

HTML_ITEMS = """
import scrapy

WORDS = [f"<p>{' '.join(str(n * 1000 + m) for m in range(70))}</p>" for n in range(3)]


class Foreign(scrapy.Spider):
    name = "foreign"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        for words in WORDS:
            yield {"url": response.url, "html": words}
"""


def test_html_items_of_one_page_are_all_held_over_two_visits(
    server: DemoServer, tmp_path: Path
) -> None:
    make_project(tmp_path, "html", "text")
    (tmp_path / "strangers" / "spider.py").write_text(HTML_ITEMS)
    job = tmp_path / "job"
    assert len(run(tmp_path, server.url, "-s", f"JOBDIR={job}")) == 3
    for _ in range(2):
        texts = [page["text"] for page in pages(job, "--verdict", "kept")]
        assert len(set(texts)) == len(texts) == 3
        assert run(tmp_path, server.url, "-s", f"JOBDIR={job}") == []


def test_an_edited_item_is_no_duplicate_of_itself(server: DemoServer, tmp_path: Path) -> None:
    settings = (
        'ITEM_PIPELINES = {"strangers.spider.Editing": 100}\nNEARDUP_FOLLOW_DUPLICATES = False'
    )
    make_project(tmp_path, "html", "text", settings)
    (tmp_path / "strangers" / "spider.py").write_text(SEVERAL_ITEMS)
    items = [item for item in run(tmp_path, server.url) if item["url"] == server.url]
    assert {str(item["text"])[:3] for item in items if "text" in item} == {"one", "two"}


@pytest.mark.parametrize("follow", [True, False])
def test_items_of_one_page_are_told_apart_and_copies_are_not_judged_again(
    server: DemoServer, tmp_path: Path, *, follow: bool
) -> None:
    settings = (
        'ITEM_PIPELINES = {"strangers.spider.Copying": 100}\n'
        f"NEARDUP_FOLLOW_DUPLICATES = {follow}"
    )
    make_project(tmp_path, "html", "text", settings)
    (tmp_path / "strangers" / "spider.py").write_text(SEVERAL_ITEMS)
    items = [item for item in run(tmp_path, server.url) if item["url"] == server.url]
    assert [item["name"] for item in items if "name" in item] == [0, 1, 2, 3, 4]
    assert sorted(str(item["text"])[:3] for item in items if "text" in item) == ["one", "two"]


COLLECTED = """
import gc
import scrapy


class Foreign(scrapy.Spider):
    name = "foreign"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url, "frozen": gc.get_freeze_count(), "all": len(gc.get_objects())}
"""


def test_garbage_collections_leave_out_what_the_start_made(
    server: DemoServer, tmp_path: Path
) -> None:
    make_project(tmp_path, "", "")
    (tmp_path / "strangers" / "spider.py").write_text(COLLECTED)
    # In a program that is forked all is frozen already.
    (item,) = run(tmp_path, server.url, environment={"PYTHONPATH": str(PROJECT)})
    assert int(str(item["frozen"])) > 5 * int(str(item["all"]))


def test_items_of_a_run_that_was_killed_stand_in_its_feed_or_come_again(tmp_path: Path) -> None:
    make_project(tmp_path, "html", "text")
    feed, job = tmp_path / "items.jsonl", tmp_path / "job"
    with ManyPages(many_pages(60)) as site:
        command = (
            "crawl", "foreign", "-a", f"url={site.url}", "-o", str(feed), "-s", f"JOBDIR={job}"
        )  # fmt: skip
        for _ in range(2):
            wanted = done_requests(job) + 4
            site.hold_after(site.total + 24)
            with killed(*command, cwd=tmp_path):
                wait_until(partial(is_through, job, wanted))
        site.hold_after(None)
        done = scrapy(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    whole = [line for line in feed.read_text().splitlines() if line.endswith("}")]
    urls = {str(json.loads(line)["url"]).removeprefix(site.origin) for line in whole}
    texts = {page_path(number): page_text(number) for number in range(60)}
    assert {texts[url] for url in urls} == {*texts.values()}


def is_through(job: Path, wanted: int) -> bool:
    return done_requests(job) >= wanted


def done_requests(job: Path) -> int:
    """Count the requests of a crawl directory that are through and committed."""
    if (job / "crawl.db").exists():
        with (
            closing(sqlite3.connect(f"file:{job / 'crawl.db'}?mode=ro", uri=True)) as connection,
            suppress(sqlite3.OperationalError),  # it is being made
        ):
            sql = "SELECT count(*) FROM requests WHERE state = ?"
            return int(connection.execute(sql, (DONE,)).fetchone()[0])
    return 0


def test_items_of_other_names_are_none_of_each_other_and_changes_are_passed_on(
    server: DemoServer, tmp_path: Path
) -> None:
    settings = 'NEARDUP_TEXT_FIELDS = ["about", "price"]'
    make_project(tmp_path, "about", "css('main').get()", settings)
    spider = tmp_path / "strangers" / "spider.py"
    spider.write_text(
        spider.read_text().partition("        for request")[0]
        + """
        about = " ".join(f"word{n}" for n in range(90))
        other = about.replace("word30", "other")
        half = "half of an emoji: \\ud83d"
        items = [("One", about), ("Two", about), ("Two", about), ("One", other), ("Three", other)]
        for n, (name, text) in enumerate([*items, (half, other)]):
            url = f"{response.url}{n}"
            yield {"url": url, "name": name, "about": text, "price": self.settings["PRICE"]}
"""
    )
    job = ("-s", f"JOBDIR={tmp_path / 'job'}", "-s")
    for price in ("PRICE=5", "PRICE=7"):
        items = run(tmp_path, server.url, *job, price)
        found = sorted(str(item["name"]) for item in items)
        assert found == ["One", "Three", "Two", "half of an emoji: \ud83d"], price
    assert run(tmp_path, server.url, *job, price) == []
