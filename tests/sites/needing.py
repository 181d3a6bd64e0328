"""A site whose pages need styles, images and frames, lead away, and repeat each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.changing import ChangingSite, Served
from tests.sites.prose import prose

if TYPE_CHECKING:
    from tests.sites.exchange import Exchange
    from tests.sites.hostile import Trick

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8"
    "cfc000000301010018dd8db00000000049454e44ae426082"
)
TEXT = prose("needing", 200)
BACK = '<a href="./#part">back</a> <a href="/docs">start</a>'


def body(name: str, main: str, head: str = "") -> bytes:
    """A page with a text of its own."""
    return (
        f"<!DOCTYPE html><html><head><title>{name}</title>{head}</head><body><main><article>"
        f"<h1>{name}</h1><p>{prose(name, 200)}</p>{main}</article></main></body></html>"
    ).encode()


class NeedingSite(ChangingSite):
    """``/`` leads to ``/docs/``, and that to everything."""

    def __init__(self) -> None:
        super().__init__()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be as at first, with nothing asked for."""
        self.linked = ("/docs/",)
        self.added.clear()
        self.forget()
        self.file("/docs/", body("start", START, HEAD))
        self.file("/docs/b.html", body("b", BACK + '<a href="B.html">B</a>'))
        self.file("/docs/query", body("query", ""))
        self.file("/docs/B.html", body("capital", ""))
        self.file("/docs/folder", body("folder", '<a href="folder/inner">in</a>'))
        self.file(
            "/docs/folder/inner",
            body("inner", '<a href="../frame">frame</a>'),
        )
        self.file("/docs/frame", body("frame", '<img src="/img/pixel.png?v=2">'))
        self.file("/docs/manual.pdf", b"%PDF-1.4 not much of one", "application/pdf")
        self.file("/style/main.css", CSS, "text/css")
        self.file("/style/more.css", b'@font-face{src:url("../img/font.woff2")}', "text/css")
        for path in ("/img/pixel.png", "/img/small.png", "/img/lazy.png"):
            self.file(path, PIXEL, "image/png")
        self.file("/img/back.png", PIXEL + b"\0", "image/png")
        self.file("/img/font.woff2", b"wOF2 no font", "font/woff2")
        self.file("/script.js", b"document.title += '!';", "text/javascript")
        self.move("/docs/moved", "/docs/b.html")
        self.fail("/docs/missing", 404)

    def file(self, path: str, content: bytes, content_type: str | None = None) -> None:
        """Serve something from now on, with an ETag of its version."""
        self._versions += 1
        served = Served(content, (("ETag", f'"{self._versions}"'),))
        self.added[path] = served if content_type is None else _typed(served, content_type)


def _typed(served: Served, content_type: str) -> Trick:
    def serve(exchange: Exchange) -> None:
        tag = dict(served.validators)["ETag"]
        if exchange.headers.get("if-none-match") == tag:
            exchange.head(304, {"ETag": tag})
        else:
            exchange.answer(served.body, content_type, headers={"ETag": tag})

    return serve


HEAD = (
    '<base href="/docs/"><link rel="stylesheet" href="../style/main.css" integrity="sha256-x">'
    '<link rel="icon" href="/img/pixel.png"><script src="/script.js"></script>'
)
CSS = b'@import "more.css"; body { background: url(../img/back.png) } /* url(no.png) */'
START = (
    '<a href="b.html#part">b</a> <a href="query?id=1&amp;x=a%20b">query</a> <a href="moved">m</a>'
    '<a href="missing">missing</a> <a href="folder">folder</a> <a href="manual.pdf">manual</a>'
    '<a href="https://elsewhere.invalid/x?a=1&amp;b=2#y">elsewhere</a> <a href="#part">here</a>'
    '<img src="/img/pixel.png" srcset="/img/small.png 1x, /img/lazy.png 2x"><iframe src="frame">'
    '</iframe><p style="background: url(&quot;/img/back.png&quot;)" id="part">styled</p>'
)
