"""The pages of the demo site: its chapters, its planted things, and how texts become HTML."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MONTHS = tuple(f"2024-{month:02}" for month in range(1, 7))

SESSION_IDS = ("9f0c1d7be2a84c5f8d36e1b07a94c2d5", "03ab5e86c1f74d29b8e05d7f6a1c9e42")


@dataclass(frozen=True)
class Chapter:
    """A folder of articles; the site serves it under the same name."""

    name: str
    label: str
    language: str
    articles: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"/{self.name}/"

    def article_paths(self) -> tuple[str, ...]:
        return tuple(f"/{self.name}/{article}" for article in self.articles)


CHAPTERS = (
    Chapter(
        "harbour",
        "Harbours",
        "en",
        ("quay", "breakwater", "dock", "dredging", "slipway", "harbourmaster", "customs-house"),
    ),
    Chapter(
        "ropes",
        "Ropes",
        "en",
        ("ropewalk", "bowline", "reef-knot", "sheet-bend", "splice", "whipping", "coiling"),
    ),
    Chapter(
        "lights",
        "Lights",
        "en",
        ("lighthouse", "lens", "lightship", "buoyage", "fog-signal", "leading-lights"),
    ),
    Chapter(
        "weather",
        "Weather",
        "en",
        ("barometer", "sea-fog", "wind-scale", "tides", "swell", "clouds", "sea-breeze"),
    ),
    Chapter(
        "boats",
        "Boats",
        "en",
        ("dinghy", "lugger", "keel", "rudder", "sails", "ballast", "caulking"),
    ),
    Chapter(
        "pilotage",
        "Finding the way",
        "en",
        ("chart", "compass", "log-line", "sextant", "soundings", "dead-reckoning", "logbook"),
    ),
    Chapter("fr", "Français", "fr", ("maree-basse", "cafe-du-port", "gardien")),
)

# Languages with a single page have no chapter: (label, folder, article).
LONE_ARTICLES = (("中文", "zh", "dengta"), ("日本語", "ja", "minato"))


def language_of(folder: str) -> str:
    """Return the language of a folder's texts, English where no chapter says otherwise."""
    lone = {name for _, name, _ in LONE_ARTICLES}
    chapters = {chapter.name: chapter.language for chapter in CHAPTERS}
    return folder if folder in lone else chapters.get(folder, "en")


def month_path(month: str) -> str:
    return f"/tides?month={month}"


@dataclass(frozen=True)
class Planted:
    """A hidden thing.

    Attributes:
        kind: What a crawl ought to make of it, mostly the name of a verdict. ``same_url`` is
            another spelling of a URL, ``odd`` damaged or mislabelled and yet a page to keep,
            ``calendar`` a month of a calendar that goes on, ``sitemap_only`` linked from nowhere.
        path: Its path with the query, as the site links to it.
        of: The path of the page that it repeats or leads to, where there is one.
    """

    kind: str
    path: str
    of: str = ""


PLANTED = (
    Planted("same_url", "/ropes/bowline?utm_source=newsletter&utm_medium=email", "/ropes/bowline"),
    Planted("same_url", "/lights/lens?utm_campaign=spring", "/lights/lens"),
    Planted("same_url", "/weather/tides?gclid=Cj0KCQiA5NSdBhDfARIsALzs2EC", "/weather/tides"),
    Planted("same_url", f"/boats/keel?PHPSESSID={SESSION_IDS[0]}", "/boats/keel"),
    Planted("same_url", f"/pilotage/chart?PHPSESSID={SESSION_IDS[1]}", "/pilotage/chart"),
    Planted("same_url", "/find?order=name&kind=term", "/find?kind=term&order=name"),
    Planted("exact_duplicate", "/mirror/ropes/splice", "/ropes/splice"),
    Planted("exact_duplicate", "/mirror/lights/buoyage", "/lights/buoyage"),
    Planted("exact_duplicate", "/mirror/weather/clouds", "/weather/clouds"),
    Planted("exact_duplicate", "/mirror/fr/gardien", "/fr/gardien"),
    Planted("text_duplicate", "/print/harbour/quay", "/harbour/quay"),
    Planted("text_duplicate", "/print/boats/sails", "/boats/sails"),
    Planted("text_duplicate", "/print/pilotage/sextant", "/pilotage/sextant"),
    Planted("text_duplicate", "/print/ja/minato", "/ja/minato"),
    Planted("near_duplicate", "/notices/autumn", "/notices/spring"),
    Planted("near_duplicate", "/notices/summer", "/notices/spring"),
    Planted("near_duplicate", "/drafts/harbourmaster", "/harbour/harbourmaster"),
    Planted("near_duplicate", "/drafts/walk", "/walk"),
    Planted("too_short", "/hours"),
    Planted("too_short", "/envelope"),
    Planted("not_html", "/files/harbour-plan"),
    Planted("odd", "/fr/phare-mal-etiquete"),
    Planted("odd", "/nest"),
    *(Planted("calendar", month_path(month)) for month in MONTHS),
    Planted("redirect", "/old/bowline", "/ropes/bowline"),
    Planted("redirect_loop", "/round/about"),
    Planted("redirect_loop", "/round/again"),
    Planted("missing", "/lost"),
    Planted("nofollow", "/staff/rota"),
    Planted("disallowed", "/private/cellar"),
    Planted("noindex", "/staff/minutes"),
    Planted("sitemap_only", "/appendix"),
)

EXPECTED: Mapping[str, int] = Counter(planted.kind for planted in PLANTED)
"""The number of planted things of each kind."""

DUPLICATE_KINDS = ("exact_duplicate", "text_duplicate", "near_duplicate")

DUPLICATES: Mapping[str, str] = {
    planted.path: planted.of for planted in PLANTED if planted.kind in DUPLICATE_KINDS
}
"""Each path that repeats another page, and that page's path."""


def of_kind(*kinds: str) -> tuple[Planted, ...]:
    """Return the planted things of some kinds, in the order of the table."""
    return tuple(planted for planted in PLANTED if planted.kind in kinds)


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
