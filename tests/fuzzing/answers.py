"""Answers of servers: codings, heads, single header fields, cookies, robots.txt."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]
import zstandard
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.downloadermiddlewares.cookies import Cookies
from crawler.downloadermiddlewares.limits import ReadRedirects
from crawler.downloadermiddlewares.robots import FirstRules
from crawler.downloading.cookies import (
    BoundedJar,
    read_cookies,
    stored_cookies,
    write_cookies,
)
from crawler.downloading.encodings import AnswerError, codings, is_of_the_file, open_body
from crawler.downloading.message_head import range_in, read_head
from crawler.downloading.robots_groups import lines_for
from crawler.frontier.pauses import retry_after_secs
from crawler.mirror.link_rewriting import said_time
from crawler.reading.content_types import why_not_html
from crawler.reading.metadata.declared_headers import header_links, with_headers
from crawler.reading.metadata.metadata_record import NO_METADATA, PageHeaders, robots_words
from crawler.spiders.page_rendering import browser_cookies
from crawler.spiders.probes import _secs_of
from crawler.warc.record_writing import is_as_long_as_declared
from tests.crawler.downloading.test_cookies import HEAD, HTTP_ONLY, SESSION
from tests.crawler.downloading.test_encodings import NOISE, PAGE
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzzing.target import Read

URL = "http://www.example.com/folder/page?x=1"
_CODINGS = ("gzip", "deflate", "br", "zstd", "x-gzip", "unheard-of", "gzip, br", "zstd, deflate")
_ROOM = 1 << 22
_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip, br\r\n"
    b"Set-Cookie: a=1; Path=/; Domain=example.com; Expires=Wed, 21 Oct 2065 07:28:00 GMT\r\n"
    b'Link: <http://www.example.com/a>; rel="canonical", </b>; rel=alternate; hreflang=de\r\n'
    b"Refresh: 0; url=/next\r\nLocation: \\other\\page?x=\\\r\nContent-Location: /c\r\n"
    b"Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\nDate: Wed, 21 Oct 2026 07:00:00 GMT\r\n"
    b"X-Robots-Tag: otherbot: noindex, nofollow\r\nContent-Range: bytes 0-9/10\r\n"
    b"Content-Language: de\r\nContent-Length: 12\r\n"
    b"Last-Modified: Wed, 21 Oct 2026 07:28:00 GMT\r\n"
    b"\r\n<p>body"
)


def _packed() -> list[bytes]:
    gz, page = gzip.compress(PAGE, mtime=0), PAGE[:2000]
    bodies = [
        gz, zlib.compress(page), brotli.compress(PAGE, quality=5), zstandard.compress(PAGE),
        gzip.compress(page, mtime=0) * 3, b"plain text", gzip.compress(brotli.compress(page)),
        zlib.compress(zstandard.compress(page)), zlib.compress(page)[2:-4], NOISE[:500],
        zstandard.ZstdCompressor().compress(page) * 2, brotli.compress(bytes(1 << 20)),
        gzip.compress(bytes(1 << 22), mtime=0), zstandard.compress(bytes(1 << 22)),
    ]  # fmt: skip
    return [bytes([number]) + body for body in bodies for number in range(len(_CODINGS))]


def _begin_encodings(_: Path) -> Read:
    def read(data: bytes) -> None:
        layers, body = codings([_CODINGS[(data[:1] or b"\0")[0] % len(_CODINGS)]]), data[1:]
        is_of_the_file(layers, "http://a/b.tar.gz", "application/gzip", body)
        assert len(open_body(body, layers, _ROOM).body) <= _ROOM

    return read


def _begin_heads(_: Path) -> Read:
    """Read a head, and each of its fields as what reads that field does."""
    crawler = get_crawler()
    cookies, redirects = Cookies.from_crawler(crawler), ReadRedirects.from_crawler(crawler)

    def read(data: bytes) -> None:
        head = read_head(data)
        if head is None:
            return
        fields: dict[bytes, list[bytes]] = {}
        for name, value in head.headers:
            fields.setdefault(name.title(), []).append(value)

        def one(name: bytes) -> str:
            return fields.get(name, [b""])[0].decode("latin-1")

        headers = PageHeaders.of(lambda name: fields.get(name.encode(), []))
        with_headers(NO_METADATA, headers, URL)
        header_links(headers, URL)
        codings(value.decode("latin-1") for value in fields.get(b"Content-Encoding", []))
        range_in(fields.get(b"Content-Range", [b""])[0])
        retry_after_secs(one(b"Retry-After"), one(b"Date"))
        robots_words([one(b"X-Robots-Tag")], "crawl-once/0.1")
        why_not_html(one(b"Content-Type"), data)
        said_time(one(b"Last-Modified"))
        _secs_of(fields.get(b"Date", [None])[0])
        is_as_long_as_declared([("Content-Length", one(b"Content-Length"))], 12)
        answer, request = Response(URL, status=302, headers=fields), Request(URL)
        redirects.process_response(request, answer)
        cookies.process_response(request, answer)
        cookies.process_request(Request(URL + "2"))

    return read


def _begin_set_cookie(folder: Path) -> Read:
    """Take cookies, keep them in a file, read that, and send them."""
    middleware = Cookies(20)

    def read(data: bytes) -> None:
        lines: list[str | bytes] = [*data.split(b"\n")]
        answer = Response(URL, headers={"Set-Cookie": lines})
        middleware.process_response(Request(URL), answer)
        jar = middleware.jars[None].jar
        assert isinstance(jar, BoundedJar)
        write_cookies(folder / "cookies.txt", jar)
        stored_cookies(folder)
        request = Request(URL)
        middleware.process_request(request)
        assert len(request.headers.get(b"Cookie") or b"") <= 8000

    return read


def _cookie_seeds() -> list[bytes]:
    return [
        b"a=1; Path=/; Domain=.example.com; Max-Age=99; HttpOnly\nb=2; expires=Wed, 21-Oct-65",
        b'c="quoted; value"; Version=1; Port="80,443"; Comment=x; SameSite=Lax',
        b"=x\nx=\n;;;\na=b=c; path=/folder; max-age=-1\n\xc3\xa9=\xff; domain=com",
    ]


def _begin_cookie_files(folder: Path) -> Read:
    """Read a file of cookies, which may be kept in another one, and handed to a browser."""
    path, again = folder / "cookies.txt", folder / "again.txt"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        write_cookies(again, read_cookies(str(path)))
        stored_cookies(folder)
        browser_cookies(str(path))

    return read


def _cookie_files() -> list[bytes]:
    """Return files as browsers, curl, wget and httrack write them."""
    others = (
        b"h.example:8080\tFALSE\t/\tFALSE\t0\tsid\t1\n"
        b"h.example\tTRUE\t/\tFALSE\t1999999999\tsid\t1\n"
        b"[::1]:80\tFALSE\t/\tFALSE\t4000000000.25\tsid\t\nh.example FALSE / FALSE 0 sid a b\n"
    )
    return [(HEAD + SESSION + HTTP_ONLY).encode(), others]


def _begin_robots(_: Path) -> Read:
    agent = "crawl-once/0.1 (+http://example.org)"

    def read(data: bytes) -> None:
        rules = FirstRules(data, agent)
        for path in ("/", "/a", "/a/b?c=%2F", "/%C3%A9$", "/wp-admin/a*b"):
            rules.allowed(f"http://h.example{path}", agent)
        rules.crawl_delay(agent)
        rules.pack()
        for sitemap in rules.rp.sitemaps:
            str(sitemap).encode("utf-8", "surrogatepass")
        lines_for(data.decode("utf-8", "replace"), "")

    return read


def _robots_seeds() -> list[bytes]:
    return [
        b"User-agent: *\nDisallow: /a\nAllow: /a/b$\nCrawl-delay: 2.5\nSitemap: http://h/s.xml\n",
        b"\xef\xbb\xbfuser agent crawl-once/1.0\r\ndissalow: /*?*x=*y$\r\nRequest-rate: 1/5s\r\n",
        b"User-agent: a\nUser-agent: b\nDisallow:\nVisit-time: 0600-0845\nHost: x\nnoindex: /\n# x",
        b"User-Agent: *\nDisallow: /%E3%81%82\nDisallow: /%zz\nAllow: *\nDisallow: " + b"*a" * 60,
    ]


TARGETS = (
    Target("encodings", _packed, _begin_encodings, (AnswerError,)),
    Target("response-heads", lambda: [_HEAD], _begin_heads, max_bytes=8192),
    together(
        "cookies",
        Target("set-cookie", _cookie_seeds, _begin_set_cookie, max_bytes=8192),
        Target("cookie-files", _cookie_files, _begin_cookie_files, (ValueError,), 4096),
    ),
    Target("robots.txt", _robots_seeds, _begin_robots),
)
