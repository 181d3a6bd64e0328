"""What a program of the site answers, and how it becomes HTML."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.sites.dynamic.addresses import Address


@dataclass(frozen=True)
class Link:
    """A link; ``to`` is an address of the site, or a reference to be written as it is."""

    to: Address | str
    label: str


@dataclass(frozen=True)
class Page:
    """One answer.

    Attributes:
        content: Name of what the page says; pages with one name say the same.
        paragraphs: The text under the title.
        links: Beside the text; none of them on a page to be printed.
        canonical: What rel=canonical says, if anything.
        is_bare: A page to be printed, without navigation.
        markup: HTML at the end of the main part.
    """

    content: str
    title: str
    paragraphs: tuple[str, ...]
    links: tuple[Link, ...] = ()
    canonical: str = ""
    is_bare: bool = False
    markup: str = ""
    status: int = 200


class Part(Protocol):
    """One of the programs that make up a site."""

    def entries(self) -> Iterable[Address]:
        """The pages that the home page links to."""

    def truth(self) -> Iterable[str]:
        """Names of all contents that are stable and worth to be found, each linked somehow."""

    def answer(self, address: Address) -> Page | None:
        """The page at an address, None where there is none."""


def rendered(page: Page, href: Callable[[Address | str], str]) -> bytes:
    """The page as HTML; ``href`` writes the references."""
    canonical = f'<link rel="canonical" href="{escape(page.canonical)}">' if page.canonical else ""
    items = "\n".join(
        f'<li><a href="{escape(href(link.to))}">{escape(link.label)}</a></li>'
        for link in page.links
    )
    text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in page.paragraphs)
    navigation = "" if page.is_bare else f"<nav><ul>\n{items}\n</ul></nav>\n"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(page.title)}</title>{canonical}</head>\n<body>{navigation}"
        f"<main><article><h1>{escape(page.title)}</h1>\n{text}\n{page.markup}</article></main>"
        f"</body></html>\n"
    ).encode()
