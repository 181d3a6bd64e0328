"""The demo site on a loopback port, for as long as a ``with`` block lasts."""

from __future__ import annotations

import calendar
import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from crawler.demo.planted import (
    CHAPTERS,
    LONE_ARTICLES,
    MONTHS,
    Anchor,
    Chapter,
    DemoPage,
    PageFrame,
    Planted,
    document,
    language_of,
    missing,
    month_path,
    of_kind,
    page,
    print_version,
    read_text,
    redirect,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from email.message import Message

# Arguments that choose what a page shows; the site takes no notice of any other.
_MEANT = ("kind", "month", "order")

_GLOSSARY = "/find?kind=term&order=name"


def _article(folder: str, name: str, language: str, links: tuple[Anchor, ...]) -> DemoPage:
    path = f"/{folder}/{name}"
    frame = PageFrame(language=language, canonical=path, date="2024-01-06", links=links)
    return document(page(read_text(folder, name), frame))


def _chapter(chapter: Chapter) -> dict[str, DemoPage]:
    anchors = [
        Anchor(path, read_text(chapter.name, name).title)
        for path, name in zip(chapter.article_paths(), chapter.articles, strict=True)
    ]
    contents = PageFrame(language=chapter.language, canonical=chapter.path, links=tuple(anchors))
    made = {chapter.path: document(page(read_text(chapter.name, "index"), contents))}
    for place, name in enumerate(chapter.articles):
        neighbours = tuple(anchors[max(place - 1, 0) : place] + anchors[place + 1 : place + 2])
        made[anchors[place].href] = _article(chapter.name, name, chapter.language, neighbours)
    return made


def _links(planted: Iterable[Planted]) -> tuple[Anchor, ...]:
    return tuple(
        Anchor(one.path, one.path, "nofollow" if one.kind == "nofollow" else "") for one in planted
    )


def _drawers() -> dict[str, tuple[str, tuple[Anchor, ...]]]:
    """Path of each page outside the chapters, its text, its links.

    Copies hang three clicks below the articles, so that a breadth-first crawl meets the
    originals first.
    """
    copies = of_kind("exact_duplicate", "text_duplicate", "near_duplicate")
    oddments = of_kind("too_short", "not_html", "odd", "redirect_loop", "missing")
    closed = of_kind("nofollow", "disallowed", "noindex")
    cupboard = ("/cupboard/copies", "/cupboard/addresses", "/cupboard/oddments")
    return {
        "/": ("home", (Anchor("/walk", "A walk"), Anchor("/notices/spring", "Notice"))),
        "/about": (
            "about",
            (
                Anchor("/cupboard/", "The cupboard"),
                Anchor(_GLOSSARY, "Find a term"),
                Anchor(month_path(MONTHS[0]), "Tide table"),
            ),
        ),
        "/walk": ("walk", ()),
        "/notices/spring": ("notice", ()),
        _GLOSSARY: ("glossary", ()),
        "/hours": ("hours", ()),
        "/cupboard/": ("cupboard", tuple(Anchor(path, path) for path in cupboard)),
        "/cupboard/copies": ("copies", _links(copies)),
        "/cupboard/addresses": ("addresses", _links(of_kind("same_url", "redirect"))),
        "/cupboard/oddments": ("oddments", _links((*oddments, *closed))),
    }


def _for_robots(base_url: str, paths: Iterable[str]) -> dict[str, DemoPage]:
    robots = f"User-agent: *\nDisallow: /private/\n\nSitemap: {base_url}/sitemap.xml\n"
    entries = "\n".join(f"<url><loc>{base_url}{path}</loc></url>" for path in paths)
    sitemap = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{entries}
</urlset>
"""
    return {
        "/robots.txt": document(robots.encode(), "text/plain; charset=utf-8"),
        "/sitemap.xml": document(sitemap.encode(), "application/xml"),
    }


def pages(base_url: str) -> dict[str, DemoPage]:
    """Make every page of the site, keyed by path and, where it matters, sorted query.

    Args:
        base_url: The URL of the site, without the final slash; only robots.txt and the
            sitemap name it, all other links are relative to the root.
    """
    made: dict[str, DemoPage] = {}
    for chapter in CHAPTERS:
        made |= _chapter(chapter)
    for _, folder, name in LONE_ARTICLES:
        made[f"/{folder}/{name}"] = _article(folder, name, folder, ())
    listed = ["/", *made, "/appendix"]
    for path, (name, links) in _drawers().items():
        frame = PageFrame(canonical=path, links=links)
        made[path] = document(page(read_text("odd", name), frame))
    return made | oddities(made) | _for_robots(base_url, listed)


def lookup(site: Mapping[str, DemoPage], target: str) -> DemoPage:
    """Return the answer to a request target, read as lazy sites read it.

    Tracking parameters, session ids and the order of arguments change nothing.
    """
    address = urlsplit(target)
    meant = sorted(pair for pair in parse_qsl(address.query) if pair[0] in _MEANT)
    path = f"{address.path}?{urlencode(meant)}" if meant else address.path
    return site.get(path) or missing(path)


def _is_current(page: DemoPage, asked: Message) -> bool:
    """Whether the client's copy is still good (RFC 9110, section 13.2.2)."""
    if page.status != HTTPStatus.OK:
        return False
    tags = asked.get("If-None-Match")
    if tags is not None:
        return page.headers["ETag"] in [tag.strip() for tag in tags.split(",")]
    since = asked.get("If-Modified-Since")
    if since is None:
        return False
    try:
        return parsedate_to_datetime(page.headers["Last-Modified"]) <= parsedate_to_datetime(since)
    except (ValueError, TypeError):  # TypeError: a date without a zone cannot be compared
        return False  # a date that cannot be read is to be ignored


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "HarbourHandbook"
    sys_version = ""
    timeout = 30  # seconds an idle connection is kept
    # Head and body in one segment; else Nagle and delayed ACKs cost 40 ms a page.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        self.server.note(self.path)
        page = lookup(self.server.site, self.path)
        current = _is_current(page, self.headers)
        self.send_response(HTTPStatus.NOT_MODIFIED if current else page.status)
        for name, value in page.headers.items():
            self.send_header(name, value)
        if not current:
            self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        if with_body and not current:
            self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the terminal belongs to the crawl."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.site = pages(self.url)
        self._targets: list[str] = []
        self._lock = Lock()

    def note(self, target: str) -> None:
        with self._lock:
            self._targets.append(target)

    def targets(self) -> list[str]:
        with self._lock:
            return list(self._targets)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that leaves in the middle is no concern of the demo."""


class DemoServer:
    """Serves the demo site from a thread.

    ``with DemoServer() as server: crawl(server.url)``
    """

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The URL of the site, with the final slash."""
        return f"{self._server.url}/"

    @property
    def requests(self) -> list[str]:
        """The targets (path and query) asked for so far, in order."""
        return self._server.targets()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


_EPOCH = datetime(2024, 1, 1, 3, 12, tzinfo=UTC)
_BETWEEN_HIGH_WATERS = timedelta(hours=12, minutes=25, seconds=14)
_SPRING_TO_SPRING_DAYS = 14.765  # half a synodic month

# The passage of a text that each of its later editions alters.
EDITIONS = {
    "/notices/autumn": ("odd", "notice", "14 March", "12 November"),
    "/notices/summer": ("odd", "notice", "14 March", "11 June"),
    "/drafts/harbourmaster": ("harbour", "harbourmaster", "forty feet", "sixty feet"),
    "/drafts/walk": ("odd", "walk", "the eleven steps", "the steps"),
}

NEST_DEPTH = 10_000

# Enough of a PDF for readers that look at the first bytes.
_PLAN = (
    b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<<>>\n%%EOF\n"
)


def following(month: str) -> str | None:
    """Return the next month; None for the last of the calendar."""
    place = MONTHS.index(month) + 1
    return MONTHS[place] if place < len(MONTHS) else None


def _height_metres(when: datetime) -> float:
    days = (when - _EPOCH) / timedelta(days=1)
    wind = math.sin(days * 1.7) * 0.17
    return 4.1 + 0.9 * math.cos(2 * math.pi * days / _SPRING_TO_SPRING_DAYS) + wind


def _high_waters(day: datetime) -> list[datetime]:
    count = math.ceil((day - _EPOCH) / _BETWEEN_HIGH_WATERS)
    tides = [_EPOCH + (count + step) * _BETWEEN_HIGH_WATERS for step in range(3)]
    return [tide for tide in tides if day <= tide < day + timedelta(days=1)]


def tide_table(month: str) -> str:
    """Return the markup of a month's table: the day, then each high water with its height."""
    year, number = (int(part) for part in month.split("-"))
    rows = []
    for day_of_month in range(1, calendar.monthrange(year, number)[1] + 1):
        day = datetime(year, number, day_of_month, tzinfo=UTC)
        tides = [f"{tide:%H:%M} {_height_metres(tide):.2f}" for tide in _high_waters(day)]
        cells = "".join(f"<td>{cell}</td>" for cell in [f"{day:%A} {day_of_month}", *tides])
        rows.append(f"<tr>{cells}</tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def _copies(pages: Mapping[str, DemoPage]) -> dict[str, DemoPage]:
    return {planted.path: pages[planted.of] for planted in of_kind("exact_duplicate")}


def _print_versions() -> dict[str, DemoPage]:
    made = {}
    for planted in of_kind("text_duplicate"):
        _, folder, name = planted.of.split("/")
        frame = PageFrame(language=language_of(folder), canonical=planted.of)
        made[planted.path] = document(print_version(read_text(folder, name), frame))
    return made


def _editions() -> dict[str, DemoPage]:
    return {
        path: document(page(read_text(folder, name).edited(old, new), PageFrame(canonical=path)))
        for path, (folder, name, old, new) in EDITIONS.items()
    }


def _calendar() -> dict[str, DemoPage]:
    made = {}
    for month in MONTHS:
        after = following(month)
        links = (Anchor(month_path(after), "The month after"),) if after else ()
        frame = PageFrame(links=links, tail=tide_table(month))
        made[month_path(month)] = document(page(read_text("odd", "almanac"), frame))
    return made


def _damaged() -> dict[str, DemoPage]:
    nest = "<div>" * NEST_DEPTH + "a dried pea" + "</div>" * NEST_DEPTH
    mislabelled = page(read_text("odd", "phare-latin"), PageFrame(language="fr"))
    return {
        "/nest": document(page(read_text("odd", "nested"), PageFrame(tail=nest))),
        # Every byte of it is UTF-8; only the label outside says otherwise.
        "/fr/phare-mal-etiquete": document(mislabelled, "text/html; charset=us-ascii"),
        "/envelope": document(b""),
        "/files/harbour-plan": document(_PLAN, "application/pdf"),
    }


def _guarded() -> dict[str, DemoPage]:
    keep_out = PageFrame(head='<meta name="robots" content="noindex">')
    return {
        "/staff/minutes": document(page(read_text("odd", "noindex"), keep_out)),
        "/staff/rota": document(page(read_text("odd", "rota"), PageFrame())),
        "/private/cellar": document(page(read_text("odd", "cellar"), PageFrame())),
        "/appendix": document(page(read_text("odd", "appendix"), PageFrame())),
    }


def _redirects() -> dict[str, DemoPage]:
    moved = {planted.path: redirect(planted.of) for planted in of_kind("redirect")}
    loop = [planted.path for planted in of_kind("redirect_loop")]
    onward = zip(loop, [*loop[1:], loop[0]], strict=True)
    return moved | {path: redirect(target) for path, target in onward}


def oddities(pages: Mapping[str, DemoPage]) -> dict[str, DemoPage]:
    """Return all planted things that have a page, by path; ``pages`` are the plain ones."""
    made = _copies(pages) | _print_versions() | _editions()
    return made | _calendar() | _damaged() | _guarded() | _redirects()
