"""Hold what is known of a page while its answer is captured."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawler.pages.page_row import PageRow, packed_metadata
from crawler.pages.reasons import Reason, Stored
from crawler.pages.verdicts import DUPLICATES, NOINDEX
from crawler.pages.wall_clusters import host_of
from crawler.reading.metadata.metadata_record import NO_HEADERS, PageHeaders
from crawler.reading.wall_signs import may_be_filled
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from crawler.pages.page_row import LastCapture
    from crawler.pages.page_store import PageStore
    from crawler.pages.rendered import Rendered
    from crawler.reading.reading import Link, Reading
    from neardup import Document


class Way(NamedTuple):
    """The way by which a URL was reached.

    Attributes:
        depth: Number of links that led there.
        redirected: URLs that led to it by redirects.
        linked_from: URL of the page on which a link to it was met; None: it is a seed, or that is
            not known.
    """

    depth: int = 0
    redirected: Sequence[str] = ()
    linked_from: str | None = None


UNKNOWN_WAY = Way()

LARGE_BYTES = 2**20
"""Keep smaller bodies in memory, whatever they are."""


class BodyFile(Protocol):
    """The file that holds a large body of which nothing is read."""

    @property
    def size(self) -> int:
        """Bytes of the body."""
        ...

    @property
    def digest(self) -> bytes:
        """Payload digest of the body."""
        ...

    def open(self) -> BinaryIO:
        """Open the file for reading."""
        ...

    def convert(self, change: Callable[[Iterable[bytes]], Iterable[bytes]]) -> bytes:
        """Replace the body by what is made of its pieces; return its first bytes."""
        ...

    def drop(self) -> None:
        """Remove the file."""


class PartFile(BodyFile, Protocol):
    """The file that holds the first bytes of a large body."""

    def release(self) -> None:
        """Leave the bytes where they were, if no more came."""


@dataclass(frozen=True)
class Fetched:
    """An answer of a server, without any object of Scrapy."""

    url: str
    canonical_url: str
    key: bytes
    depth: int
    status: int
    body: bytes
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    robots: frozenset[str] = frozenset()
    headers: PageHeaders = NO_HEADERS
    """Headers that describe the page."""
    apart_from: frozenset[int] = frozenset()
    """Ids of captures of the same page under another name, which never are its originals."""
    cut: Reason | None = None
    """Why the body is known to be only a part of the page."""
    referer: str | None = None
    """The header of that name that was sent."""
    is_stopped: bool = False
    """Whether the crawl closed the connection, since the answer began as what is no page."""
    made_at: float | None = None
    """Seconds since 1970 at which the answer was made; None: nothing is set aside in its text."""
    is_anew: bool = False
    """Whether the page is judged again, also where its bytes are as before."""
    file: BodyFile | None = None
    """The place of the whole body; ``body`` is its beginning then."""

    @property
    def size(self) -> int:
        """Bytes of the whole body."""
        return len(self.body) if self.file is None else self.file.size

    @property
    def payload_digest(self) -> bytes:
        """Payload digest of the whole body. Complexity: O(length) unless it is in a file."""
        return payload_digest(self.body) if self.file is None else self.file.digest

    @cached_property
    def may_be_filled(self) -> bool:
        """Whether scripts may fill the page, as ``wall_signs.may_be_filled`` tells."""
        return may_be_filled(self.body)


class Validators(NamedTuple):
    """The validators by which a server recognises a version of a page."""

    etag: str | None
    last_modified: str | None


class StoredPart(NamedTuple):
    """The first bytes of an answer that broke off.

    Attributes:
        etag: ETag of the version that they are of.
        size: Number of the bytes.
        body: The bytes; None where the rest is written to ``file``.
        file: The file that has them, held while the request is under way.
    """

    etag: str
    size: int
    body: bytes | None
    file: PartFile | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    row: PageRow
    verdict: str
    links: tuple[Link, ...] = ()
    nofollow: bool = False
    kept_url: str | None = None
    resembled_url: str | None = None
    part_of_url: str | None = None
    document: bytes = b""
    """The document that a browser showed, where that is what was judged."""
    is_less_than_shown: bool = False
    """Whether what a browser showed of the page before stays, since there is less of it now."""
    unproven: tuple[tuple[int, str], ...] = ()
    """Slots of what was set aside in the text and may be content, and what stands there: another
    fetch of the page tells (``crawler.pages.volatile``)."""
    is_again: bool = False
    """Whether an earlier process stored the page in the same visit, and left its request open."""

    @property
    def is_duplicate(self) -> bool:
        """Whether another page holds the text of this one, also if it is unchanged."""
        return self.row.verdict in DUPLICATES


def blank_row(number: int, fetched: Fetched, visit: int) -> PageRow:
    """Return a row with the facts of an answer, or of a failed request."""
    now = time.time()
    return PageRow(
        id=number,
        key=fetched.key,
        url=fetched.url,
        canonical_url=fetched.canonical_url,
        latest=1,
        visit=visit,
        fetched_at=now,
        seen_visit=visit,
        seen_at=now,
        depth=fetched.depth,
        status=fetched.status or None,
        content_type=fetched.content_type,
        body_bytes=0 if fetched.is_stopped else fetched.size,
    )


class PageRenderer(Protocol):
    """Shows answers in a browser."""

    @property
    def is_behind(self) -> bool:
        """Whether so many pages wait for the browser that none is to be fetched."""

    def doubts(self, fetched: Fetched) -> bool:
        """Return whether an answer whose bytes are known may show something else in a browser."""

    def may_differ(self, fetched: Fetched, rendered: Rendered | None, *, is_near: bool) -> bool:
        """Return whether a page that is to be dropped is to be looked at once more before.

        Args:
            fetched: The answer.
            rendered: What a browser showed of it; None where none did, or it was no more.
            is_near: Whether it says nearly what another page says, not the same.
        """

    async def look_again(self, fetched: Fetched, reading: Reading) -> Rendered:
        """Show a page that is to be dropped, with patience."""

    def must_see(self, row: PageRow) -> bool:
        """Return whether a page is to be sent whole, since a browser may show more of it now."""

    async def render(self, fetched: Fetched, reading: Reading) -> Rendered | None:
        """Show an answer; return None where that is not to be done, or gave nothing more."""


@dataclass(slots=True)
class PageContext:
    """An answer with its payload digest, its reading, and the last capture of its page.

    It is made once for each answer and passed on. The last capture is read once, and again only
    after it was changed: another request may capture the same page meanwhile.

    Args:
        store: Page store with the captures.
        fetched: The answer.
        payload: Payload digest of the answer.
        reading: Reading of the answer; empty until it was read.
        obey_robots_meta: Whether a page may ask not to be kept.
        rendered: What a browser showed of it; None where none was asked.
    """

    store: PageStore
    fetched: Fetched
    payload: bytes
    reading: Reading
    obey_robots_meta: bool
    rendered: Rendered | None = None
    plain: Reading = field(init=False)
    """The reading of the page as it came."""

    _sent: bytes = field(init=False)
    _last: LastCapture = field(init=False)
    _unpacked: tuple[Reading, int, Document | None] | None = field(default=None, init=False)
    _original: LastCapture | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._sent, self.plain = self.payload, self.reading
        self._tell_apart(b"")
        self._last = self.store.last(self.fetched.key)

    @property
    def previous(self) -> PageRow | None:
        if not self._last.is_current:
            self._last = self.store.last(self.fetched.key)
        return self._last.row

    @property
    def own_ids(self) -> frozenset[int]:
        """Ids of captures that are never originals of the page."""
        previous, apart_from = self.previous, self.fetched.apart_from
        return apart_from if previous is None else apart_from | {previous.id}

    @property
    def original(self) -> PageRow | None:
        """The first kept page of exactly the same bytes, read once while it is current."""
        held = self._original
        row = held.row if held is not None and held.is_current else None
        if row is None or row.payload_digest != self.payload:
            held = self._original = self.store.find_payload(self.payload)
            row = None if held is None else held.row
        return row

    def take(self, reading: Reading, rendered: Rendered | None = None) -> None:
        """Take the reading of the answer."""
        self.reading, self.plain, self.rendered = reading, reading, rendered
        document = b""
        if rendered is not None:
            self.reading, document = rendered.reading, rendered.document
        self._tell_apart(document)

    def _tell_apart(self, document: bytes) -> None:
        """Make the payload digest that of the key too, where the bytes are not all of the page.

        Those of a page that its scripts fill are the bytes of any other page of its site; what a
        browser shows of it, ``document``, counts too.
        """
        if document or not self.is_whole:
            shown = payload_digest(document) if document else b""
            self.payload = payload_digest(self._sent + self.fetched.key + shown)
        else:
            self.payload = self._sent

    @property
    def is_whole(self) -> bool:
        """Whether all of the page came, and all that it shows was read, as far as is known.

        One that is not whole may be told from others by what is missing: it is no copy of a page,
        and none is one of it.
        """
        if self.fetched.cut is not None or self.fetched.is_stopped:
            return False
        if self.rendered is not None:
            return self.rendered.is_whole
        return not self.reading.is_app_shell

    def says(self, word: str) -> bool:
        """Return whether the page or its HTTP header has a directive for robots."""
        return bool({word, "none"} & (self.fetched.robots | set(self.reading.metadata.robots)))

    @property
    def asks_not_to_be_kept(self) -> bool:
        """Whether a page asks not to be kept, and that is obeyed."""
        return self.obey_robots_meta and self.says("noindex")

    def left_out(self) -> Iterator[Stored]:
        """Yield a reason for what is missing: the rest of the page, links, what scripts show."""
        if self.fetched.cut is not None:
            yield self.fetched.cut.stored()
        if self.rendered is not None and self.rendered.reason:
            yield self.rendered.reason
        if self.reading.is_app_shell:
            yield Reason.APP_SHELL.stored()
        if self.reading.links_cut:
            yield Reason.LINKS_LEFT_OUT.stored(f"{self.reading.links_cut:,}")
        if self.reading.links_too_long:
            yield Reason.LINKS_TOO_LONG.stored(f"{self.reading.links_too_long:,}")

    def document(self, min_words: int) -> Document | None:
        """Return the text as ``Reading.document`` does, unpacked once."""
        unpacked = self._unpacked
        if unpacked is None or unpacked[0] is not self.reading or unpacked[1] != min_words:
            document = self.reading.document(min_words, host_of(self.fetched.url))
            unpacked = self._unpacked = (self.reading, min_words, document)
        return unpacked[2]

    def name(self, min_words: int) -> str | None:
        """Return what the page is called, packed; None where no text was read."""
        document = self.document(min_words)
        return None if document is None else document.name

    def row(self, number: int, visit: int) -> PageRow:
        """Return a row with what is known of the page before it is judged."""
        fetched, reading = self.fetched, self.reading
        row = blank_row(number, fetched, visit)
        # They belong to the whole page, and to its bytes.
        if fetched.cut is None and self.rendered is None:
            row.etag, row.last_modified = fetched.etag, fetched.last_modified
        row.title, row.author, row.date, row.language, row.declared_url = reading.metadata[:5]
        row.metadata = packed_metadata(reading.metadata)
        row.name = reading.metadata.name().packed() or None
        if not fetched.is_stopped:  # of all bytes, or of none
            row.payload_digest = row.last_payload_digest = self.payload
        row.visible_digest = reading.visible_digest
        return row


def is_enough(page: PageContext, *, elsewhere: bool) -> bool:
    """Return whether the bytes alone decide the verdict on a page.

    Args:
        page: The page, which need not be read yet.
        elsewhere: Whether another crawl of the fleet has a page of these bytes.
    """
    if not page.fetched.body or page.fetched.is_anew:
        return False
    previous = page.previous
    if previous is not None:
        # A row without digest is a file, a noindex page, or a page that must be read once more.
        same = previous.payload_digest == page.payload and previous.text_digest is not None
        return same and page.store.holds_text_of(previous)
    return elsewhere or page.original is not None


def find_original(page: PageContext) -> PageRow | None:
    """Return the kept page with the same bytes as a new page, or None."""
    if page.previous is not None or not page.fetched.body:
        return None
    # The same bytes can be a page here and, by another Content-Type, a file there.
    if page.reading.not_html is not None:
        return page.store.find_file(page.payload)
    return page.original


def is_unchanged(page: PageContext) -> bool:
    """Return whether a page's text is the same and still stored, with it or its original."""
    previous, reading = page.previous, page.reading
    if previous is None or page.asks_not_to_be_kept != (previous.verdict == NOINDEX):
        return False
    if not previous.has_own_words:
        return False
    was_file = previous.text_digest is None and previous.verdict != NOINDEX
    if was_file != (reading.not_html is not None) and reading.failure is None:
        return False
    has_bytes = bool(page.fetched.body) and not page.fetched.is_anew
    same_payload = has_bytes and previous.payload_digest == page.payload
    extract = reading.extract
    same_text = extract is not None and previous.text_digest in extract.digests
    return (same_payload or same_text) and page.store.holds_text_of(previous)
