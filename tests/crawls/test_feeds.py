"""Feeds of crawls that are killed, resumed and repeated: every kept page, once."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.feeds.feed_files import FeedPart, part_start
from crawler.maintenance.verify.verification import FeedError, feed_urls
from crawler.pages.export import KEPT_FILTER
from tests.crawls.command import killed, scrapy
from tests.crawls.crawled import exported
from tests.sites.many import ManyPages, pages
from tests.sites.prose import document
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 60
REVISIT = ("-a", "revisit=yes")
FORMATS = ("jsonl", "json", "csv", "xml", "parquet")


@pytest.fixture
def site() -> Iterator[ManyPages]:
    with ManyPages(pages(COUNT)) as served:
        yield served


def command(site: ManyPages, jobdir: Path, *arguments: str) -> list[str]:
    return ["crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={jobdir}", *arguments]


def kill_in_the_middle(site: ManyPages, jobdir: Path, *arguments: str) -> None:
    """Crawl until half the pages are stored and the rest is awaited, then SIGKILL."""
    site.hold_after(site.total + COUNT // 2)
    with killed(*command(site, jobdir, *arguments)) as process:
        wait_until(lambda: stored(jobdir) >= COUNT // 2 - 1, process)
    site.hold_after(None)


def stored(jobdir: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{jobdir}/crawl.db?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM pages").fetchone()[0])
    except sqlite3.OperationalError:  # it is not there yet, or its tables are not
        return 0


def run(site: ManyPages, jobdir: Path, *arguments: str) -> str:
    done = scrapy(*command(site, jobdir, *arguments))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def kept(jobdir: Path) -> Counter[str]:
    return Counter(exported(jobdir, which=KEPT_FILTER).keys())


def fed(*feeds: Path) -> Counter[str]:
    return Counter(url for feed in feeds for url in feed_urls(feed))


def test_overwritten_feeds_of_every_format_are_whole_after_a_kill(
    site: ManyPages, tmp_path: Path
) -> None:
    jobdir = tmp_path / "job"
    feeds = [tmp_path / f"feed.{kind}" for kind in FORMATS]
    into = [part for feed in feeds for part in ("-O", str(feed))]
    kill_in_the_middle(site, jobdir, *into)
    said = run(site, jobdir, *into)
    assert "the feed is written at the end" in said
    wanted = kept(jobdir)
    assert len(wanted) == COUNT - (COUNT - 1) // 20
    for feed in feeds:
        assert fed(feed) == wanted, feed.name
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["job", *(feed.name for feed in feeds)]
    )

    # Another visit: a page says something else, another is new.
    site.pages["/7.html"] = document("Seven anew", '<a href="/new.html">new</a>')
    site.pages["/new.html"] = document("A new page")
    run(site, jobdir, *into, *REVISIT)
    wanted = kept(jobdir)
    assert site.url + "new.html" in wanted
    for feed in feeds:
        assert fed(feed) == wanted, feed.name
    (seven,) = [
        item["title"] for item in json.loads(feeds[1].read_text()) if "/7.html" in item["url"]
    ]
    assert seven == "Seven anew"


def test_appended_feeds_keep_what_others_wrote(site: ManyPages, tmp_path: Path) -> None:
    jobdir, feed = tmp_path / "job", tmp_path / "feed.jsonl"
    foreign = '{"url": "http://foreign.example/"}\n'
    feed.write_text(foreign)
    kill_in_the_middle(site, jobdir, "-o", str(feed))
    assert feed.read_text().startswith(foreign)
    for arguments in ((), REVISIT):  # what is left, then another visit
        run(site, jobdir, "-o", str(feed), *arguments)
        assert fed(feed) == kept(jobdir) + Counter(["http://foreign.example/"])

    with feed.open("a") as file:
        file.write(foreign)
    said = run(site, jobdir, "-o", str(feed))
    assert "was changed by others since this crawl wrote to it" in said
    assert fed(feed)["http://foreign.example/"] == 2
    assert fed(feed).keys() >= kept(jobdir).keys()


def test_batches_standard_output_and_chosen_fields_are_whole_after_a_stop(
    site: ManyPages, tmp_path: Path
) -> None:
    jobdir = tmp_path / "job"
    run(site, jobdir, "-a", "max_pages=15", "-O", str(tmp_path / "first.jsonl"))
    assert sum(fed(tmp_path / "first.jsonl").values()) < 40
    batches = ("-O", f"{tmp_path}/batch-%(batch_id)d.csv", "-s", "FEED_EXPORT_BATCH_ITEM_COUNT=25")
    run(site, jobdir, *batches, "-s", "FEED_EXPORT_FIELDS=url,words")
    written = sorted(tmp_path.glob("batch-*.csv"))
    assert len(written) == 3
    assert fed(*written) == kept(jobdir)
    assert written[0].read_text().splitlines()[0] == "url,words"
    done = scrapy(*command(site, jobdir, "-o", "-:jsonl"))
    lines = [json.loads(line)["url"] for line in done.stdout.splitlines()]
    assert Counter(lines) == kept(jobdir)


def test_a_feed_that_cannot_be_written_is_said_and_leaves_the_old_one(
    site: ManyPages, tmp_path: Path
) -> None:
    jobdir, feed = tmp_path / "job", tmp_path / "feed.jsonl"
    run(site, jobdir, "-O", str(feed))
    before = feed.read_bytes()
    done = scrapy(*command(site, jobdir, "-O", str(feed), "-O", "/dev/full:jsonl"))
    assert done.returncode == 1
    assert "a feed cannot be written" in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert feed.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("known", "size", "start"),
    [
        (None, 0, 0),
        (None, 50, 50),
        (FeedPart(0, None), 80, 0),
        (FeedPart(20, None), 80, 20),
        (FeedPart(20, None), 10, 10),
        (FeedPart(20, 80), 80, 20),
        (FeedPart(20, 80), 90, 90),
        (FeedPart(20, 80), 70, 70),
        (FeedPart(20, 80), 10, 10),
    ],
)
def test_what_may_be_written_anew_is_never_what_others_wrote(
    known: FeedPart | None, size: int, start: int
) -> None:
    assert part_start(known, size) == start


class TestReadingFeeds:
    """As ``crawl-once verify --feed`` reads them."""

    @pytest.mark.parametrize("text", ["[]", "[\n\n]", "[\n]"])
    def test_an_empty_array_has_no_urls(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "feed.json").write_text(text)
        assert fed(tmp_path / "feed.json") == Counter()

    def test_an_array_larger_than_a_piece_is_read_whole(self, tmp_path: Path) -> None:
        items = [{"url": f"http://a.example/{number}", "text": "ä]" * 999} for number in range(999)]
        (tmp_path / "feed.json").write_text(json.dumps(items, ensure_ascii=False, indent=2))
        assert fed(tmp_path / "feed.json") == Counter(item["url"] for item in items)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("cut.json", '[{"url": "http://a.example/"}, {"url": "http'),
            ("cut.jsonl", '{"url": "http://a.example/"}\n{"ur'),
            ("cut.xml", "<items><item><url>http://a.example/</url></item><item>"),
            ("two.json", '[{"url": "http://a.example/"}][]'),
            ("other.json", '{"url": "http://a.example/"}'),
            ("empty.json", ""),
            ("empty.parquet", ""),
            ("no-url.csv", "title\nA\n"),
            ("feed.txt", "http://a.example/"),
        ],
    )
    def test_what_is_damaged_is_an_error(self, tmp_path: Path, name: str, text: str) -> None:
        (tmp_path / name).write_text(text)
        with pytest.raises(FeedError, match=name):
            fed(tmp_path / name)


def test_markdown_is_in_feeds_where_it_is_set(site: ManyPages, tmp_path: Path) -> None:
    jobdir, feed = tmp_path / "job", tmp_path / "feed.jsonl"
    wanted = "-s", "NEARDUP_MARKDOWN=1", "-O", str(feed)
    run(site, jobdir, *wanted)
    first = {item["url"]: item for item in map(json.loads, feed.read_bytes().splitlines())}
    assert len(first) == sum(kept(jobdir).values())
    assert all(item["markdown"] and item["text"] for item in first.values())
    # Written from the store at a revisit, where nothing is new.
    run(site, jobdir, *wanted, *REVISIT)
    again = {item["url"]: item for item in map(json.loads, feed.read_bytes().splitlines())}
    assert {url: item["markdown"] for url, item in again.items()} == {
        url: item["markdown"] for url, item in first.items()
    }
