"""Turn texts into HTML: the site's chrome, its plain print version, lists of links."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from crawler.demo.planted import CHAPTERS, LONE_ARTICLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HTML = "text/html; charset=utf-8"

_FIRST_EDITION = datetime(2024, 1, 6, 9, 30, tzinfo=UTC)
_YEAR_MINUTES = 366 * 24 * 60

SITE_NAME = "The Harbour Handbook"
_COLOPHON = "Printed by the reading circle. Copy it as you like."

_STYLE = "body{max-width:40em;margin:auto;font:1.1em/1.5 serif}nav a{margin-right:1em}"


@dataclass(frozen=True)
class DemoPage:
    """Status, headers and body; the length is the server's to add."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


def document(body: bytes, content_type: str = HTML) -> DemoPage:
    """Return a page with validators made from its bytes, so that equal bytes have equal ones."""
    digest = hashlib.blake2b(body, digest_size=8)
    age = timedelta(minutes=int.from_bytes(digest.digest()) % _YEAR_MINUTES)
    return DemoPage(
        body,
        {
            "Content-Type": content_type,
            "ETag": f'"{digest.hexdigest()}"',
            "Last-Modified": format_datetime(_FIRST_EDITION + age, usegmt=True),
        },
    )


def redirect(location: str) -> DemoPage:
    return DemoPage(b"", {"Content-Type": HTML, "Location": location}, 301)


def missing(path: str) -> DemoPage:
    """Return the answer for a path that the site does not have."""
    text = f"<!DOCTYPE html><title>Not found</title><p>Nothing is kept at {escape(path)}.</p>"
    return DemoPage(text.encode(), {"Content-Type": HTML}, 404)


@dataclass(frozen=True)
class Text:
    """A title and the paragraphs under it, as plain text."""

    title: str
    paragraphs: tuple[str, ...]

    def edited(self, old: str, new: str) -> Text:
        """Return the same text with one passage replaced.

        Raises:
            ValueError: The passage does not stand in the text exactly once.
        """
        found = sum(paragraph.count(old) for paragraph in self.paragraphs)
        if found != 1:
            raise ValueError(f"{self.title}: {old!r} stands there {found} times, wanted once")
        return replace(self, paragraphs=tuple(p.replace(old, new) for p in self.paragraphs))


@cache
def read_text(folder: str, name: str) -> Text:
    """Read one text of the package.

    The first line is the title; an empty line parts paragraphs, whose line ends are spaces.
    """
    source = resources.files(__package__).joinpath("texts", folder, f"{name}.txt")
    title, *blocks = source.read_text(encoding="utf-8").split("\n\n")
    return Text(title.strip(), tuple(" ".join(block.split()) for block in blocks))


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
class PageFrame:
    """The parts of a page around its text.

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


def _head(text: Text, frame: PageFrame) -> str:
    parts = ['<meta charset="utf-8">', f"<title>{escape(text.title)} - {SITE_NAME}</title>"]
    if frame.date:
        parts.append('<meta name="author" content="The reading circle">')
        parts.append(f'<meta name="date" content="{frame.date}">')
    if frame.canonical:
        parts.append(f'<link rel="canonical" href="{escape(frame.canonical)}">')
    parts.append(frame.head)
    return "".join(parts)


def article(text: Text) -> str:
    """Return the markup of the text alone, the same in every version of a page."""
    paragraphs = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in text.paragraphs)
    return f"<article>\n<h1>{escape(text.title)}</h1>\n{paragraphs}\n</article>"


def link_list(anchors: Iterable[Anchor]) -> str:
    items = "\n".join(f"<li>{anchor.html()}</li>" for anchor in anchors)
    return f'<ul class="links">\n{items}\n</ul>' if items else ""


def page(text: Text, frame: PageFrame) -> bytes:
    """Return a page of the site: banner, navigation, text, links, colophon."""
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


def print_version(text: Text, frame: PageFrame) -> bytes:
    """Return the same text for the printer, without navigation and links, in other markup."""
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
