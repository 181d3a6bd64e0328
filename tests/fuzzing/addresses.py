"""URLs: canonical forms and keys, joining, scopes, kinds, seeds, lists and the rules of a site."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.console.escaping import plain
from crawler.reading.link_extraction import resolve
from crawler.reading.url_joining import PlainJoiner, joined
from crawler.urls.canonical import Canonicalizer, MalformedUrl
from crawler.urls.scope import Scope
from crawler.urls.seeds import check_seed, host_folder, split_seeds
from tests.crawler.urls import strategies
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzzing.target import Read

_URLS = (
    "http://user:pw@H.Org:80/a/../b/%7ec;jsessionid=A?utm_source=1&b=2&a[]=1#f",
    "HTTPS://bücher.ch/Straße?x=%C3%89&sid=9682993c8daa2c5497996114facdc805",
    "http://[::0:1]:8080//a//b/.?&&=",
    "http://0x7f.1/(S(4hqa0555fwsecu455xqckv45))/default.aspx",
    "//xn--bcher-kva.ch./%2e%2e/a?a=1;b=2",
    "..\\..\\a b",
)


def _text_of(data: bytes) -> str:
    """Return a text with halves of surrogate pairs too, as pages can spell them."""
    return data.decode("utf-8", "surrogateescape")


def _begin_canonical(_: Path) -> Read:
    canonical, other_rules = Canonicalizer(), Canonicalizer(["fragment"])

    def read(data: bytes) -> None:
        url, _, other = _text_of(data).partition("\n")
        with suppress(MalformedUrl):
            once = canonical(url)
            assert canonical(once) == once
            assert len(canonical.key(url)) == 16
            canonical.exact(url)
            canonical.variant_key(url)
            other_rules(url)
            canonical.parting(url, other or once)
            canonical.sufficient(url, other or once)

    return read


def _begin_joined(_: Path) -> Read:
    def read(data: bytes) -> None:
        base, _, reference = _text_of(data).partition("\n")
        joined(base, reference)
        PlainJoiner(base).join(reference)
        for encoding in ("utf-8", "gb18030", "iso2022_jp", "utf-16"):
            # A URL that is none is a ValueError, which callers count as a malformed link.
            with suppress(ValueError):
                resolve(base, reference, encoding)
        with suppress(MalformedUrl):
            host_folder(base)
        for seed in split_seeds(base):
            with suppress(MalformedUrl):
                check_seed(seed)

    return read


def _seeds() -> list[bytes]:
    pieces = "".join(strategies._PIECES).encode("utf-8", "replace")
    pairs = [f"{one}\n{other}".encode() for one in _URLS for other in _URLS]
    return [*(url.encode() for url in _URLS), *pairs, pieces]


def _begin_lists(folder: Path) -> Read:
    """Read a list of URLs as ``crawl-once urls FILE`` does."""
    path = folder / "urls.txt"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        with path.open(encoding="utf-8-sig", errors="replace") as lines:
            for line in lines:
                with suppress(MalformedUrl):
                    plain(check_seed(line.strip()))

    return read


def _begin_patterns(_: Path) -> Read:
    """Take patterns of a command line or a configuration file, and a URL to match."""

    def read(data: bytes) -> None:
        pattern, _, url = data.decode("utf-8", "replace").partition("\n")
        scope = Scope(["http://example.com/a/"], "host", include=pattern, exclude=pattern)
        scope.allows(f"http://example.com/{url}")

    return read


def _lists() -> list[bytes]:
    return [b"\xef\xbb\xbf# a list\nhttp://a.example/b c\nexample.com:80\nhttps://u:p@[::1]/\n"]


def _patterns() -> list[bytes]:
    return [b"/a/**/b[!c-e]?.html\na/x/bf1.html", b"!*.example.com\n", b"[[:alpha:]]\\*\nx"]


TARGETS = (
    Target("canonical-urls", _seeds, _begin_canonical, max_bytes=2048),
    together(
        "joined-and-listed-urls",
        Target("joined", _seeds, _begin_joined, max_bytes=2048),
        Target("lists", _lists, _begin_lists, max_bytes=2048),
        Target("patterns", _patterns, _begin_patterns, (ValueError,), 2048),
    ),
)
