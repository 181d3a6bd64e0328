"""How a text becomes HTML: the site's chrome, its plain print version, lists of links."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from crawler.demo.catalogue import CHAPTERS, LONE_ARTICLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.demo.texts import Text

SITE_NAME = "The Harbour Handbook"
_COLOPHON = "Printed by the reading circle. Copy it as you like."

_STYLE = "body{max-width:40em;margin:auto;font:1.1em/1.5 serif}nav a{margin-right:1em}"


@dataclass(frozen=True)
class Anchor:
    """A link as a page shows it."""

    href: str
    label: str
    rel: str = ""

    def html(self) -> str:
        rel = f' rel="{escape(self.rel)}"' if self.rel else ""
        return f'<a href="{escape(self.href)}"{rel}>{escape(self.label)}</a>'


@dataclass(frozen=True)
class Frame:
    """What a page has around its text.

    ``head`` and ``tail`` are markup, put at the end of the head and of the main part.
    """

    language: str = "en"
    canonical: str = ""
    date: str = ""
    head: str = ""
    links: tuple[Anchor, ...] = ()
    tail: str = ""


def _navigation() -> str:
    anchors = [Anchor("/", "Home")]
    anchors += [Anchor(chapter.path, chapter.label) for chapter in CHAPTERS]
    anchors += [Anchor(f"/{folder}/{name}", label) for label, folder, name in LONE_ARTICLES]
    anchors.append(Anchor("/about", "About"))
    return "<nav>" + "".join(anchor.html() for anchor in anchors) + "</nav>"


def _head(text: Text, frame: Frame) -> str:
    parts = ['<meta charset="utf-8">', f"<title>{escape(text.title)} - {SITE_NAME}</title>"]
    if frame.date:
        parts.append('<meta name="author" content="The reading circle">')
        parts.append(f'<meta name="date" content="{frame.date}">')
    if frame.canonical:
        parts.append(f'<link rel="canonical" href="{escape(frame.canonical)}">')
    parts.append(frame.head)
    return "".join(parts)


def article(text: Text) -> str:
    """The markup of the text alone, the same in every version of a page."""
    paragraphs = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.paragraphs)
    return f"<article>\n<h1>{escape(text.title)}</h1>\n{paragraphs}\n</article>"


def link_list(anchors: Iterable[Anchor]) -> str:
    items = "\n".join(f"<li>{anchor.html()}</li>" for anchor in anchors)
    return f'<ul class="links">\n{items}\n</ul>' if items else ""


def page(text: Text, frame: Frame) -> bytes:
    """A page of the site: banner, navigation, text, links, colophon."""
    return f"""<!DOCTYPE html>
<html lang="{frame.language}">
<head>{_head(text, frame)}<style>{_STYLE}</style></head>
<body>
<header><p>{SITE_NAME}</p>{_navigation()}</header>
<main>
{article(text)}
{frame.tail}
</main>
<aside>{link_list(frame.links)}</aside>
<footer><p>{_COLOPHON}</p></footer>
</body>
</html>
""".encode()


def print_version(text: Text, frame: Frame) -> bytes:
    """The same text for the printer, without navigation and links, in other markup."""
    return f"""<!DOCTYPE html>
<html lang="{frame.language}">
<head>{_head(text, frame)}<style>@page{{margin:2cm}}</style></head>
<body class="print">
<div class="banner">{SITE_NAME}</div>
{article(text)}
<div class="colophon">{_COLOPHON}</div>
</body>
</html>
""".encode()
