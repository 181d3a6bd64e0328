"""A crawl of a site that attacks: it ends, each attack has a verdict, the good pages are kept."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.rendering.browser import tree_of
from tests.crawls.command import scrapy, start_scrapy
from tests.crawls.crawled import read_back
from tests.sites.attacks import ATTACKS
from tests.sites.attacks.wire import OK, say_for_ever
from tests.sites.hostile import HostileSite

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.crawls.crawled import Crawled
    from tests.sites.exchange import Asked, Exchange

MEGABYTE = 2**20
LIMITS = {
    "DOWNLOAD_TIMEOUT": 6,
    "DOWNLOAD_MAXSIZE": 20 * MEGABYTE,
    "READING_TIMEOUT_SECS": 10,
    "READING_MEMORY_LIMIT_MB": 512,
    "READING_WORKERS": 2,
    "RETRY_ENABLED": False,
}
SETTINGS = [part for name, value in LIMITS.items() for part in ("-s", f"{name}={value}")]
# A worker may have its limit and the libraries, the main process what eight downloads hold: 490 MB
# alone, 502 beside six processes that take all CPU.
MAX_MEMORY_MB = 1_200
GOOD = tuple(f"/plain/{number}" for number in range(1, 31))

LARGE, OPENED = "larger than 20 MB", "larger than 20 MB when decompressed"
HEAD, SLOW, CUT = r"headers of more than 262,144 bytes", "no answer in time", "truncated: .*"
NO_HTTP = "not an HTTP answer: .*"
FALSE_CODING = "its Content-Encoding is false: read as it came"
TIRING = r"took longer than 10 s.*|ran out of memory.*"

# Verdict and reason as regular expressions; None where nothing needs to be said.
VERDICTS: dict[str, tuple[str, str | None]] = {
    **{f"/bomb/{name}": ("unreadable", OPENED) for name in ("gzip", "deflate", "br", "zstd")},
    "/bomb/within": ("unreadable", OPENED),
    "/bomb/layers": ("unreadable", "compressed 2000 times, one within the other"),
    "/bomb/members": ("unreadable", "gzip of more than 2,000 small parts"),
    "/bomb/zstd-window": ("unreadable", "damaged zstd: .*memory.*"),
    "/packed/br": ("new", None),
    "/packed/zstd": ("new", None),
    "/packed/unknown": ("new", None),
    "/packed/deflate-cut": ("new", CUT),
    "/packed/br-noise": ("too_short", FALSE_CODING),  # a text that is not packed at all
    "/packed/zstd-noise": ("too_short", FALSE_CODING),
    "/head/endless": ("unreadable", HEAD),
    "/head/folded": ("unreadable", HEAD),
    "/head/many": ("unreadable", HEAD),
    "/head/long-line": ("unreadable", "a line of its headers is too long"),
    "/head/drip": ("failed", SLOW),
    "/head/informational": ("unreadable", HEAD),
    "/head/not-utf8": ("new", None),
    "/head/name-not-utf8": ("new", None),
    "/head/http-0.9": ("failed", NO_HTTP),
    "/head/http-7": ("new", None),
    "/head/status-99": ("failed", "HTTP 99"),
    "/head/status-999": ("failed", "HTTP 999"),
    "/head/status-long": ("failed", "HTTP 9{40}"),
    "/head/status-negative": ("failed", "HTTP -200"),
    "/head/status-word": ("failed", NO_HTTP),
    "/head/length-huge": ("unreadable", LARGE),
    "/head/length-digits": ("failed", NO_HTTP),
    "/head/length-negative": ("new", None),
    "/head/length-twice": ("failed", NO_HTTP),
    "/head/length-short": ("new", None),
    "/head/length-long": ("new", CUT),
    "/head/transfer-unknown": ("failed", NO_HTTP),
    "/head/refresh": ("new", None),
    "/cookies/flood": ("new", None),
    "/cookies/fat": ("new", None),
    "/markup/million-links": ("unreadable", TIRING),
    "/markup/long-urls": ("new", "links longer than URLLENGTH_LIMIT, not taken: 3"),
    "/markup/base-amplifies": ("new", r"links beyond READING_MAX_LINKS, not taken: 9\d,\d\d\d"),
    "/markup/deep": ("new", None),
    "/markup/deep-mixed": ("new", None),
    "/markup/deep-quotes": ("new", None),
    "/markup/unclosed": ("new", None),
    "/markup/comments": ("too_short", None),
    "/markup/laughs": ("new", None),
    "/markup/authors": ("new", None),
    "/markup/escapes": ("new", None),
    "/markup/long-words": ("new", None),
    "/markup/long-title": ("new", None),
    "/markup/refresh/1": ("new", None),
    "/markup/refresh/2": ("new", None),
    "/markup/noise": ("new", None),
    "/markup/utf16-lie": ("new", None),
    "/markup/utf7-lie": ("new", None),
    "/markup/codec-lie": ("new", None),
    "/markup/attributes": ("new|unreadable", f"{TIRING}|"),
    "/stream/endless": ("unreadable", LARGE),
    "/stream/endless-chunks": ("unreadable", LARGE),
    "/stream/endless-zip": ("unreadable", LARGE),
    "/stream/zip-called-html": ("unreadable", LARGE),
    "/stream/tiny-chunks": ("failed", SLOW),
    "/stream/drip": ("failed", SLOW),
    **{path: ("new", CUT) for path in ATTACKS if path.startswith("/chunks/")},
}
# Answered for by another URL, which is looked for by its end.
ELSEWHERE = {
    "/head/location-latin1": ("/plain/caf%E9", "HTTP 404"),
    "/head/location-controls": ("/plain/%01%00%7F", "HTTP 404"),
    "/head/location-long": (
        "l" * 12_000,
        "its URL has 12,0.. characters, URLLENGTH_LIMIT is 8,192",
    ),
    "/head/location-host": ("http://%FF%FE\x00/", "redirects to what is no URL: .*"),
    "/hosts/loop": ("/hosts/loop", "redirected out of the scope"),
    "/hosts/chain": ("/hosts/chain", "redirected out of the scope"),
}
LED_TO = ("/plain/951", "/plain/952", "/plain/953")


@dataclass(frozen=True)
class Attacked:
    """A crawl that was attacked, and what it cost."""

    crawled: Crawled
    asked: list[Asked]
    memory_mb: float


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    jobdir = tmp_path_factory.mktemp("attacked") / "job"
    with HostileSite(linked=(*ATTACKS, *GOOD)) as site:
        crawl = start_scrapy(
            "crawl", "site", "-a", f"url={site.url}", "-a", "deny=/l/",
            "-s", f"JOBDIR={jobdir}", "-s", "LOG_LEVEL=ERROR", *SETTINGS,
        )  # fmt: skip
        peaks = []
        with crawl:
            while crawl.poll() is None:
                peaks += [peak_mb(pid) for pid in tree_of(crawl.pid)]
                with suppress(subprocess.TimeoutExpired):
                    crawl.wait(0.2)
            out, err = crawl.communicate()
        assert crawl.returncode == 0, err
        assert "Traceback" not in err, err
        asked = site.asked
        done = scrapy("report", str(jobdir))
        assert out.splitlines()
        crawled = read_back(done, jobdir, site.origin, site.paths())
    return Attacked(crawled, asked, max(peaks))


def peak_mb(pid: int) -> float:
    """The most memory that a process has held; 0 once it has ended.

    What the system tells of a child that ended is at least what this process held at its start.
    """
    with suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        if found := re.search(r"VmHWM:\s+(\d+)", status):
            return int(found[1]) / 1024
    return 0


def test_every_attack_has_a_line_in_the_tables() -> None:
    assert set(VERDICTS) | set(ELSEWHERE) == set(ATTACKS)


def test_crawl_ends_within_bounds(attacked: Attacked) -> None:
    assert attacked.memory_mb < MAX_MEMORY_MB  # of the largest of all processes
    assert attacked.crawled.report.queued == 0


def test_every_good_page_is_kept(attacked: Attacked) -> None:
    assert {"/", *GOOD, *LED_TO} <= attacked.crawled.kept


@pytest.mark.parametrize("path", VERDICTS)
def test_attack_ends_with_a_verdict_that_says_so(attacked: Attacked, path: str) -> None:
    row = attacked.crawled.rows[path]
    verdict, reason = VERDICTS[path]
    assert re.fullmatch(verdict, row["verdict"])
    assert re.fullmatch(reason or "", row["reason"] or "")


@pytest.mark.parametrize("path", ELSEWHERE)
def test_redirect_is_answered_for_by_another_url(attacked: Attacked, path: str) -> None:
    end, reason = ELSEWHERE[path]
    rows = [row for url, row in attacked.crawled.rows.items() if url.replace(" ", "").endswith(end)]
    assert rows
    assert all(row["verdict"] in {"failed", "unreadable"} for row in rows)
    assert all(re.fullmatch(reason, row["reason"]) for row in rows)


def test_report_names_what_happened(attacked: Attacked) -> None:
    assert attacked.crawled.done.returncode == 0
    assert HEAD in attacked.crawled.done.stdout
    assert OPENED in attacked.crawled.done.stdout


def test_requests_stay_small_whatever_cookies_are_set(attacked: Attacked) -> None:
    sent = [asked.headers["cookie"] for asked in attacked.asked if "cookie" in asked.headers]
    assert sent
    assert max(map(len, sent)) <= 8000


def test_nothing_is_asked_for_outside_the_site(attacked: Attacked) -> None:
    assert {urlsplit(f"//{asked.headers['host']}").hostname for asked in attacked.asked} <= {
        "127.0.0.1",
        "127.0.0.2",
        "localhost",
    }
    assert all(asked.path.startswith("/") for asked in attacked.asked)


def _lines_without_end(exchange: Exchange) -> None:
    """What nobody may see first, then 50 MB."""
    exchange.wfile.write(
        OK + b"Content-Length: 52428800\r\n\r\nUser-agent: *\nDisallow: /closed/\n"
    )
    say_for_ever(exchange, (b"Disallow: /no/%d*x*y$\n" % n * 2000 for n in count()))


def _drip(exchange: Exchange) -> None:
    exchange.wfile.write(OK + b"\r\n")
    say_for_ever(exchange, repeat(b"#"), 0.3)


def _head_without_end(exchange: Exchange) -> None:
    exchange.wfile.write(OK)
    say_for_ever(exchange, repeat(b"X: x\r\n" * 999))


def _round(exchange: Exchange) -> None:
    exchange.redirect(f"/robots.txt?{len(exchange.path)}")


def _noise(exchange: Exchange) -> None:
    exchange.answer(bytes(range(256)) * 100, "text/plain; charset=\xff")


FORBIDS_NOTHING = "; taken as if it forbade nothing"
NOT_HAD = "robots.txt cannot be had: "


@pytest.mark.parametrize(
    ("play", "reason"),
    [
        (_lines_without_end, None),
        (_drip, NOT_HAD + SLOW),
        (_head_without_end, HEAD + FORBIDS_NOTHING),
        (_round, "redirected without end" + FORBIDS_NOTHING),
        (_noise, None),
    ],
)
def test_robots_txt_holds_nobody_up(
    tmp_path: Path, play: Callable[[Exchange], None], reason: str | None
) -> None:
    with HostileSite(play, linked=("/plain/1", "/closed/door")) as site:
        done = scrapy(
            "crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path / 'job'}", *SETTINGS
        )
        found = read_back(done, tmp_path / "job", site.origin, site.paths())
    is_unreachable = play is _drip
    assert done.returncode == is_unreachable, done.stderr
    assert found.is_kept("/plain/1") != is_unreachable
    assert found.is_kept("/closed/door") == (play not in {_lines_without_end, _drip})
    if is_unreachable:
        assert found.rows["/"]["reason"] == reason
    elif reason is None:
        assert "/robots.txt" not in found.rows
    else:
        assert found.rows["/robots.txt"]["reason"] == reason


def _sitemap(kind: str, entry: str, places: str) -> bytes:
    return f'<?xml version="1.0"?><{kind}>{places}</{kind}>'.encode().replace(b"@", entry.encode())


def test_sitemaps_without_end_are_left_at_their_limits(tmp_path: Path) -> None:
    def index(exchange: Exchange) -> None:
        """Names itself, and so many others that name as many."""
        others = "".join(f"<@><loc>/map?{exchange.path}{n}</loc></@>" for n in range(500))
        itself = "<@><loc>/map</loc></@>"
        exchange.answer(_sitemap("sitemapindex", "sitemap", itself + others), "application/xml")

    def urls(exchange: Exchange) -> None:
        places = "".join(f"<@><loc>/plain/{n}</loc></@>" for n in range(1, 1000))
        exchange.answer(_sitemap("urlset", "url", places), "application/xml")

    def laughs(exchange: Exchange) -> None:
        names = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
        body = (
            f'<!DOCTYPE x [<!ENTITY a0 "ha">{names}]><urlset><url><loc>/&a11;</loc></url></urlset>'
        )
        exchange.answer(body.encode(), "application/xml")

    robots = "Sitemap: /map\nSitemap: /urls\nSitemap: /laughs\n"
    with HostileSite(robots, linked=("/plain/1",)) as site:
        site.added = {"/map": index, "/urls": urls, "/laughs": laughs}
        done = scrapy(
            "crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path / 'job'}",
            "-s", "CRAWL_MAX_SITEMAPS=20", "-s", "CRAWL_MAX_SITEMAP_URLS=10", *SETTINGS,
        )  # fmt: skip
        found = read_back(done, tmp_path / "job", site.origin, site.paths())
    assert done.returncode == 0, done.stderr
    fetched = [path for path in found.asked if path.startswith(("/map", "/urls", "/laughs"))]
    assert len(fetched) == len(set(fetched)) == 20
    assert found.kept == {"/", *(f"/plain/{number}" for number in range(1, 11))}
    assert found.rows["/urls"]["reason"] == "the sitemap is too long; URLs taken from it: 10"
    assert "CRAWL_MAX_SITEMAPS is reached" in done.stderr


NAME_SERVER = """
import socket

def gethostbyname(name, real=socket.gethostbyname):
    return "127.0.0.1" if name.endswith(".invalid") else real(name)

socket.gethostbyname = gethostbyname
"""


class TestRebinding:
    """A public name that a name server says to be at 127.0.0.1, asked of by a public page."""

    seed = "http://www.public.invalid"
    inside = "inside.public.invalid"

    def crawl(
        self, folder: Path, *arguments: str, play: Callable[[Exchange], None] | None = None
    ) -> tuple[Crawled, list[Asked]]:
        """The site plays the proxy for the seed; the other host is asked itself."""
        (folder / "names").mkdir()
        (folder / "names" / "sitecustomize.py").write_text(NAME_SERVER, encoding="utf-8")
        with HostileSite() as site:
            port = urlsplit(site.origin).port
            site.robots_txt = play or f"Sitemap: http://{self.inside}:{port}/plain/1\n"
            site.linked = ("/plain/2",)
            done = scrapy(
                "crawl", "site", "-a", f"url={self.seed}/",
                "-s", f"JOBDIR={folder / 'job'}", "-s", "DOWNLOAD_DELAY=0", *SETTINGS, *arguments,
                environment={
                    "http_proxy": site.url, "no_proxy": self.inside, "NO_PROXY": self.inside,
                    "PYTHONPATH": str(folder / "names"),
                },
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            return read_back(done, folder / "job", self.seed, site.paths()), site.asked

    @pytest.mark.parametrize("retry", ["True", "False"])
    def test_is_refused_before_a_connection_is_made(self, tmp_path: Path, retry: str) -> None:
        found, asked = self.crawl(tmp_path, "-s", f"RETRY_ENABLED={retry}")
        (row,) = (row for url, row in found.rows.items() if self.inside in url)
        assert row["verdict"] == "failed"
        assert row["reason"].startswith(
            f"no sitemap: refused: {self.inside} is a private address, to which"
        )
        assert not [each for each in asked if self.inside in each.headers["host"]]
        assert found.is_kept("/plain/2")

    def test_is_asked_where_that_is_allowed(self, tmp_path: Path) -> None:
        found, asked = self.crawl(tmp_path, "-s", "CRAWL_PRIVATE_ADDRESSES=True")
        assert [each for each in asked if self.inside in each.headers["host"]]
        assert found.is_kept("/plain/2")

    @pytest.mark.parametrize("path", ["/robots.txt", "/plain/1"])
    def test_a_robots_txt_does_not_lead_there(self, tmp_path: Path, path: str) -> None:
        """To another scheme, since the proxy of this one is asked for redirects too."""

        def lead_inside(exchange: Exchange) -> None:
            exchange.redirect(f"https://{self.inside}:9{path}")

        found, _ = self.crawl(tmp_path, play=lead_inside)
        reason = found.rows["/robots.txt"]["reason"]
        assert reason.startswith(f"refused: {self.inside} is a private address, to which")
        assert reason.endswith(FORBIDS_NOTHING)
        assert found.is_kept("/plain/2")
