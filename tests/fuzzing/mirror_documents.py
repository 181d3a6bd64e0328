"""Documents of a mirrored site: links of HTML, style sheets, scripts and XML, and their patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.mirror.documents.linked_document import (
    DocumentLink,
    absolute_address,
    read_document,
)
from crawler.mirror.documents.places import PatchError, undo
from crawler.mirror.downloads import may_go_to_disk
from tests.crawler.reading.documents.test_feeds import ATOM, RSS
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzzing.target import Read

_KINDS = (
    ("http://h.example/a/page.html", "text/html; charset=utf-8"),
    ("http://h.example/a/page.html", "text/html; charset=gb18030"),
    ("http://h.example/a/page.html", "text/html; charset=utf-16"),
    ("http://h.example/a/style.css", "text/css"),
    ("http://h.example/a/script.js", "text/javascript"),
    ("http://h.example/searchindex.js", "text/javascript"),
    ("http://h.example/feed.xml", "application/atom+xml"),
    ("http://h.example/picture.svg", "image/svg+xml"),
    ("http://h.example/x", None),
)
_HTML = (
    '<!DOCTYPE html><base href="/b/"><meta http-equiv=refresh content="0; url=next">'
    "<meta name=robots content=nofollow><link rel=stylesheet href=a.css integrity=x>"
    '<img srcset="a 1x, b 2x" data-src=\'c&amp;d\' style="background:url(e.png)"><svg><a '
    'xlink:href="#f"/></svg><iframe srcdoc="<a href=&quot;g&quot;>"></iframe>'
    '<script type=importmap>{"imports": {"a": "./m.js"}}</script><script>import(\'./n.js\')'
    '</script><style>@import "o.css";</style><object data=p><param name=movie value=q.swf>'
)
_CSS = '@charset "utf-8"; @import url("a.css"); b { background: url(c\\64.png), url( \'d\' ) }'
_SCRIPT = (
    "import a from './a.js'; export * from \"/b.js\"; fetch('c.json'); new URL('d.png', "
    'import.meta.url); Search.setIndex({"docnames": ["e", "f"]}); var NAVTREEINDEX = ["g.html"];'
)


def _seeds() -> list[bytes]:
    bodies = {
        0: _HTML.encode(),
        1: _HTML.encode("gb18030"),
        2: _HTML.encode("utf-16"),
        3: _CSS.encode(),
        4: _SCRIPT.encode(),
        5: _SCRIPT.encode(),
        6: ATOM.encode(),
        7: b"<svg xmlns='http://www.w3.org/2000/svg'><style>a{fill:url(b)}</style><a href='c'/>",
        8: RSS.format("utf-8").encode(),
    }
    return [bytes([number]) + body for number, body in bodies.items()]


def _moved(link: DocumentLink) -> str | None:
    """Return another address for every second link."""
    return "moved/%20x.html#f" if len(link.written) % 2 else absolute_address(link)


def _begin(_: Path) -> Read:
    def read(data: bytes) -> None:
        url, content_type = _KINDS[(data[:1] or b"\0")[0] % len(_KINDS)]
        body = data[1:]
        may_go_to_disk(body[:1024], url, content_type)
        document = read_document(body, url, content_type)
        if document is None:
            return
        document.held_bytes()
        for change in (_moved, lambda link: None):
            rewritten = document.rewrite(change, "/c/" if document.keeps_base else None)
            assert undo(rewritten.body, rewritten.patch) == body

    return read


def _begin_patches(_: Path) -> Read:
    """Undo a patch of a directory that others may have changed."""
    body = _HTML.encode()
    return lambda data: undo(body, data)


def _patches() -> list[bytes]:
    document = read_document(_HTML.encode(), *_KINDS[0])
    assert document is not None
    return [document.rewrite(_moved).patch, document.rewrite(lambda link: None).patch]


TARGETS = (
    together(
        "mirror-documents",
        Target("documents", _seeds, _begin),
        Target("patches", _patches, _begin_patches, (PatchError,), 4096),
    ),
)
