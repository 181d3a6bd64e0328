"""Find the page that a URL leads to, by the fixed rules that hold on its host."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.storage import meta_names
from crawler.url_rules.variants import first_url, separate_keys, separate_of, tried_rules
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable


class PageKeys:
    """Returns the key of the page that a URL leads to.

    The canonicalizer knows which URLs proved to be pages of their own. A URL that was not
    requested may stand for one of these: where the order of arguments matters and a tracking name
    does not, ``?b=1&a=2&utm_source=x`` leads to ``?b=1&a=2``, and not to ``?a=2&b=1``.

    Args:
        read: Function that runs a query, of the crawl's ``Database`` or of a connection.
        canonicalizer: Canonicalizer of the crawl; None: that with which its keys were made.

    Attributes:
        canonicalizer: Canonicalizer of the crawl's URLs.
    """

    def __init__(
        self,
        read: Callable[..., sqlite3.Cursor],
        canonicalizer: Canonicalizer | None = None,
    ) -> None:
        self._read = read
        self.canonicalizer = canonicalizer or _canonicalizer_of(read)
        self.canonicalizer.separate(separate_keys(read))
        self._revoked: dict[str, set[str]] = {}
        for rule in tried_rules(read):
            if rule.reason is not None:
                self._revoked.setdefault(rule.host, set()).add(rule.name)

    def __call__(self, url: str) -> bytes:
        """Return the key of a URL's page.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        key = self.canonicalizer.key(url)
        if not self._revoked or self.canonicalizer.is_separate(key):
            return key
        revoked = self._revoked.get(urlsplit(self.canonicalizer.exact(url)).netloc)
        if revoked is None:
            return key
        first = first_url(self._read, key) or self.canonicalizer.without(())(url)
        without = self.canonicalizer.without(revoked)
        found = standing_for(url, without, [(key, first), *separate_of(self._read, key)])
        return key if found is None else found[0]


def standing_for(
    url: str, without: Canonicalizer, requested: Iterable[tuple[bytes, str]]
) -> tuple[bytes, str] | None:
    """Return key and URL of the request whose page a URL leads to, or None.

    Args:
        url: The URL.
        without: Canonicalizer without the rules that do not hold on its host.
        requested: Keys and URLs of the requests for pages that the fixed rules take for its page.
    """
    wanted = without(url)
    return next(((key, other) for key, other in requested if without(other) == wanted), None)


def _canonicalizer_of(read: Callable[..., sqlite3.Cursor]) -> Canonicalizer:
    sql = "SELECT value FROM meta WHERE name = ?"
    row = read(sql, (meta_names.URL_RULES,)).fetchone()
    return (None if row is None else Canonicalizer.of_version(row[0])) or Canonicalizer()
