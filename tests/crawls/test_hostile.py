"""A crawl of a site that misbehaves in every way: each trick ends with a verdict that says so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy
from tests.crawls.crawled import crawl_site, read_back
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose
from tests.sites.tricks import TRICKS, bodies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawls.crawled import Crawled

SHORT = (
    "-s", "DOWNLOAD_TIMEOUT=10", "-s", "READING_TIMEOUT_SECS=5", "-s", "RETRY_ENABLED=False",
)  # fmt: skip
# The machine that runs the tests is itself private, so that redirects to these would be followed.
PRIVATE = ("/redirect/link-local", "/redirect/private")
LINKED = tuple(path for path in TRICKS if path not in PRIVATE)

# Verdict and reason, the latter as a regular expression; None where nothing needs to be said.
VERDICTS: dict[str, tuple[str, str | None]] = {
    "/empty": ("too_short", None),
    "/truncated": ("new", "truncated: the server sent less than it said"),
    "/truncated-gzip": ("new", "truncated: its compressed stream breaks off, or is damaged"),
    **{
        f"/false-{coding}": ("new", "its Content-Encoding is false: read as it came")
        for coding in ("gzip", "brotli", "zstd", "deflate", "two")
    },
    "/utf8-called-ascii": ("new", None),
    "/latin1-called-utf8": ("new", None),
    "/unknown-charset": ("new", None),
    "/nested": ("new", None),
    "/nested-only": ("new", None),
    "/huge": ("unreadable", "larger than 32 MB"),
    "/gzip-bomb": ("unreadable", "larger than 32 MB when decompressed"),
    "/no-content-type": ("new", None),
    "/image": ("not_html", "a PNG image"),
    "/paper": ("not_html", r"cannot be read: a PDF document: .+"),
    "/data": ("not_html", "application/json"),
    "/plain-text": ("new", None),
    "/binary-called-html": ("not_html", "a PNG image"),
    "/null-bytes": ("new", None),
    "/drip": ("failed", "no answer in time"),
    "/silent": ("failed", "no answer in time"),
    "/reset": ("failed", "connection lost"),
    "/reset-midway": ("new", "truncated: the server sent less than it said"),
    "/not-http": ("failed", "not an HTTP answer: .*220 mail.example.*"),
    "/error-500": ("failed", "HTTP 500"),
    "/gone-410": ("failed", "HTTP 410"),
    "/missing-404": ("failed", "HTTP 404"),
    "/robots/noindex": ("noindex", None),
    "/robots/nofollow": ("new", None),
    "/robots/none": ("noindex", None),
    "/robots/other": ("new", None),
    "/robots/header-noindex": ("noindex", None),
    "/robots/header-nofollow": ("new", None),
    "/robots/header-otherbot": ("new", None),
    "/robots/link": ("new", None),
    "/closed/door": ("failed", r"forbidden by robots\.txt"),
    "/plain/1": ("new", None),
    "/many-links": ("new", None),
    "/odd-links": ("new", None),
    "/meta-refresh": ("new", None),
    "/base-href": ("new", None),
    "/base-elsewhere": ("new", None),
    "/frameset": ("too_short", None),
    "/iframe": ("new", None),
    "/twin/1": ("new|text_duplicate", None),
    "/twin/2": ("new|text_duplicate", None),
    # A request that is sent again is followed to the limit of redirects, which is as true.
    "/redirect/loop": ("unreadable", "redirected (in a circle|without end)"),
    "/redirect/loop-back": ("unreadable", "redirected (in a circle|without end)"),
    "/redirect/self": ("unreadable", "redirected without end"),
    "/redirect/cookie": ("new", None),
    "/redirect/file": ("failed", "HTTP 302 to 'file:///etc/passwd', which is not fetched"),
    "/redirect/ftp": ("failed", "HTTP 302 to 'ftp://127.0.0.1/secret', which is not fetched"),
    "/redirect/data": ("failed", "HTTP 302 to 'data:text/html,.*', which is not fetched"),
    "/redirect/malformed": ("failed", "redirects to what is no URL: .*"),
    "/redirect/no-location": ("failed", "HTTP 302 without a Location"),
    "/sitemap/index": ("not_html", "application/xml"),
    "/sitemap/pages": ("not_html", "application/xml"),
    "/sitemap/packed": ("not_html", "gzip data"),
    "/sitemap/torn": ("not_html", "gzip data"),
    "/sitemap/garbage": ("too_short", None),
    "/sitemap/endless": ("not_html", "application/xml"),
}
# Answered for by another URL: where they lead, or where patience ended.
ELSEWHERE = {
    "/redirect/plain": ("/plain/301", "new", None),
    "/redirect/chain": ("/redirect/chain?step=20", "unreadable", "redirected without end"),
}
# Of pages that are kept, words that no damage may take away.
TEXTS = {
    "/utf8-called-ascii": bodies.FRENCH.strip(),
    # With nothing to go by, another encoding of one byte may be guessed: these words are the same.
    "/latin1-called-utf8": "vous passés, mes",
    "/unknown-charset": prose("Unknown charset"),
    "/no-content-type": prose("A page without a type"),
    "/null-bytes": prose("With null bytes"),
    "/false-gzip": prose("Not gzip at all"),
    "/truncated": prose("A page cut off in the middle")[:200],
    "/truncated-gzip": prose("A stream cut off in the middle")[:100],
    "/reset-midway": prose("Torn in the middle")[:200],
    "/nested": prose("deep inside"),
    "/nested-only": prose("only inside"),
    "/many-links": prose("Twenty thousand links"),
    "/odd-links": prose("Odd links"),
    "/meta-refresh": prose("Refreshed by meta"),
    "/base-href": prose("Based elsewhere"),
    "/base-elsewhere": prose("Based on another host"),
    "/iframe": prose("A frame inside"),
    "/redirect/cookie": prose("Behind a cookie"),
    "/plain/301": prose("Page /plain/301"),
    "/robots/nofollow": prose("Meta robots nofollow"),
    "/robots/other": prose("Meta googlebot noindex"),
    "/robots/header-otherbot": prose("Header otherbot: none, nofollow"),
}
# Pages that only one trick leads to, and by what.
LED_TO = {
    "/plain/901": "noindex, which says nothing of links",
    "/plain/904": "X-Robots-Tag: noindex, which says nothing of links",
    "/plain/907": "a link without nofollow beside others",
    "/plain/908": "noindex for another robot",
    "/plain/909": "none and nofollow for another robot",
    "/plain/911": "a meta refresh",
    "/plain/912": "a link resolved against <base href>",
    "/plain/914": "a frame",
    "/plain/915": "a frame",
    "/plain/916": "an iframe",
    "/plain/921": "a link with spaces and a line break around it",
    "/plain/922": "a link with a tab in it",
    "/plain/931": "a twin",
    "/plain/932": "a twin, though its words are a duplicate",
}
BY_META = {"/plain/902", "/plain/903", "/plain/910"}
BY_RELATION = {"/plain/905", "/plain/906"}
MANNERS = tuple(path for path in TRICKS if path.startswith("/robots/"))


def run(site: HostileSite, jobdir: Path, *arguments: str) -> Crawled:
    return crawl_site(site, jobdir, *SHORT, *arguments)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    with HostileSite(linked=LINKED) as site:
        return run(site, tmp_path_factory.mktemp("hostile") / "job", "-a", "deny=/many/")


def test_every_trick_has_a_line_in_the_tables() -> None:
    assert set(VERDICTS) | set(ELSEWHERE) | set(PRIVATE) == set(TRICKS)


@pytest.mark.parametrize("path", VERDICTS)
def test_trick_ends_with_a_verdict_that_says_so(crawled: Crawled, path: str) -> None:
    expect(crawled, path, *VERDICTS[path])


@pytest.mark.parametrize("path", ELSEWHERE)
def test_redirect_is_answered_for_by_another_url(crawled: Crawled, path: str) -> None:
    assert path in crawled.asked
    assert path not in crawled.rows
    expect(crawled, *ELSEWHERE[path])


def expect(crawled: Crawled, path: str, verdict: str, reason: str | None) -> None:
    row = crawled.rows[path]
    assert row["verdict"] in verdict.split("|")
    if reason is None:
        assert row["reason"] is None
    else:
        assert re.fullmatch(reason, row["reason"])


def test_everything_is_asked_for_but_what_robots_txt_closes(crawled: Crawled) -> None:
    assert set(LINKED) - set(crawled.asked) == {"/closed/door"}


@pytest.mark.parametrize("path", TEXTS)
def test_text_survives(crawled: Crawled, path: str) -> None:
    text = " ".join(crawled.rows[path]["text"].split())
    assert TEXTS[path] in text
    assert "\ufffd" not in text


@pytest.mark.parametrize("path", LED_TO)
def test_page_is_found(crawled: Crawled, path: str) -> None:
    assert crawled.is_kept(path), LED_TO[path]


def test_what_is_not_to_be_followed_is_not_asked_for(crawled: Crawled) -> None:
    assert not (BY_META | BY_RELATION) & set(crawled.asked)


def test_nothing_is_made_up(crawled: Crawled) -> None:
    """Of the links that lead nowhere, one is a path to those who read it as browsers do.

    The steps of a chain without end are asked for once more with the cookies that came meanwhile.
    """
    known = {"/", *VERDICTS, *LED_TO, *(path for path, _, _ in ELSEWHERE.values())}
    (odd,) = {
        path for path in set(crawled.rows) - known if not path.startswith("/redirect/chain?step=")
    }
    assert odd.startswith("/ht!tp:/")
    assert crawled.rows[odd]["reason"] == "HTTP 404"


def test_one_twin_is_kept_and_the_other_names_it(crawled: Crawled) -> None:
    first, second = sorted(("/twin/1", "/twin/2"), key=crawled.is_kept)
    assert crawled.rows[first]["duplicate_of"] == crawled.rows[second]["url"]


def test_report_counts_every_row(crawled: Crawled) -> None:
    found = crawled.report
    assert found.fetched + (found.failed or 0) == sum(found.verdicts.values()) == len(crawled.rows)
    assert found.kept == len(crawled.kept)
    assert found.queued == 0


class TestManners:
    """Each wish of a page is honoured, or not, by a setting of its own."""

    def test_robots_meta(self, tmp_path: Path) -> None:
        with HostileSite(linked=MANNERS) as site:
            found = run(site, tmp_path / "job", "-s", "CRAWL_OBEY_ROBOTS_META=False")
        assert set(found.asked) >= BY_META
        assert not BY_RELATION & set(found.asked)
        assert all(found.is_kept(path) for path in MANNERS)
        assert found.report.verdicts["noindex"] == 0

    def test_nofollow(self, tmp_path: Path) -> None:
        with HostileSite(linked=MANNERS) as site:
            found = run(site, tmp_path / "job", "-s", "CRAWL_OBEY_NOFOLLOW=False")
        assert set(found.asked) >= BY_RELATION
        assert not BY_META & set(found.asked)
        assert found.report.verdicts["noindex"] == 3


class TestPrivateAddresses:
    """Seen from a public host: the site plays the proxy, so that nothing leaves this machine."""

    seed = "http://www.public.invalid"
    linked = (*PRIVATE, "/redirect/plain")
    robots_txt = "User-agent: *\nSitemap: http://192.168.7.7/sitemap/pages\n"

    def crawl_through(self, jobdir: Path, *arguments: str) -> Crawled:
        with HostileSite(self.robots_txt, self.linked) as site:
            done = scrapy(
                "crawl", "site", "-a", f"url={self.seed}/", "-s", f"JOBDIR={jobdir}",
                "-s", "DOWNLOAD_DELAY=0", *SHORT, *arguments,
                environment={"http_proxy": site.url, "no_proxy": "", "NO_PROXY": ""},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            return read_back(done, jobdir, self.seed, site.paths())

    def test_are_refused(self, tmp_path: Path) -> None:
        found = self.crawl_through(tmp_path / "job")
        assert f"{self.seed}/redirect/private" in found.asked
        assert all(url.startswith(self.seed) for url in found.asked)
        for host in ("169.254.169.254", "10.255.255.1"):
            (row,) = (row for url, row in found.rows.items() if host in url)
            assert row["verdict"] == "failed"
            assert row["reason"].startswith(f"refused: {host} is a private address, to which www.")
        assert "192.168.7.7/sitemap/pages: no sitemap: refused" in found.done.stderr
        assert found.is_kept("/plain/301")

    def test_are_gone_to_where_that_is_allowed(self, tmp_path: Path) -> None:
        found = self.crawl_through(tmp_path / "job", "-s", "CRAWL_PRIVATE_ADDRESSES=True")
        assert "http://192.168.7.7/sitemap/pages" in found.asked
        for path in PRIVATE:  # strangers all the same
            assert found.rows[path]["reason"] == "redirected out of the scope"


def test_pages_beyond_the_limits_of_reading_cost_themselves_alone(tmp_path: Path) -> None:
    limits = {
        "DOWNLOAD_MAXSIZE": 2 * bodies.HUGE_BYTES,
        "READING_TIMEOUT_SECS": 2,
        "READING_MAX_LINKS": 5,
        "READING_WORKERS": 1,
    }
    settings = [part for name, value in limits.items() for part in ("-s", f"{name}={value}")]
    with HostileSite(linked=("/huge", "/plain/1", "/many-links", "/plain/2")) as site:
        found = run(site, tmp_path / "job", *settings)
    # Time or memory, whichever ends first on this machine.
    expect(found, "/huge", "unreadable", "took longer than 2 s|ran out of memory .*")
    many = {f"/many/{number}" for number in range(5)}
    assert found.kept == {"/", "/plain/1", "/plain/2", "/many-links", *many}
    assert set(found.asked) == {*found.kept, "/huge"}


def test_sitemaps_of_every_kind_take_nothing_away(tmp_path: Path) -> None:
    named = ("http://[::1/", "ftp://x/", "", "http://127.0.0.1:99999/", "/sitemap/index")
    robots = "User-agent: *\n" + "".join(f"Sitemap: {url}\n" for url in named)
    with HostileSite(robots_txt=robots, linked=("/plain/1",)) as site:
        found = run(site, tmp_path / "job")
    one_step = ("/plain/1", "/plain/941", "/plain/942", "/plain/943")
    broken = ("/sitemap/torn", "/sitemap/garbage", "/sitemap/missing")
    assert found.depths == {**dict.fromkeys(("/", *broken), 0), **dict.fromkeys(one_step, 1)}
    expect(found, "/sitemap/torn", "unreadable", "not a sitemap")
    expect(found, "/sitemap/missing", "failed", "no sitemap: HTTP 404")
    assert found.asked.count("/sitemap/endless") == 1
    assert "/sitemap/endless?step=5" not in found.asked
    for name in ("torn", "garbage"):
        assert f"/sitemap/{name}: not a sitemap" in found.done.stderr
    assert "/sitemap/missing: no sitemap: " in found.done.stderr
