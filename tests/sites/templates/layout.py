"""What pages of templates have in common: a head, a frame, and what changes at every showing."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tests.sites.templates.wording import made_name, sentences

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from tests.sites.templates.copies import Showing

TITLES: Mapping[str, Callable[[str, str], str]] = {
    "name first": lambda name, site: f"{name} | {site}",
    "site first": lambda name, site: f"{site} - {name}",
    "in a sentence": lambda name, site: f"Buy {name} online at {site}",
    "with a colon": lambda name, site: f"{site}: {name}",
    "with a dash": lambda name, site: f"{name} \N{EN DASH} {site}",
    "name alone": lambda name, _: name,
    "site alone": lambda _, site: site,
    "three parts": lambda name, site: f"{name} \N{MIDDLE DOT} All offers \N{MIDDLE DOT} {site}",
}
"""Titles of a page from the name of the thing and that of the site."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A site's frame around its pages.

    Attributes:
        site: Name of the site.
        host: Its host.
        title: One of ``TITLES``.
        header: Words above each page.
        footer: Words below each page.
        printed: Words above and below each page in the view for printing.
        holder: Element that holds what the page is about.
        other_pages: Links at each page.
    """

    site: str
    host: str
    title: str
    header: str
    footer: str
    printed: str
    holder: str
    other_pages: Sequence[str]


def made_frame(source: random.Random, title: str, trade: str) -> Frame:
    """Return a site's frame, drawn but for the form of its titles."""
    site = f"{made_name(source, 3)} {trade}"
    return Frame(
        site=site,
        host=f"{site.replace(' ', '').lower()}.example",
        title=title,
        header=sentences(source, source.choice([5, 15, 30])),
        footer=sentences(source, source.choice([5, 20, 40])),
        printed=sentences(source, 6),
        holder=source.choice(["main", "article", "div", "section"]),
        other_pages=[made_name(source, 3) for _ in range(source.randint(4, 15))],
    )


def titled(frame: Frame, name: str, showing: Showing) -> str:
    """Return the title of a page."""
    site = f"{frame.site} v{showing.release} Manual" if showing.release else frame.site
    title = TITLES[frame.title](name, site)
    if showing.title_clock:
        title = f"{title} | {showing.title_clock}"
    return f"({showing.waiting} new) {title}" if showing.waiting else title


def page(frame: Frame, name: str, showing: Showing, head: str, content: str) -> bytes:
    """Return a page as HTML.

    Args:
        frame: The frame of the site.
        name: Name of the thing that the page is about, for the title.
        showing: How it is shown.
        head: Elements of the head besides the title.
        content: What the page is about, as HTML.
    """
    above = below = f"<p>{frame.printed}</p>"
    if not showing.prints:
        links = "".join(_link(each, showing) for each in frame.other_pages)
        above = f"<header><nav><ul>{links}</ul></nav><p>{frame.header}</p></header>"
        below = f"<aside><p>{showing.advertisement}</p></aside><footer>{frame.footer}</footer>"
    hidden = f'<input type="hidden" name="session" value="{showing.session}">'
    moment = f"<p>Page made at {showing.clock}</p>" if showing.clock else ""
    visitors = f"<p>{showing.visitors:,} visitors so far</p>" if showing.visitors else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(titled(frame, name, showing))}</title>{head}</head>\n<body>{above}\n"
        f"<{frame.holder}>{content}</{frame.holder}>\n"
        f"{hidden if showing.session else ''}{moment}{visitors}{below}</body></html>\n"
    ).encode()


def _link(name: str, showing: Showing) -> str:
    session = f";session={showing.session}" if showing.session else ""
    return f'<li><a href="/{name.lower()}{session}">{name}</a></li>'
