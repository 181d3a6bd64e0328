"""What a dynamic site has and how it spells its links; everything beyond the shop is off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Options:
    """Which parts a site has, how large they are, and which aliases its links take.

    With the same options a site serves the same texts, and the same links but for session ids.

    Attributes:
        seed: Chooses the texts and, for each pair of pages, how the link is spelt.
        parts: Names in ``parts.PARTS``; each is linked from the home page.
        boards: Boards of the shop.
        articles: Articles of each board; ``page_size`` of them on one listing page.
        authors: Pages of authors in the shop.
        size: How many pages each of the other parts has, roughly; each says what it makes of it.
        session: Where each link carries a new session id.
        session_name: Of the argument, or of the segment before the id.
        refs: Links name where they stand, ``ref=board-3``.
        zero_starts: The first page of a listing is linked as ``start=0`` too.
        sorts: Listings are linked in other orders, of the same entries.
        prints: Each article is linked as ``/print?id=N`` too.
        folders: Folders are linked as ``/x/``, ``/x`` and ``/x/index.html``.
        cases: Paths are linked, and found, in any case.
        hosts: Links name 127.0.0.1 or localhost.
        shuffled: Arguments in any order.
        separators: Between arguments; more than one: any of them.
        repeated: Arguments stand twice; the last one counts.
        valueless: Links carry an argument without value.
        escaped_twice: Values are percent-encoded, once or twice.
        canonical: What pages of the shop declare: themselves, always the home page, or each other.
        soft_errors: What does not exist has the status 200.
    """

    seed: int = 1
    parts: tuple[str, ...] = ("shop",)
    boards: int = 20
    articles: int = 50
    page_size: int = 5
    authors: int = 19
    size: int = 200
    session: Literal["", "query", "path"] = ""
    session_name: str = "sid"
    refs: bool = False
    zero_starts: bool = False
    sorts: bool = False
    prints: bool = False
    folders: bool = False
    cases: bool = False
    hosts: bool = False
    shuffled: bool = False
    separators: tuple[str, ...] = ("&",)
    repeated: bool = False
    valueless: bool = False
    escaped_twice: bool = False
    canonical: Literal["", "right", "home", "loop"] = ""
    soft_errors: bool = False


CLUTTERED = Options(session="query", refs=True, zero_starts=True, sorts=True, prints=True)
"""1,220 contents; the URLs of each cannot be counted."""

RULED = Options(boards=2, articles=20, authors=3, size=60, refs=True)
"""A site whose pages have URLs that differ in where a link to them was."""
