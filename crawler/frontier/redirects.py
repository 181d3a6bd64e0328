"""Store the target of each redirect, and find redirects in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.storage.database import Database


class Redirects:
    """Every redirect that was met, one for each source.

    Two pages that redirect to one another are each filtered as seen
    when the other leads to them; only here it shows that neither is a page.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, source: bytes, source_url: str, target: bytes) -> None:
        """Remember a redirect; both are request fingerprints."""
        self._database.write(
            "INSERT OR REPLACE INTO redirects VALUES (?, ?, ?)", (source, source_url, target)
        )

    def target(self, source: bytes) -> bytes | None:
        """Return the last target of a redirect; None where the source was never redirected."""
        row = self._database.read(
            "SELECT target FROM redirects WHERE key = ?", (source,)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def circle(self, start: bytes) -> list[str]:
        """Return the URLs of the circle that a source is part of, empty where it is in none.

        Complexity: O(length of the chain).
        """
        urls: list[str] = []
        passed: set[bytes] = set()
        key = start
        while key not in passed:
            passed.add(key)
            row = self._database.read(
                "SELECT url, target FROM redirects WHERE key = ?", (key,)
            ).fetchone()
            if row is None:
                return []
            urls.append(str(row[0]))
            key = bytes(row[1])
        return urls if key == start else []

    def target_url(self, source: bytes) -> str | None:
        """Return the URL that a source led to in this visit; None where that is not known."""
        row = self._database.read(
            "SELECT requests.url FROM redirects JOIN requests ON requests.key = target"
            " WHERE redirects.key = ? AND requests.url != ''",
            (source,),
        ).fetchone()
        return None if row is None else str(row[0])

    def clear(self) -> None:
        """Remove every redirect, for another visit."""
        self._database.empty("redirects")
