"""Define one capture of a page, a row of the table ``pages``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.pages.reasons import Reason
from crawler.pages.verdicts import EXACT_DUPLICATE, FAILED, TEXT_DUPLICATE, WITHOUT_PAGE
from crawler.reading.content.content_xml import StoredText
from neardup.languages import language_tag

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from crawler.pages.reasons import Stored
    from crawler.reading.metadata.metadata_record import Metadata
    from neardup import Verdict

    Read = Callable[[str, Sequence[Any]], sqlite3.Cursor]


# What only a fleet had was fetched by a worker whose visit is not known.
_FETCHED_IN = f"""
SELECT key, depth, url FROM pages WHERE latest = 1 AND max(visit, seen_visit) = ?1
AND reason IS NOT '{Reason.RESTORED}'
"""
TEXT_BESIDE = """
SELECT page, 1, near_texts.text, near_texts.content, page_type, content_source
FROM near_texts LEFT JOIN pages ON pages.id = page
"""
"""The text that a duplicate keeps beside its row, as ``StoredText`` behind its place."""

_SIGN_BIT = 1 << 63  # SQLite's integers are signed
_WRAP = 1 << 64


@dataclass(slots=True)
class PageRow:
    """A row of ``pages``, in the order of its columns; digests are 16 bytes, texts are zstd."""

    id: int
    key: bytes
    url: str
    canonical_url: str
    latest: int
    visit: int
    fetched_at: float
    seen_visit: int
    seen_at: float
    depth: int
    status: int | None
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    body_bytes: int = 0
    title: str | None = None
    name: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    declared_url: str | None = None
    metadata: str | None = None
    words: int | None = None
    is_main: int | None = None
    payload_digest: bytes | None = None
    visible_digest: bytes | None = None
    text_digest: bytes | None = None
    last_payload_digest: bytes | None = None
    last_text_digest: bytes | None = None
    words_digest: bytes | None = None
    links: int = 0
    fingerprint: int | None = None
    verdict: str = ""
    reason: Stored | None = None
    duplicate_of: int | None = None
    resembles: int | None = None
    part_of: int | None = None
    distance: int | None = None
    similarity: float | None = None
    containment: float | None = None
    parameters: int | None = None
    better_copy: int = 0
    page_type: str | None = None
    content_source: str | None = None
    text: bytes | None = None
    content: bytes | None = None
    html: bytes | None = None

    @property
    def stored_text(self) -> StoredText | None:
        """The text with its content, or None if the row holds none."""
        if self.text is None:
            return None
        return StoredText.of(self.text, self.content, self.page_type, self.content_source)

    def hold(self, stored: StoredText | None) -> PageRow:
        """Hold a text with its content, or none, whose type stays known; return the row."""
        if stored is None:
            self.text = self.content = None
        else:
            self.text, self.content, self.page_type, self.content_source = stored
        return self

    @property
    def has_own_words(self) -> bool:
        """Whether the digests and the text come from the page's own answer.

        They do not if a near-duplicate took over the text of its original.
        """
        return self.payload_digest is not None

    def says_what_it_said(self, previous: PageRow) -> bool:
        """Return whether an answer repeats the page's last version, whichever page has its text."""
        if previous.last_text_digest is None:
            return False
        same_payload = self.last_payload_digest == previous.last_payload_digest
        return same_payload or self.last_text_digest == previous.last_text_digest

    def see_again(self, answer: PageRow, name: str | None) -> None:
        """Take over what a later answer with the same text says of the page."""
        self.payload_digest = self.last_payload_digest = answer.payload_digest
        self.etag, self.last_modified = answer.etag, answer.last_modified
        self.title, self.name = answer.title, name or self.name
        self.author, self.date, self.language = answer.author, answer.date, answer.language
        self.declared_url, self.metadata = answer.declared_url, answer.metadata

    def take_verdict(self, verdict: Verdict) -> None:
        """Write a verdict into the row; a duplicate of the same bytes stays one of them."""
        if (self.verdict, verdict.kind) != (EXACT_DUPLICATE, TEXT_DUPLICATE):
            self.verdict = verdict.kind
        self._take_named(verdict)

    def _take_named(self, verdict: Verdict) -> None:
        """Write the pages that a verdict names into the row, and how near they are."""
        self.duplicate_of, self.resembles = verdict.duplicate_of, verdict.resembles
        self.distance, self.similarity = verdict.distance, verdict.similarity
        self.part_of, self.containment = verdict.part_of, verdict.containment

    def take_facts(self, source: PageRow | OriginalPage) -> None:
        """Take over the facts of a text from a page that has it."""
        self.words, self.is_main = source.words, source.is_main
        self.text_digest, self.visible_digest = source.text_digest, source.visible_digest
        self.fingerprint = source.fingerprint
        self.page_type, self.content_source = source.page_type, source.content_source

    def keep(self, verdict: Verdict, source: PageRow, min_words: int = 0) -> None:
        """Keep a page that was a duplicate, with the text of a row.

        As in the index, a text of fewer than ``min_words`` has no fingerprint.
        """
        self.verdict, self.reason, self.better_copy = verdict.kind, None, 0
        self._take_named(verdict)
        self.take_facts(source)
        if (self.words or 0) < min_words:
            self.fingerprint = None
        self.hold(source.stored_text)

    def values(self) -> tuple[object, ...]:
        row = _values(self)
        return (*row[:_FINGERPRINT], to_signed(self.fingerprint), *row[_FINGERPRINT + 1 :])


COLUMNS = tuple(field.name for field in fields(PageRow))
_FINGERPRINT = COLUMNS.index("fingerprint")
_values = attrgetter(*COLUMNS)


@dataclass(frozen=True, slots=True)
class OriginalPage:
    """A kept page of any crawl directory; the names are those of ``PageRow``.

    Attributes:
        text_digest: Digest of its kept text, or None for a file that is no page.
    """

    key: bytes
    url: str
    canonical_url: str
    depth: int
    visit: int
    fetched_at: float
    words: int | None
    is_main: int | None
    text_digest: bytes | None
    visible_digest: bytes | None
    words_digest: bytes | None
    fingerprint: int | None
    page_type: str | None
    content_source: str | None

    @classmethod
    def of(cls, row: PageRow) -> OriginalPage:
        return cls(**{field.name: getattr(row, field.name) for field in fields(cls)})


@dataclass(slots=True, weakref_slot=True, eq=False)
class LastCapture:
    """The latest capture of a page that was read.

    Attributes:
        row: The row, or None where nothing was read.
        is_any: Whether there is a row of the page, also if it only says why nothing was read.
        is_current: False when the row may have changed since.
    """

    row: PageRow | None
    is_any: bool
    is_current: bool = True


class StoredUrl(NamedTuple):
    """A URL that has a row in ``pages``, with facts of its newest capture."""

    id: int
    key: bytes
    url: str
    depth: int
    verdict: str
    referer: str | None
    reason: Stored | None = None

    @property
    def is_page(self) -> bool:
        return self.verdict not in WITHOUT_PAGE


def row_of(values: tuple[object, ...]) -> PageRow:
    row = PageRow(*values)  # type: ignore[arg-type]  # the schema gives the types
    row.fingerprint = to_unsigned(row.fingerprint)
    return row


def columns_of(read: Read, page_id: int, columns: str) -> tuple[Any, ...] | None:
    """Return columns of a capture, listed as in SQL, or None if there is no such capture."""
    row = read(f"SELECT {columns} FROM pages WHERE id = ?", (page_id,)).fetchone()
    return None if row is None else tuple(row)


def url_of(read: Read, page_id: int | None) -> str | None:
    """Return the URL of a capture, as requested, or None if there is no such capture."""
    row = None if page_id is None else columns_of(read, page_id, "url")
    return None if row is None else row[0]


def newest_url(read: Read, key: bytes) -> str | None:
    """Return the URL of the newest capture of a page, or None if it has none."""
    row = read("SELECT url FROM pages WHERE key = ? AND latest = 1", (key,)).fetchone()
    return None if row is None else row[0]


def keys_after(read: Read, last: int) -> list[tuple[int, bytes]]:
    """Return id and key of all newest captures after one, in their order."""
    sql = "SELECT id, key FROM pages WHERE id > ? AND latest = 1 ORDER BY id"
    return [(row[0], row[1]) for row in read(sql, (last,))]


def newest_keys(read: Read) -> Iterator[bytes]:
    """Yield the keys of all pages."""
    yield from (key for (key,) in read("SELECT key FROM pages WHERE latest = 1", ()))


def highest_id(read: Read) -> int:
    """Return the id of the newest capture of all, 0 where there is none."""
    return int(read("SELECT coalesce(max(id), 0) FROM pages", ()).fetchone()[0])


def has_page(read: Read) -> bool:
    """Return whether any URL ever gave a page. Complexity: O(failed URLs)."""
    found = read("SELECT EXISTS (SELECT 1 FROM pages WHERE verdict <> ?)", (FAILED,))
    return bool(found.fetchone()[0])


def visited_after(
    read: Read, last: int, columns: Sequence[str], *, visit: int
) -> Iterator[sqlite3.Row]:
    """Yield columns of captures of a visit after one, in their order."""
    sql = f"SELECT {', '.join(columns)} FROM pages WHERE id > ? AND visit = ? ORDER BY id"
    return read(sql, (last, visit))


def visited_until(read: Read, last: int, visit: int) -> Iterator[tuple[float, str]]:
    """Yield the times and verdicts of captures of a visit up to one."""
    sql = "SELECT fetched_at, verdict FROM pages WHERE id <= ? AND visit = ?"
    return map(tuple, read(sql, (last, visit)))


def fetched_in(
    read: Read, visit: int, key: bytes | None = None
) -> Iterator[tuple[bytes, int, str]]:
    """Yield keys, depths and URLs of the pages that a visit fetched, of all or of one key."""
    sql = _FETCHED_IN if key is None else f"{_FETCHED_IN} AND key = ?2"
    yield from map(tuple, read(sql, (visit,) if key is None else (visit, key)))


def to_signed(fingerprint: int | None) -> int | None:
    """Return 64 bits as SQLite's signed integer."""
    if fingerprint is None or fingerprint < _SIGN_BIT:
        return fingerprint
    return fingerprint - _WRAP


def to_unsigned(fingerprint: int | None) -> int | None:
    """Undo ``to_signed``."""
    if fingerprint is None or fingerprint >= 0:
        return fingerprint
    return fingerprint + _WRAP


_LINKED_FROM = "linked_from"


def packed_metadata(metadata: Metadata) -> str | None:
    """Return the JSON object of the column ``metadata``, or None where nothing is known.

    It has ``full_title`` only where that is not the title.
    """
    full_title = metadata.full_title if metadata.full_title != metadata.title else None
    known = {
        "full_title": full_title,
        "h1": metadata.heading,
        "modified": metadata.modified,
        "sitename": metadata.sitename,
        "description": metadata.description,
        "image": metadata.image,
        "tags": metadata.tags,
        "categories": metadata.categories,
        "alternates": [{"hreflang": name, "url": url} for name, url in metadata.alternates],
        "identifiers": [one for one in metadata.identifiers if not one.startswith("canonical:")],
        "schema_type": metadata.schema_type,
        "declared_type": metadata.declared_type,
        "sources": dict(metadata.sources),
    }
    kept = {name: value for name, value in known.items() if value}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) if kept else None


def packed_source(url: str | None) -> str | None:
    """Return the column ``metadata`` of a URL that gave no page: the page that led to it."""
    return None if url is None else json.dumps({_LINKED_FROM: url}, ensure_ascii=False)


def linked_from(packed: str | None) -> str | None:
    """Return the URL of the page that led to one that gave no page, or None if it is not known."""
    found: str | None = json.loads(packed).get(_LINKED_FROM) if packed else None
    return found


def alternates_of(packed: str | None) -> list[tuple[str, str]]:
    """Return hreflang and URL of the translations of a page.

    Args:
        packed: The column ``metadata``.

    Complexity: a search for a word where the page names none.
    """
    if packed is None or '"alternates":' not in packed:
        return []
    return [(one["hreflang"], one["url"]) for one in json.loads(packed).get("alternates", ())]


def times_named(url: str, language: str | None) -> int:
    """Return how many parts of a URL name a declared language: ``/en/a`` does ``en-GB`` once.

    Names of arguments do not: ``?id=5`` is no Indonesian.
    """
    tag = language_tag(language)
    if tag is None:
        return 0
    names = set(accumulate(tag.split("-"), "{}-{}".format))
    path, _, query = url.lower().replace("_", "-").partition("?")
    values = [argument.partition("=")[2] for argument in re.split("[&;]", query)]
    return sum(map(names.__contains__, re.split("[/.]", path) + values))
