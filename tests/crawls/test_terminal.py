"""Whatever a site has to say: no command prints a character that a terminal would obey."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.crawls.command import scrapy
from tests.crawls.fleet import fleet_settings
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

# Colours, a title, a link (OSC 8), the clipboard (OSC 52), CSI and OSC of one byte, backspace,
# bell, delete, directions of writing, no width, a line of its own.
EVIL = (
    "\x1b[31m\x1b]0;x\x07\x1b]8;;http://e\x1b\\\x1b]52;c;QQ==\x07\x1bc\x9b2J\x9d0;x\x9c\x08\x7f\x0c"
    "\u202e\u2066\u200b\ufeff\x85\u2028"
)
# What a header may hold: bytes, one a character.
EVIL_HEADER = "".join(one for one in EVIL if one < "\u0100")
EVIL_XML = "".join(one for one in EVIL if one >= "\x7f")
# A parser of HTML drops the characters below the space, and not what refers to them.
EVIL_HTML = "".join(f"&#{ord(one)};" for one in EVIL)
DESCRIBED = json.dumps({"@type": "Article", "author": {"@type": "Person", "name": EVIL}})
LOUD = ("-s", "LOG_LEVEL=DEBUG", "-s", "DOWNLOAD_TIMEOUT=20", "-s", "RETRY_TIMES=1")
# Texts that are nearly the same, so that there are pairs.
TEXT = prose("terminal", 200)


def is_quiet(text: str) -> bool:
    return text.replace("\n", "").isprintable()


def assert_quiet(done: subprocess.CompletedProcess[str], *, code: int | None = 0) -> None:
    assert code is None or done.returncode == code, done.stderr
    for stream in (done.stdout, done.stderr):
        loud = [line for line in stream.split("\n") if not line.isprintable()]
        assert not loud, ascii(loud[:3])


def page(name: str, text: str) -> Callable[[Exchange], None]:
    body = (
        f'<!DOCTYPE html><html lang="e{EVIL}"><head><title>{name} {EVIL} {EVIL_HTML}</title>'
        f'<script type="application/ld+json">{DESCRIBED}</script>'
        f'<meta name="date" content="2020-01-01{EVIL}">'
        f'<link rel="canonical" href="/{name}{EVIL}"></head><body><main><h1>{EVIL}</h1>'
        f'<p>{text} {EVIL} {EVIL_HTML}</p></main><a href="/gone/{EVIL}">{EVIL}</a>'
        f'<a href="http://h{EVIL}/x">x</a><a href="//127.0.0.1:1/{EVIL}">x</a>'
        f'<img src="/image/{EVIL}"></body></html>'
    )

    def play(exchange: Exchange) -> None:
        headers = {
            "Content-Type": f"text/html; charset=utf-8; x={EVIL_HEADER}",
            "ETag": f'"{EVIL_HEADER}"',
            "Last-Modified": EVIL_HEADER,
            "X-Robots-Tag": EVIL_HEADER,
            "Set-Cookie": f"a={EVIL_HEADER}; domain={EVIL_HEADER}",
            "Content-Length": str(len(body.encode())),
        }
        exchange.head(headers=headers)
        exchange.wfile.write(body.encode())

    return play


def answer(kind: str, body: bytes, status: int = 200) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(body, kind, status=status)


def redirect(target: str) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.head(302, {"Location": target, "Content-Length": "0"})


def coded(exchange: Exchange) -> None:
    exchange.head(headers={"Content-Encoding": EVIL_HEADER, "Content-Length": "1"})
    exchange.wfile.write(b"x")


def named(exchange: Exchange) -> None:
    exchange.head(headers={f"X-{EVIL_HEADER}": "x", "Content-Length": "0"})


def no_status(exchange: Exchange) -> None:
    exchange.wfile.write(f"HTTP/1.1 2{EVIL_HEADER} {EVIL_HEADER}\r\n\r\n".encode("latin-1"))
    exchange.close_connection = True


ADDED = {
    "/one": page("one", TEXT),
    "/two": page("two", f"{TEXT} More."),
    "/three": page("three", prose("another", 200)),
    "/type": answer(f"image/{EVIL_HEADER}", b"\x89PNG"),
    "/kind": answer(EVIL_HEADER, b"\x00\x01\x02" * 99),
    "/away": redirect(f"http://e{EVIL_HEADER}.invalid/{EVIL_HEADER}"),
    "/scheme": redirect(f"x{EVIL_HEADER}:y"),
    "/moved": redirect(f"/one?a={EVIL_HEADER}"),
    "/coded": coded,
    "/named": named,
    "/status": no_status,
    "/error": answer(EVIL_HEADER, EVIL.encode(), 500),
}
SITEMAP = (
    f'<?xml version="1.0"?><urlset><url><loc>/one?{EVIL_XML}</loc></url>'
    f"<url><loc>http://e{EVIL_XML}/</loc></url></urlset>"
)


@dataclass(frozen=True)
class Crawled:
    """A crawl of the site, which is still served."""

    site: HostileSite
    folder: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("terminal")
    robots = (
        f"User-agent: *\nDisallow: /no{EVIL}\n{EVIL}: x\nCrawl-delay: {EVIL}\n"
        f"Sitemap: /map\nSitemap: /map?{EVIL}\nSitemap: http://e{EVIL}/map\n"
    )
    with HostileSite(robots, linked=tuple(ADDED)) as site:
        site.added = {**ADDED, "/map": answer("application/xml", SITEMAP.encode())}
        done = scrapy(
            "crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={folder / 'job'}",
            "-s", "WARC_ENABLED=True", "-O", str(folder / "feed.xml"),
            "-O", str(folder / "feed.jsonl"), "-O", "-:jsonl", *LOUD,
        )  # fmt: skip
        yield Crawled(site, folder, done)


def test_crawl_with_all_of_its_log(crawled: Crawled) -> None:
    assert_quiet(crawled.done)
    assert len(crawled.done.stdout.strip().split("\n")) >= 3
    assert "DEBUG: Crawled (200)" in crawled.done.stderr


def test_the_feed_on_a_terminal_is_that_in_the_file(crawled: Crawled) -> None:
    shown = [json.loads(line) for line in crawled.done.stdout.strip().split("\n")]
    with (crawled.folder / "feed.jsonl").open(encoding="utf-8") as file:
        assert shown == [json.loads(line) for line in file]
    assert any("\x1b]52" in (row["author"] or "") for row in shown)
    assert any("\x9b" in (row["title"] or "") for row in shown)


def test_an_xml_feed_is_xml(crawled: Crawled) -> None:
    items = ET.parse(crawled.folder / "feed.xml").getroot()
    for name in ("title", "author"):
        assert any("[31m" in (item.findtext(name) or "") for item in items)


@pytest.mark.parametrize(
    "arguments",
    [
        ("report",),
        ("report", "--json"),
        ("pages",),
        ("pages", "-o", "-:json"),
        ("pages", "-o", "-:xml"),
        ("rules",),
        ("rules", "--json"),
        ("rules", "--export", "-"),
        ("verify",),
        ("verify", "--json"),
        ("pairs",),
        ("pairs", "--diff"),
        ("pairs", "--json"),
        ("sweep",),
        ("rejudge", "--dry-run"),
        ("tune",),
    ],
    ids=" ".join,
)
def test_commands_over_its_directory(crawled: Crawled, arguments: tuple[str, ...]) -> None:
    name, *options = arguments
    done = scrapy(name, *options, str(crawled.folder / "job"))
    if "-:xml" in arguments:
        assert ET.fromstring(done.stdout.encode()).tag == "items"
    else:
        assert_quiet(done)


def test_compare_two_pages_of_the_crawl_and_of_the_network(crawled: Crawled) -> None:
    pair = (crawled.site.at("/one"), crawled.site.at("/two"))
    assert_quiet(scrapy("compare", *pair, "--crawl", str(crawled.folder / "job")))
    assert_quiet(scrapy("compare", *pair, *LOUD))
    assert_quiet(scrapy("compare", crawled.site.at("/away"), pair[0], *LOUD), code=2)


def test_replay_and_merge(crawled: Crawled) -> None:
    again, merged = crawled.folder / "again", crawled.folder / "merged"
    archive = crawled.folder / "job" / "warc"
    done = scrapy("crawl", "replay", "-a", f"warc={archive}", "-s", f"JOBDIR={again}", *LOUD)
    assert_quiet(done)
    # A replay takes each URL for itself: it has other URL rules than the crawl.
    refused = scrapy("merge", str(crawled.folder / "job"), str(again), str(merged))
    assert_quiet(refused, code=2)
    assert "only what was made with the same can become one" in refused.stderr
    assert_quiet(scrapy("merge", str(again), str(merged)))


def test_a_second_visit_and_what_changed(crawled: Crawled) -> None:
    crawled.site.added["/three"] = redirect(f"http://e{EVIL_HEADER}.invalid/{EVIL_HEADER}")
    crawled.site.added["/two"] = page("two", prose("changed", 200))
    done = scrapy(
        "crawl", "site", "-a", f"url={crawled.site.url}", "-a", "revisit=yes",
        "-s", f"JOBDIR={crawled.folder / 'job'}", *LOUD,
    )  # fmt: skip
    assert_quiet(done)
    assert "since the last visit" in done.stdout


def test_mirror_and_its_proof(crawled: Crawled) -> None:
    folder = crawled.folder / "mirror"
    assert_quiet(scrapy("mirror", crawled.site.url, str(folder), *LOUD), code=None)
    assert_quiet(scrapy("mirror", "check", str(folder)), code=None)


def test_a_fleet_and_its_status(crawled: Crawled, redis_url: str) -> None:
    settings = fleet_settings(redis_url, crawled.folder / "worker")
    options = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
    done = scrapy("crawl", "site", "-a", f"url={crawled.site.url}", *options, *LOUD)
    assert_quiet(done)
    assert_quiet(scrapy("fleet", redis_url))
    assert_quiet(scrapy("fleet", "--json", redis_url))


def test_what_a_user_gets_wrong_is_said_in_one_quiet_line(tmp_path: Path) -> None:
    for arguments in (("report", f"{tmp_path}/{EVIL}"), ("crawl", EVIL), ("mirror", f"x{EVIL}")):
        assert_quiet(scrapy(*arguments), code=2)
