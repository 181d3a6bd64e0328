"""A site with a page for each place where a URL may stand, each leading to a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.sites.hostile import HostileSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from tests.sites.exchange import Exchange
    from tests.sites.hostile import Trick


class Place(NamedTuple):
    """A place of a URL, which is written as ``URL`` there.

    Attributes:
        name: Its name, a path.
        kind: The kind of a link there.
        body: Markup of the body.
        head: Markup of the head.
        header: A header of the answer, name and value.
    """

    name: str
    kind: str
    body: str = ""
    head: str = ""
    header: tuple[str, str] | None = None


PLACES = (
    Place("a", "anchor", '<a href="URL">on</a>'),
    Place("area", "anchor", '<map name="m"><area href="URL"></map>'),
    Place("svg-a", "anchor", '<svg><a xlink:href="URL"><text>on</text></a></svg>'),
    Place("svg-a-href", "anchor", '<svg><a href="URL"><text>on</text></a></svg>'),
    Place("mathml", "anchor", '<math><mi href="URL">x</mi></math>'),
    Place("noscript", "anchor", '<noscript><a href="URL">on</a></noscript>'),
    Place("template", "anchor", '<template><a href="URL">on</a></template>'),
    Place("details", "anchor", '<details><summary>x</summary><a href="URL">on</a></details>'),
    Place("iframe", "frame", '<iframe src="URL"></iframe>'),
    Place("srcdoc", "frame", '<iframe srcdoc="&lt;a href=URL&gt;on&lt;/a&gt;"></iframe>'),
    Place("frame", "frame", '<frameset><frame src="URL"></frameset>'),
    Place("meta-refresh", "refresh", head='<meta http-equiv="refresh" content="900; url=URL">'),
    Place("header-refresh", "refresh", header=("Refresh", "900; url=URL")),
    Place("next", "relation", head='<link rel="next" href="URL">'),
    Place("translation", "relation", head='<link rel="alternate" hreflang="de" href="URL">'),
    Place("header-link", "relation", header=("Link", '<URL>; rel="prev"')),
    Place("og-url", "canonical", head='<meta property="og:url" content="URL">'),
    Place("formula", "anchor", '<math><mi xlink:href="URL">x</mi></math>'),
    Place("amphtml", "version", head='<link rel="amphtml" href="URL">'),
    Place("shortlink", "version", head='<link rel="shortlink" href="URL">'),
    Place("author", "version", head='<link rel="author" href="URL">'),
    Place("get", "form", '<form action="URL"><input type="submit"></form>'),
    Place("formaction", "form", '<form action="/"><button formaction="URL">x</button></form>'),
    Place("search", "open-form", '<form action="URL"><input name="q"></form>'),
    Place("embed", "embedded", '<embed src="URL">'),
    Place("object", "embedded", '<object data="URL"></object>'),
    Place("codebase", "embedded", '<object codebase="URL"></object>'),
    Place("archive", "embedded", '<applet archive="URL"></applet>'),
    Place("param", "embedded", '<object><param name="movie" value="URL"></object>'),
    Place("blockquote", "citation", '<blockquote cite="URL">said</blockquote>'),
    Place("ins", "citation", '<ins cite="URL">new</ins>'),
    Place("longdesc", "citation", '<img alt="x" longdesc="URL">'),
    Place("ping", "ping", '<a href="/" ping="URL">home</a>'),
    Place("data-href", "data", '<div data-href="URL">on</div>'),
    Place("data-url", "data", '<div data-url="URL">on</div>'),
    Place("content-location", "header", header=("Content-Location", "URL")),
    Place("location", "header", header=("Location", "URL")),
    Place("onclick", "script", "<button onclick=\"location.href='URL'\">on</button>"),
    Place(
        "menu",
        "anchor",
        '<select onchange="location = this.value"><option>Go<option value="URL">on</select>',
    ),
    Place("option", "script", '<select id="to"><option value="URL">on</option></select>'),
    Place("javascript", "script", "<a href=\"javascript:open('URL')\">on</a>"),
    Place("script", "script", '<script>var next = "URL";</script>'),
    Place("script-escaped", "script", '<script>var next = "ESCAPED";</script>'),
    Place("json", "script", '<script type="application/json">{"to": "URL"}</script>'),
    Place(
        "json-ld",
        "script",
        '<script type="application/ld+json">{"@type": "WebPage", "relatedLink": "URL"}</script>',
    ),
    Place("next-data", "script", '<script id="__NEXT_DATA__">{"page": "URL"}</script>'),
    Place("comment", "comment", '<!-- <a href="URL">on</a> -->'),
    Place("comment-text", "comment", "<!-- see URL too -->"),
    Place("conditional", "comment", '<!--[if IE]><a href="URL">on</a><![endif]-->'),
    Place("img", "resource", '<img src="URL">'),
    Place("srcset", "resource", '<img srcset="/found/srcset,with,commas 1x, URL 2x">'),
    Place("imagesrcset", "resource", head='<link rel="preload" imagesrcset="URL 1x">'),
    Place("image", "resource", '<image src="URL">'),
    Place("lowsrc", "resource", '<img lowsrc="URL">'),
    Place("dynsrc", "resource", '<img dynsrc="URL">'),
    Place("script-src", "resource", '<script src="URL"></script>'),
    Place("stylesheet", "resource", head='<link rel="stylesheet" href="URL">'),
    Place("icon", "resource", head='<link rel="icon" href="URL">'),
    Place("video", "resource", '<video src="URL"></video>'),
    Place("poster", "resource", '<video poster="URL"></video>'),
    Place("source", "resource", '<audio><source src="URL"></audio>'),
    Place("track", "resource", '<video><track src="URL"></video>'),
    Place("input", "resource", '<input type="image" src="URL">'),
    Place("background", "resource", '<table background="URL"></table>'),
    Place("svg-image", "resource", '<svg><image xlink:href="URL"/></svg>'),
    Place("style", "resource", head="<style>body { background: url(URL) }</style>"),
    Place("import", "resource", head='<style>@import "URL";</style>'),
    Place("font-face", "resource", head="<style>@font-face { src: url('URL') }</style>"),
    Place("style-attribute", "resource", '<p style="background: url(URL)">x</p>'),
)
"""Places that lead to a page at once, without a file between them."""


class LinkingSite(HostileSite):
    """``/`` leads to a page ``/place/NAME`` for each place, and that one to ``/found/NAME`` alone.

    There are a feed, a manifest and a search description too, which lead to ``/found/feed`` and so
    on, and a sitemap that robots.txt does not name.
    """

    def __init__(self) -> None:
        places = (f"/place/{place.name}" for place in PLACES)
        super().__init__(linked=(*places, *_HEADS, "/gone", *_OVER))
        for place in PLACES:
            self.added[f"/place/{place.name}"] = _page_of(place)
            self.added[f"/found/{place.name}"] = _plain(f"/found/{place.name}")
        for path, head in _HEADS.items():
            self.added[path] = _page_of(Place(path, "", head=head))
            self.added[f"/found/{path.rpartition('/')[2]}"] = _plain(path)
        for path, (body, content_type) in _FILES.items():
            self.added[path] = _file(body, content_type)
        self.added["/found/sitemap"] = _plain("sitemap")
        self.added["/gone"] = _gone
        self.added["/found/gone"] = _plain("gone")
        for path, headers in _OVER.items():
            self.added[path] = _error(headers)
        for path in OF_ERRORS:
            self.added[path] = _plain(path)


def _page_of(place: Place) -> Trick:
    url = f"/found/{place.name}"
    escaped = url.replace("/", "\\/")

    def write(text: str) -> str:
        return text.replace("URL", url).replace("ESCAPED", escaped)

    def play(exchange: Exchange) -> None:
        headers = {} if place.header is None else {place.header[0]: write(place.header[1])}
        exchange.answer(_body(place.name, write(place.head), write(place.body)), headers=headers)

    return play


def _gone(exchange: Exchange) -> None:
    exchange.answer(b"Gone.", status=410, headers={"Location": "/found/gone"})


def _error(headers: dict[str, str]) -> Trick:
    return lambda exchange: exchange.answer(b"Over.", status=404, headers=headers)


def _plain(name: str) -> Trick:
    return lambda exchange: exchange.answer(_body(f"found {name}", "", ""))


def _file(body: str, content_type: str) -> Trick:
    return lambda exchange: exchange.answer(body.encode(), content_type)


def _body(name: str, head: str, body: str) -> bytes:
    return (
        f"<!DOCTYPE html><html><head><title>{name}</title>{head}</head>"
        f"<body>{body}<main><h1>{name}</h1><p>{prose(name, 200)}</p></main></body></html>"
    ).encode()


_HEADS = {
    "/naming/feed": '<link rel="alternate" type="application/rss+xml" href="/feed.xml">',
    "/naming/manifest": '<link rel="manifest" href="/app.webmanifest">',
    "/naming/opensearch": (
        '<link rel="search" type="application/opensearchdescription+xml" href="/search.xml">'
    ),
}
_FILES = {
    "/feed.xml": (
        "<rss version='2.0'><channel><title>News</title><link>/</link><item><title>One</title>"
        "<link>/found/feed</link></item></channel></rss>",
        "application/rss+xml",
    ),
    "/app.webmanifest": (
        '{"name": "App", "start_url": "/", "shortcuts": [{"url": "/found/manifest"}]}',
        "application/manifest+json",
    ),
    "/search.xml": (
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        '<Url type="text/html" template="/found/opensearch?q={searchTerms}"/>'
        "</OpenSearchDescription>",
        "application/opensearchdescription+xml",
    ),
    "/sitemap.xml": (
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url>"
        "<loc>/found/sitemap</loc></url></urlset>",
        "application/xml",
    ),
}
_OVER = {
    "/over/next": {"Link": "</found/next-of-error>; rel=next"},
    "/over/refresh": {"Refresh": "9; url=/found/refresh-of-error"},
    "/over/asking": {"Link": "</found/no>; rel=next", "X-Robots-Tag": "nofollow"},
}
OF_ERRORS = frozenset({"/found/next-of-error", "/found/refresh-of-error"})
"""Pages that an error leads to by links that are no guesses."""

_OTHERS = ("feed", "manifest", "opensearch", "sitemap", "gone")
DESCRIBED = frozenset(f"/found/{name}" for name in _OTHERS)
"""Pages that only a file of the site names, or an answer that is an error."""
