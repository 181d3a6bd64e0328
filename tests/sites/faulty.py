"""A site with every fault that its owner would mend, each planted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from tests.sites.serving import Request

_REDIRECTS = {
    "/old": "/new",
    "/first": "/second",
    "/second": "/third",
    "/round": "/about",
    "/about": "/round",
    "/was-here": "/gone",
}

_ANCHORS = {
    "/": [
        ("/new", "New"), ("/old", "The old address"), ("/first", "Far away"), ("/gone", "Gone"),
        ("/round", "Round"), ("/was-here", "It was here"), ("/copies", "Copies"),
        ("/en", "English"), ("/twin-a", "Twins"), ("/says-other", "Canonical"), ("/bare", "Bare"),
        ("/leaving", "Leaving"),
    ],
    "/new": [("/gone", "<b>The</b> lost\n page"), ("/", "Home")],
    "/copies": [("/copy", "Copy")],
    "/twin-a": [("/twin-b", "The other one")],
    "/en": [("/de", "Deutsch"), ("/fr", "Fran&ccedil;ais")],
    "/orphan": [("/", "Home"), ("/orphan", "Here")],
    "/leaving": [("/", "Home")],
}  # fmt: skip

_HEADS = {
    "/says-other": '<link rel="canonical" href="/new">',
    "/copy": '<link rel="canonical" href="/copies">',
    "/twin-a": '<link rel="canonical" href="/old">',
    "/en": '<link rel="alternate" hreflang="de" href="/de">'
    '<link rel="alternate" hreflang="fr" href="/fr">'
    '<link rel="alternate" hreflang="es" href="/es">',
    "/de": '<link rel="alternate" hreflang="en" href="/en">',
}

_PAGES = frozenset({*_ANCHORS, *_HEADS, "/third", "/twin-b", "/fr", "/bare", "/leaving"})
_TITLES = {"/twin-a": "One title", "/twin-b": "One title", "/bare": ""}
_DESCRIPTIONS = {"/twin-a": "One description", "/twin-b": "One description", "/bare": ""}


class FaultySite(MadeSite):
    """Serves pages on a loopback port while a ``with`` block lasts.

    Attributes:
        gone: Paths that are no longer there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gone: set[str] = set()

    def respond(self, request: Request) -> Response:
        path = request.target
        if path == "/sitemap.xml":
            mapped = ("/", "/orphan", "/only-in-the-sitemap")
            urls = "".join(f"<url><loc>{self.origin}{at}</loc></url>" for at in mapped)
            xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
            return Response(xml.encode(), content_type="application/xml")
        if path in _REDIRECTS:
            return Response(status=301, headers={"Location": _REDIRECTS[path]})
        if path not in _PAGES or path in self.gone:
            return NOT_FOUND
        title = _TITLES.get(path, f"The page {path}")
        description = _DESCRIPTIONS.get(path, f"What {path} is about.")
        said = f'<meta name="description" content="{description}">' if description else ""
        entitled, heading = f"<title>{title}</title>", "" if title else "<h1>A heading</h1>"
        text = prose("/copies" if path == "/copy" else path, 120)
        if path == "/":
            said += '<link rel="stylesheet" href="/lost.css">'
            text += '<img src="/lost.png">'
        anchors = " ".join(f'<a href="{to}">{text}</a>' for to, text in _ANCHORS.get(path, ()))
        return Response(
            f"<!DOCTYPE html><html lang=en><head>{entitled}{said}{_HEADS.get(path, '')}</head>"
            f"<body><main>{heading}<p>{text}</p></main><nav>{anchors}</nav></body></html>".encode()
        )
