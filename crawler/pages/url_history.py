"""Store the outcome of each URL at its last visit, and the time at which it is due."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages.reasons import Reason, codes
from crawler.pages.verdicts import (
    AWAY,
    CHANGED,
    FAILED,
    FORBIDDEN,
    GONE,
    NEW,
    NOINDEX,
    NOT_HTML,
    READ,
    UNCHANGED,
    WALLS,
    WITHOUT_PAGE,
    listed,
)
from crawler.storage.states import HASH_BYTES, PAGE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from crawler.pages.page_row import PageRow, Read
    from crawler.pages.reasons import Stored
    from crawler.storage.database import Database

_HOUR_SECS = 3600.0
_DAY_SECS = 24 * _HOUR_SECS

_GONE_STATUSES = frozenset({404, 410})

_KEYS_AND_DEPTHS = (
    "SELECT key, coalesce("
    "(SELECT depth FROM pages WHERE pages.key = known.key AND latest = 1), 0) AS depth FROM known"
)
# A missing page is no failure.
_FAILED = "outcome = 'failed'"

_VALUES = "INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"

LATER = f"{_KEYS_AND_DEPTHS} WHERE due_at > ?"
"""Query for the keys and depths of URLs that are not due at a moment, in seconds since 1970."""

SETTLED = f"{_KEYS_AND_DEPTHS} WHERE NOT {_FAILED}"
"""Query for the keys and depths of URLs that have not failed."""


@dataclass(frozen=True, slots=True)
class IntervalPolicy:
    """The rule by which the time between two visits of a page follows its changes.

    The rule of Apache Nutch's ``AdaptiveFetchSchedule``: multiply by a factor below one after a
    change and by one above it without a change. There a change is any other digest; here a
    near-equal text is none. The interval comes to rest where the chance of a change at a visit is
    ``log(1 + longer) / (log(1 + longer) - log(1 - shorter))``: 0.49 with the defaults, so that
    about every other visit finds a change.

    Attributes:
        first_secs: Interval of a page that was just found.
        min_secs: Minimum interval.
        max_secs: Maximum interval.
        shorter: Fraction of the interval that a change takes away, 0 to 1.
        longer: Fraction of the interval that is added without a change.

    Raises:
        ValueError: The values contradict one another.
    """

    first_secs: float = 7 * _DAY_SECS
    min_secs: float = _HOUR_SECS
    max_secs: float = 90 * _DAY_SECS
    shorter: float = 0.3
    longer: float = 0.4

    def __post_init__(self) -> None:
        if not 0 <= self.min_secs <= self.max_secs:
            raise ValueError(
                "the shortest interval must not be longer than the longest, "
                f"got {self.min_secs} and {self.max_secs} seconds"
            )
        if not 0 <= self.shorter < 1:
            raise ValueError(f"shorter must be at least 0 and below 1, got {self.shorter}")
        if not 0 <= self.longer < math.inf:
            raise ValueError(f"longer must be finite and at least 0, got {self.longer}")

    def first(self) -> float:
        return self.bounded(self.first_secs)

    def after(self, interval_secs: float, *, changed: bool) -> float:
        return self.bounded(interval_secs * self._factor(changed=changed))

    def before(self, interval_secs: float, *, changed: bool) -> float:
        """Return the interval before one, in seconds; too short if a bound cut that one off."""
        return interval_secs / self._factor(changed=changed)

    def _factor(self, *, changed: bool) -> float:
        return 1 - self.shorter if changed else 1 + self.longer

    def bounded(self, secs: float) -> float:
        return min(max(secs, self.min_secs), self.max_secs)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a URL in a visit.

    Attributes:
        kind: One of ``OUTCOMES``.
        reason: Reason for a missing page, or a remark.
        moved_to: Target of a redirect.
        distance: Hamming distance of a changed page to its last version in bits; None if one of
            both has no fingerprint.
        similarity: Similarity of a changed page to its last version; None if that text is gone.
        is_near: Whether a change is so small that it counts as none.
        not_sent: Whether the server said that the page is unchanged, and sent nothing.
    """

    kind: str
    reason: Stored | None = None
    moved_to: str | None = None
    distance: int | None = None
    similarity: float | None = None
    is_near: bool = False
    not_sent: bool = False


def outcome_of_failure(status: int, reason: Stored) -> str:
    """Return the outcome of a failure for a page that was there before.

    Args:
        status: HTTP status, or 0 without an answer: that says nothing about the page.
        reason: Cause of the failure.
    """
    if Reason.FORBIDDEN in codes(reason):
        return FORBIDDEN
    return GONE if status in _GONE_STATUSES else FAILED


STANDING_NAMES = 3
"""Ask again for a text that stood at this many last names of paths, be it a wall or not."""

MIN_COPIES = 4
"""Ask again for a text that this many pages repeat, and for another answer of as many URLs."""

_MAX_ORIGINALS = 8
"""Texts with the most copies are asked for again, at most this many; walls are besides."""

# What a URL says now; those that gave a page since are left out. A long text has no cluster, so its
# copies are told by their original. For what a redirect led to, the URL that redirected is asked.
# A gate may have that URL in its own, so it is known by its text, as a page with noindex is.
# With ?2 = 1 it is all that says what another URL says. The order of a CROSS JOIN is kept: SQLite
# would read all pages to find those of walls.
_STANDING = f"""
WITH originals AS (
  SELECT duplicate_of FROM pages WHERE latest = 1 AND seen_visit = ?1 AND duplicate_of NOTNULL
  GROUP BY 1 HAVING count(*) >= ?2
  ORDER BY count(*) DESC LIMIT iif(?2 = 1, -1, {_MAX_ORIGINALS})),
redirected AS (
  SELECT coalesce(last_text_digest, target) AS content, redirects.key, redirects.url
  FROM redirects LEFT JOIN pages ON pages.key = target AND latest = 1
  WHERE redirects.key <> target),
answers AS (
  SELECT 'status ' || iif(status < 400, hex(visible_digest), status) AS name, key, url, seen_at,
    latest FROM pages WHERE visit = ?1
  AND (verdict = '{FAILED}' AND status >= 400 OR verdict = '{NOINDEX}')),
said (name, key, url, seen_at) AS (
SELECT 'wall ' || cluster, key, url, seen_at FROM wall_pages CROSS JOIN pages ON pages.id = page
WHERE seen_visit = ?1 AND (latest = 1 OR verdict IN ({listed(WALLS)}))
  AND (?2 = 1 OR cluster IN (
    SELECT id FROM wall_clusters
    WHERE kind <> '{PAGE}' AND length(names) >= {STANDING_NAMES * HASH_BYTES}))
  AND NOT EXISTS (
    SELECT 1 FROM pages AS later
    WHERE later.key = pages.key AND later.latest = 1 AND later.seen_at > pages.seen_at)
UNION ALL
SELECT 'copy ' || ifnull(duplicate_of, id), key, url, seen_at FROM pages
WHERE (duplicate_of IN originals OR id IN originals) AND latest = 1 AND seen_visit = ?1
  AND NOT EXISTS (SELECT 1 FROM wall_pages WHERE page = id)
UNION ALL
SELECT name, key, url, seen_at FROM answers WHERE (?2 = 1 OR latest = 1)
  AND name IN (SELECT name FROM answers GROUP BY 1 HAVING count(*) >= ?2))
SELECT min(name), key, url, seen_at FROM (
SELECT name, redirects.key, redirects.url, seen_at FROM said JOIN redirects ON target = said.key
UNION ALL
SELECT * FROM said WHERE key NOT IN (SELECT key FROM redirects UNION SELECT target FROM redirects)
UNION ALL
SELECT 'redirect ' || hex(content), key, url, NULL FROM redirected
WHERE content IN (SELECT content FROM redirected GROUP BY 1 HAVING count(*) >= ?2)
) GROUP BY key ORDER BY 1, 4 DESC
"""


_GONE_OR_FAILED = f"""
SELECT pages.key, url, status, coalesce(known.reason, pages.reason),
       coalesce(since, pages.visit), metadata
FROM pages LEFT JOIN known ON known.key = pages.key
WHERE latest = 1 AND (verdict = '{FAILED}' OR outcome IN ('{GONE}', '{FAILED}'))
ORDER BY pages.id
"""


def failed_urls(read: Read) -> sqlite3.Cursor:
    """Return key, URL, status, reason, first visit and metadata of each URL without a page."""
    return read(_GONE_OR_FAILED, ())


@dataclass(frozen=True, slots=True)
class Agenda:
    """Counts of the URLs that are due and that are not, and the time when the next one is due."""

    due: int
    later: int
    next_at: float | None


class KnownUrls:
    def __init__(self, database: Database, policy: IntervalPolicy) -> None:
        self._database = database
        self._policy = policy

    def note(
        self, key: bytes, visit: int, outcome: Outcome, now: float, referer: str | None = None
    ) -> None:
        """Store the outcome of a URL, the time of its next visit, and a Referer that was sent.

        Within one visit a page that was fetched stays fetched, and a changed one changed: the work
        of a killed process is repeated, and finds the page unchanged. If there are several calls,
        only the last one moves the interval: a redirect that only sets a cookie leads back to the
        page.
        """
        since, interval_secs, was_away = visit, self._policy.first(), False

        def put(sql: str) -> int:
            of_outcome = outcome.reason, outcome.moved_to, outcome.distance, outcome.similarity
            notes = outcome.is_near, outcome.not_sent, was_away
            times = interval_secs, now + interval_secs
            row = (key, visit, outcome.kind, since, *of_outcome, *notes, *times, referer)
            return self._database.write(sql, row).rowcount

        if outcome.kind == NEW and put(f"INSERT {_VALUES} ON CONFLICT (key) DO NOTHING"):
            return  # nearly every page of a first visit
        row = self._database.read(
            "SELECT visit, outcome, since, interval_secs, is_near, was_away, referer FROM known"
            " WHERE key = ?",
            (key,),
        ).fetchone()
        if row is not None:
            last_visit, last, last_since, interval_secs, was_near, was_away, last_referer = row
            stays = last == NEW or outcome.kind != CHANGED
            if last_visit == visit and last in READ and stays:
                return
            since = last_since if last == outcome.kind else visit
            if last_visit == visit:
                interval_secs = self._undone_secs(last, interval_secs, was_near=bool(was_near))
            else:
                was_away = outcome.kind in {CHANGED, UNCHANGED} and last in AWAY
            interval_secs = self._next_secs(outcome, interval_secs)
            # One that led to a page is not lost to one that led to none.
            if referer is None or (last_referer is not None and outcome.kind not in READ):
                referer = last_referer
        put(f"INSERT OR REPLACE {_VALUES}")

    def _next_secs(self, outcome: Outcome, interval_secs: float) -> float:
        if outcome.kind == NEW:
            return self._policy.first()
        if outcome.kind == FAILED:  # it says nothing of the page
            return self._policy.bounded(interval_secs)
        changed = outcome.kind == CHANGED and not outcome.is_near
        return self._policy.after(interval_secs, changed=changed)

    def _undone_secs(self, kind: str, interval_secs: float, *, was_near: bool) -> float:
        """Return the interval as it was before an outcome moved it."""
        if kind in {NEW, FAILED}:
            return interval_secs
        return self._policy.before(interval_secs, changed=kind == CHANGED and not was_near)

    def moved_to(self, key: bytes) -> str | None:
        """Return where a URL led when it was asked for last; None where it gave a page."""
        return self._database.value("SELECT moved_to FROM known WHERE key = ?", (key,))

    def standing(
        self, visit: int, least: int = MIN_COPIES
    ) -> Iterator[tuple[str, bytes, str, float | None]]:
        """Yield a name for each answer of several URLs of a visit, with key, URL and time of each.

        Those of an answer follow each other, the last met first; of redirects no time is known. One
        that is known by a redirect and by the text behind it comes once.

        Args:
            visit: The visit.
            least: URLs of an answer; with 1 also of texts that were found to be pages.

        Complexity: O(URLs).
        """
        yield from self._database.read(_STANDING, (visit, least))

    def note_redirects(self, visit: int, now: float) -> None:
        """Store the URLs that only redirected in a finished visit.

        The pages behind them are known by their own URLs, so that no link need be followed to the
        former until a page may be there.
        """
        secs = self._policy.first()
        self._database.write(
            "INSERT OR REPLACE INTO known SELECT key, ?1, 'moved', ?1, NULL, NULL, NULL, NULL,"
            " 0, 0, 0, ?2, ?3, NULL, NULL FROM redirects WHERE key NOT IN (SELECT key FROM pages)",
            (visit, secs, now + secs),
        )

    def forget(self, key: bytes) -> None:
        """Forget a URL that is in ``pages`` no more, such as one that redirects after all."""
        sql = "DELETE FROM known WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM pages WHERE key = ?1)"
        self._database.write(sql, (key,))

    def was_file(self, page: PageRow, row: PageRow) -> bool:
        """Return whether a page's answer before a capture was a file of the same bytes.

        A file does not replace a page that was read, so that the store names the page as the
        newest.

        Args:
            page: Last page that was read there.
            row: The capture.
        """
        answer = self._database.read(
            "SELECT verdict, last_payload_digest FROM pages WHERE key = ? AND id > ? AND id < ?"
            f" AND visit > ? AND verdict NOT IN ({listed(WITHOUT_PAGE)}) ORDER BY id DESC LIMIT 1",
            (row.key, page.id, row.id, page.seen_visit),
        ).fetchone()
        return answer is not None and tuple(answer) == (NOT_HTML, row.last_payload_digest)

    def __contains__(self, key: bytes) -> bool:
        return self._database.value("SELECT 1 FROM known WHERE key = ?", (key,)) is not None

    def referer(self, key: bytes) -> str | None:
        """Return the Referer that a URL was asked for with, or None. Complexity: O(log n)."""
        return self._database.value("SELECT referer FROM known WHERE key = ?", (key,))

    def failed(self) -> int:
        """Count the failed URLs that have a row in ``pages``. Complexity: O(URLs)."""
        sql = f"SELECT count(*) FROM known WHERE {_FAILED} AND key IN (SELECT key FROM pages)"
        return int(self._database.read(sql).fetchone()[0])

    def agenda(self, now: float) -> Agenda:
        """Count the due URLs that have a row in ``pages``. Complexity: O(URLs)."""
        due, later, next_at = self._database.read(
            "SELECT count(*) FILTER (WHERE due_at <= ?1), count(*) FILTER (WHERE due_at > ?1),"
            " min(due_at) FILTER (WHERE due_at > ?1) FROM known"
            " WHERE key IN (SELECT key FROM pages)",
            (now,),
        ).fetchone()
        return Agenda(due, later, next_at)
