"""The tricks by path. A trick is a function that takes an exchange and plays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.tricks import bodies, connections, manners, pages, redirects, sitemaps

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

TRICKS: dict[str, Callable[[Exchange], None]] = {
    **bodies.TRICKS,
    **connections.TRICKS,
    **manners.TRICKS,
    **pages.TRICKS,
    **redirects.TRICKS,
    **sitemaps.TRICKS,
}


def numbered_trick(path: str) -> Callable[[Exchange], None] | None:
    """The trick of a path below a family of pages, such as /plain/7, None for any other."""
    folder, _, number = path.rpartition("/")
    if folder in pages.FAMILIES and number.isdecimal():
        return pages.FAMILIES[folder]
    return None
