"""Store the request that stands for each address after the learned rules, and the page there."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash

from crawler.pages.reasons import TOLD_BY_URL, codes
from crawler.pages.verdicts import DUPLICATES, NOT_HTML, SAME_TEMPLATE
from crawler.url_rules.learning.evidence import UNREAD, PageContent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pages.page_row import PageRow
    from crawler.pages.reasons import Stored
    from crawler.storage.database import Database
    from crawler.url_rules.learned_rule import Form


MAX_TRIES = 3
"""Fetch at most this many further URLs of a page where the first gave no page."""

_GET = (
    "SELECT host, key, words, kept, similarity, page, links, visit, tries, explored, tested"
    " FROM url_groups WHERE group_digest = ?"
)
_PUT = "INSERT OR REPLACE INTO url_groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_NOTHING = (None,) * 5


class UrlGroup(NamedTuple):
    """An address after the rules: a row of ``url_groups`` behind its digest.

    Attributes:
        host: The number of its line in the queue.
        key: Request fingerprint of the request that stands for it.
        content: The content of its page; None before a page with a text was fetched.
        visit: The visit of that fetch; without content, of the last request that gave no page.
        tries: Number of further URLs that were fetched because the first gave no page.
        is_explored: Whether a second URL was fetched on purpose.
        tested: The forms of its URLs that led to one text, as ``forms_json`` writes them; empty
            where it was fetched under one.
    """

    host: int
    key: bytes
    content: PageContent | None = None
    visit: int | None = None
    tries: int = 0
    is_explored: bool = False
    tested: str = ""

    @property
    def wants_another(self) -> bool:
        """Whether the request gave no page, and another URL of the address may."""
        return self.content is None and self.visit is not None and self.tries < MAX_TRIES


class UrlGroups:
    """The table ``url_groups``: addresses that were queued or fetched while rules were learned.

    Each page asks for its address several times and changes it twice. Those changed lately
    are in memory, and what changed is written before the next commit, with the pages that it is of.

    Args:
        max_held: Keep at most this many addresses in memory, some 520 bytes each.
    """

    def __init__(self, database: Database, max_held: int = 20_000) -> None:
        self._database = database
        self._max_held = max_held
        # None: an address that the table has, to be read from there.
        self._held: dict[bytes, UrlGroup | None] = {}
        self._changed: dict[bytes, UrlGroup] = {}
        self._are_all_held = database.read("SELECT 1 FROM url_groups LIMIT 1").fetchone() is None
        database.before_commit.append(self.write)
        database.holders["url_groups"] = self._let_go

    def get(self, group: bytes) -> UrlGroup | None:
        """Return the stored address with a digest, taken after the rules; None if unknown."""
        held = self._held.get(group)
        if held is not None or (self._are_all_held and group not in self._held):
            return held
        row = self._database.read(_GET, (group,)).fetchone()
        if row is None:
            return None
        host, key, *said, visit, tries, is_explored, tested = row
        content = None if said[0] is None else PageContent(*said)
        return UrlGroup(host, key, content, visit, tries, bool(is_explored), tested)

    def _put(self, group: bytes, known: UrlGroup) -> None:
        if len(self._held) >= self._max_held:
            self.write()
            self._are_all_held = False
            for oldest in list(islice(self._held, max(1, self._max_held // 2))):
                del self._held[oldest]
        self._held[group] = self._changed[group] = known

    def write(self) -> None:
        if self._changed:
            rows = [
                (group, known.host, known.key, *(known.content or _NOTHING)[:5], *known[3:])
                for group, known in sorted(self._changed.items())
            ]
            self._changed.clear()
            self._database.write_many(_PUT, rows)

    def _let_go(self) -> None:
        self.write()
        self._held = dict.fromkeys(self._held)

    def claim(self, group: bytes, host: int, key: bytes) -> None:
        """Let a request stand for an address that has none yet."""
        if self.get(group) is None:
            self._put(group, UrlGroup(host, key))

    def stand(self, group: bytes, key: bytes) -> None:
        self._change(group, key=key)

    def note(self, group: bytes, host: int, key: bytes, content: PageContent, visit: int) -> None:
        """Store the content found at an address; the request that stands for it stays."""
        known = self.get(group) or UrlGroup(host, key)
        content = PageContent(*content[:5])  # what the table has of it
        self._put(group, known._replace(content=content, visit=visit))

    def note_failure(self, group: bytes, visit: int) -> None:
        """Note that a request for an address gave no page, where none gave one before."""
        known = self.get(group)
        if known is not None and known.content is None:
            self._put(group, known._replace(visit=visit))

    def note_try(self, group: bytes) -> None:
        """Note that another URL of an address is tried, with no result yet."""
        known = self.get(group)
        if known is not None and known.content is None:
            self._put(group, known._replace(tries=known.tries + 1, visit=None))

    def mark_explored(self, group: bytes) -> None:
        """Note that a second URL of an address is fetched on purpose."""
        self._change(group, is_explored=True)

    def note_tested(self, group: bytes, forms: Iterable[Form]) -> None:
        """Note the forms of an address's URLs that led to one text."""
        self._change(group, tested=forms_json(forms))

    def _change(self, group: bytes, **changed: Any) -> None:
        known = self.get(group)
        if known is not None:
            self._put(group, known._replace(**changed))

    def clear(self) -> None:
        self._held.clear()
        self._changed.clear()
        self._are_all_held = True
        self._database.empty("url_groups")

    def forget(self, host: int) -> None:
        """Remove a host's addresses, whose digests have become invalid."""
        self.write()
        self._held = {
            group: known
            for group, known in self._held.items()
            if known is None or known.host != host
        }
        self._database.write("DELETE FROM url_groups WHERE host = ?", (host,))


def forms_json(forms: Iterable[Form]) -> str:
    return json.dumps(sorted(map(sorted, forms)))


def forms_of(tested: str) -> set[Form]:
    """Return the forms of a JSON text; the inverse of ``forms_json``."""
    return {frozenset(map(tuple, form)) for form in json.loads(tested)} if tested else set()


def content_of(row: PageRow, kept_url: str | None = None) -> PageContent | None:
    """Return the content of a stored page; None where it has no text, and repeats none.

    The content of a file is its bytes. The same holds for a page without words: its text is the
    digest of them where texts are not read.

    Args:
        row: The page.
        kept_url: URL of the page that it repeats, the key of one that another crawl has.
    """
    of_file, digest = is_file(row), None
    if of_file:
        digest = row.payload_digest if row.body_bytes else None
    elif row.words_digest is not None and (row.text is not None or row.verdict in DUPLICATES):
        # The words of a lamp of red with a shade of blue are those of a blue lamp with a red shade.
        by_words = row.words and row.verdict != SAME_TEMPLATE
        digest = row.words_digest if by_words else row.text_digest
    if digest is None:
        return None
    links = None if of_file else row.links
    unread = UNREAD if is_unread(row) or is_told_by_url(row.reason) else None
    if row.verdict not in DUPLICATES:
        return PageContent(digest, row.id, unread or 1.0, row.id, links, is_file=of_file)
    kept = number_of(kept_url or "") if row.duplicate_of is None else row.duplicate_of
    similarity = unread or row.similarity or 0.0
    return PageContent(digest, kept, similarity, row.id, links, is_file=of_file)


def number_of(url: str) -> int:
    """Return a negative id for a page that another crawl has; ids of own pages are above 0."""
    return -1 - (xxhash.xxh3_64_intdigest(url.encode("utf-8", "replace")) >> 1)


def is_file(row: PageRow) -> bool:
    """Return whether a stored response is no page, or repeats one that is none."""
    repeats = row.verdict in DUPLICATES and row.text_digest is None
    return row.verdict == NOT_HTML or repeats


def is_unread(row: PageRow) -> bool:
    """Return whether a page was stored by a crawl that reads no texts."""
    return not is_file(row) and not row.words and row.text_digest == row.payload_digest


def is_told_by_url(reason: Stored | None) -> bool:
    """Return whether a page is kept at each of its URLs, so that it says nothing about them."""
    return reason is not None and not TOLD_BY_URL.isdisjoint(codes(reason))
