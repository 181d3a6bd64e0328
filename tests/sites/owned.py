"""A site with links of every kind that lead nowhere, beside as many that only look like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from tests.sites.serving import Request

LINKED = {
    "/gone", "/thrice", "/error", "/gone-410", "/closes", "/gone-after-move", "/lost-area",
    "/lost-frame", "/lost-noscript", "/lost.pdf", "/lost.zip", "/lost-next", "/two%20words",
    "/in-sitemap", "/in-sitemap-2", "/lost.svg", "/lost.swf",
}  # fmt: skip
"""URLs that pages and the sitemap name as pages, or show as documents of their own."""

WRITTEN = {"/lost-author", "/lost-amp", "/lost-cite", "/lost-form?a=1", "/lost-canonical"}
"""URLs that pages name otherwise, in so many words."""

RESOURCES = {
    "/lost.css", "/lost.js", "/lost.ico", "/lost.png", "/lost-2x.png", "/lost.webp", "/lost.mp3",
    "/lost.mp4", "/lost-poster.png", "/lost-import.css", "/lost-bg.png", "/lost.woff2",
    "/lost-style.png", "/lost-attribute.png", "/lost-feed", "/lost.webmanifest",
}  # fmt: skip
"""URLs of what pages need to be shown, and of files that programs read."""

MALFORMED = {
    "http://[::1", "http://", "//", "http://a b.example/", "http://127.0.0.3:65536/",
    "htp://typo.example/", "mailto:nobody",
}  # fmt: skip

PLACES = {
    "/places#lost", "/places#Install", "/places#by-NAME", "/places#of-a-form", "/a#lost",
    "/#lost", "/old#lost", "/a#l%C3%B6st", "/b#of-an-area",
}  # fmt: skip

DEAD = {"/404": 404, "/410": 410, "/500": 500, "/no-head-gone": 410, "/moved": 404, "/frame": 404}
"""Paths of the other site that are dead, with their statuses."""

_FINE = (
    "#install", "#by-name", "#ma%C3%9Fe", "#maße", "#two%20words", "#two words", "#top", "#TOP",
    "#", "", "/a#", "#readme", "#100%", "#100%25", "#a%2520b", "/#here", "/old#install",
    "/a#:~:text=garden", "#install:~:text=a", "/app#/route", "/app#!route", "/good.png#x",
    "/text#x", "mailto:a@example.org", "mailto:?subject=Hi", "tel:+4912345", "sms:+49123",
    "javascript:void(0)", "JavaScript:history.back()", "data:text/plain,hello", "about:blank",
    "x-program://open", " /a ", "?", ".", "http:/a",
)  # fmt: skip

_REDIRECTS = {"/moved": "/gone-after-move", "/old": "/places"}
_BODIES = {
    "/": """<link rel=stylesheet href=/good.css><link rel=stylesheet href=/lost.css>
<link rel=icon href=/lost.ico><script src=/lost.js></script><h2 id=here>Here</h2>
<img src=/lost.png alt=x><img src=/good.png srcset="/good.png 1x, /lost-2x.png 2x" alt=x>
<picture><source srcset=/lost.webp><img src=/good-copy.png alt=x></picture>
<video poster=/lost-poster.png src=/lost.mp4></video><audio src=/lost.mp3></audio>
<div style="background: url(/lost-attribute.png)"></div>
<style>p { background: url(/lost-style.png) }</style>
<iframe src=/lost-frame></iframe><object data=/lost.svg></object><embed src=/lost.swf>
<a href=/gone>x</a> <a href=/thrice>x</a> <a href=/error>x</a> <a href=/gone-410>x</a>
<a href=/closes>x</a> <a href=/moved>x</a> <a href=/a>x</a> <a href=/b>x</a> <a href=/old>x</a>
<a href=/places>x</a> <a href=/elsewhere>x</a> <a href=/lost.pdf>x</a> <a href=/lost.zip>x</a>
<a href="/two words">x</a> <map><area href=/lost-area alt=x></map>""",
    "/a": """<a href=/thrice>x</a> <a href=/>x</a> <img src=/lost.png alt=x>
<link rel=author href=/lost-author><link rel=canonical href=/lost-canonical>
<link rel=amphtml href=/lost-amp><link rel=next href=/lost-next>
<link rel=alternate type=application/rss+xml href=/lost-feed>
<link rel=manifest href=/lost.webmanifest><blockquote cite=/lost-cite>x</blockquote>
<form action=/lost-form><input type=hidden name=a value=1><button>x</button></form>""",
    "/b": """<a href=/thrice>x</a> <a href=/a>x</a> <a href=/text>x</a>
<noscript><a href=/lost-noscript>x</a></noscript>""",
    "/places": """<h2 id=install>x</h2><a name=by-name>x</a><h2 id=maße>x</h2>
<h2 id="two words">x</h2><form name=of-a-form></form><p id=user-content-readme>x</p>
<h2 id="100%">x</h2><h2 id="a%20b">x</h2><map><area href=/b#of-an-area alt=x></map>""",
    "/app": '<div id="root"></div><script src="/app.js"></script>',
    "/elsewhere": "",
    "/in-sitemap-alone": "",
}
_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002"
    "000001e221bc330000000049454e44ae426082"
)
_ANSWERS = {
    "/error": Response(b"<p>Error</p>", status=500),
    "/gone-410": Response(b"<p>Gone</p>", status=410),
    "/closes": None,
    "/good.png": Response(_PNG, content_type="image/png"),
    "/good-copy.png": Response(_PNG, content_type="image/png"),
    "/app.js": Response(b"var a = 1;", content_type="text/javascript"),
    "/good.css": Response(
        b"@import url(/lost-import.css); body { background: url(/lost-bg.png) }"
        b" @font-face { font-family: x; src: url(/lost.woff2) } p { background: url(/good.png) }",
        content_type="text/css",
    ),
    "/text": Response(prose("/text", 80).encode(), content_type="text/plain; charset=utf-8"),
}
OF_OTHER = {
    "/410": Response(status=410),
    "/500": Response(status=500),
    "/places": Response(b"<!DOCTYPE html><title>x</title><h2 id=there>x</h2>"),
    "/good.png": Response(_PNG, content_type="image/png"),
}
"""Further answers of the other site."""

_OUT = ("/alive", "/404", "/410", "/500", "/no-head", "/no-head-gone", "/moved", "/secret")


class OwnedSite(MadeSite):
    """Serves the site on a loopback port while a ``with`` block lasts.

    Args:
        other: Origin of another site, to which pages link.
        port: Any that is free where it is 0.
    """

    def __init__(self, other: str, port: int = 0) -> None:
        super().__init__(port=port)
        links = "".join(f'<a href="{to}">x</a> ' for to in (*_FINE, *sorted(PLACES)))
        out = "".join(f'<a href="{other}{path}">x</a> ' for path in (*_OUT, "/refuses"))
        out += "".join(f'<a href="{written}">x</a> ' for written in sorted(MALFORMED))
        out += f'<iframe src="{other}/frame"></iframe><img src="{other}/good.png" alt=x>'
        out += f'<img src="{other}/lost.png" alt=x><a href="http://127.0.0.3:9/">x</a>'
        # Of places on other sites nothing is said: scripts may make them.
        out += f'<a href="{other}/places#lost">x</a> <a href="{other}/places#there">x</a>'
        self._bodies = _BODIES | {"/places": _BODIES["/places"] + links, "/elsewhere": out}

    def respond(self, request: Request) -> Response | None:
        path = request.target.removesuffix("?")
        if path in _ANSWERS:
            return _ANSWERS[path]
        if path in _REDIRECTS:
            return Response(status=301, headers={"Location": _REDIRECTS[path]})
        if path == "/robots.txt":
            named = f"Sitemap: {self.origin}/sitemap.xml\n"
            return Response(named.encode(), content_type="text/plain")
        if path == "/sitemap.xml":
            mapped = ("/", "/a", "/in-sitemap-alone", "/in-sitemap", "/in-sitemap-2")
            urls = "".join(f"<url><loc>{self.origin}{at}</loc></url>" for at in mapped)
            xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
            return Response(xml.encode(), content_type="application/xml")
        if path not in self._bodies:
            return NOT_FOUND
        return Response(
            f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{path}</title>"
            f'<meta name=description content="About {path}"></head><body><main>'
            f"<h1>{path}</h1><p>{prose(path, 120)}</p>{self._bodies[path]}</main></body>".encode()
        )
