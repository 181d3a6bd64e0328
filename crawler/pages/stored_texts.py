"""Find the stored text of a page: in its row, beside it, or with an equal page."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import zstandard

from crawler.pages.page_row import TEXT_BESIDE, columns_of, to_unsigned
from crawler.pages.verdicts import INEXACT, KEPT, listed
from crawler.pages.wall_clusters import host_of
from crawler.reading.content.content_xml import StoredText, decompress
from crawler.reading.reading import Extract, extract_of
from neardup import Document
from neardup.kept_facts import StoredFacts
from neardup.whole import part_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Sequence

    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.pages.volatile import VolatileSlots
    from neardup import Parameters
    from neardup.indexes.arrays import Ids

    Execute = Callable[[str, Sequence[Any]], sqlite3.Cursor]

_IN_ROW = "SELECT id, 0, text, content, page_type, content_source FROM pages"
# A duplicate holds no text of its own where another page has it. Older versions count too: a
# duplicate may have had the text first. Pages with the same visible text may differ in their main
# text: the number of words must be equal.
_HELD = f"""
{_IN_ROW} WHERE id = ?1 AND text IS NOT NULL
UNION ALL
{TEXT_BESIDE} WHERE page = ?1
UNION ALL
SELECT * FROM ({_IN_ROW}
    WHERE text_digest = ?2 AND words IS ?3 AND text IS NOT NULL ORDER BY id LIMIT 1)
UNION ALL
SELECT * FROM ({TEXT_BESIDE} WHERE pages.text_digest = ?2 AND pages.words IS ?3
    AND pages.duplicate_of IS NOT NULL AND pages.latest = 1 LIMIT 1)
LIMIT 1
"""
_OWN_TEXTS = f"""
SELECT pages.id, pages.url, coalesce(pages.text, near_texts.text), kept.url
FROM pages LEFT JOIN near_texts ON near_texts.page = pages.id
LEFT JOIN pages AS kept ON kept.id = pages.duplicate_of
  AND pages.verdict IN ({listed(INEXACT)})
WHERE pages.id > ? AND pages.latest = 1 AND (pages.verdict IN ({{}}) OR kept.id IS NOT NULL)
  AND coalesce(pages.text, near_texts.text) IS NOT NULL
ORDER BY pages.id
"""
SIGNED = (
    f"fingerprint IS NOT NULL AND verdict IN ({listed(KEPT)}) AND latest = 1 AND text IS NOT NULL"
)
"""The condition of captures that are found by their signatures and passages:
``PageDocuments.text`` has their texts, so that there is something to compare."""

_AMONG = "id IN (SELECT value FROM json_each(?))"


class StoredDocuments:
    """Implements the part of neardup's ``Documents`` that needs no text.

    Args:
        read: Function that runs a query.
        names: Volatile words of names.
        signed: SQL behind FROM for pages that are found by their texts, with its WHERE.
    """

    def __init__(self, read: Execute, names: VolatileSlots, signed: str) -> None:
        self._read = read
        self._names = names
        self._signed = signed

    def name(self, id: int) -> str:  # noqa: A002  # neardup's name for it
        row = columns_of(self._read, id, "url, name")
        return "" if row is None else self._names.stable(*row)

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        return [
            StoredFacts(int(page_id), to_unsigned(fingerprint) or 0, self._names.stable(url, name))
            for page_id, fingerprint, url, name in self._of_signed("fingerprint, url, name", ids)
        ]

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        return dict(self._of_signed("words", ids))

    def _of_signed(self, columns: str, ids: Collection[int]) -> list[tuple[Any, ...]]:
        """Return id and columns of those of some pages that are found by their texts."""
        sql = f"SELECT id, {columns} FROM {self._signed} AND {_AMONG}"
        return self._read(sql, (json.dumps(list(ids)),)).fetchall()

    def add(self, id: int, document: Document) -> None:  # noqa: A002
        """Do nothing: the caller stores the page with its verdict, in the same step."""


class PageDocuments(StoredDocuments):
    """Implements neardup's ``Documents`` with the page store.

    Only a page's newest capture can be found, and only if its text is stored: a page is never
    dropped in favour of a text that is gone.
    """

    def __init__(self, store: PageStore) -> None:
        super().__init__(store.database.read, store.volatile, f"pages WHERE {SIGNED}")
        self._store = store

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        return self._store.find_text(digest, exclude)

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        found = self._store.find_payload(digest)
        row = None if found is None else found.row
        return None if row is None or row.id in exclude else row.id

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        packed = self._store.text(id)
        try:
            return None if packed is None else unpack_judged(packed)
        except (zstandard.ZstdError, ValueError):  # a damaged text makes no verdict; verify says so
            return None

    def signed_ids(self) -> Ids:
        """Return the ids of all captures that are found by their texts: int64, (captures,)."""
        return signed_ids(self._store.database.read)


def signed_ids(read: Execute) -> Ids:
    """Return the ids of all captures that are found by their texts: int64, (captures,)."""
    rows = read(f"SELECT id FROM pages WHERE {SIGNED}", ())
    return np.fromiter((page_id for (page_id,) in rows), np.int64)


class JudgedDocuments(PageDocuments):
    """The kept pages that were judged so far.

    Attributes:
        until: The ``pages.id`` before which all are judged.
    """

    until = 0

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        return self._judged(super().find_digest(digest, exclude))

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        found = self._judged(super().find_payload(digest, exclude))
        return None if found is None or self._store.text(found) is None else found

    def _judged(self, page_id: int | None) -> int | None:
        return page_id if page_id is not None and page_id < self.until else None


def document_of(row: PageRow, name: str | None) -> Document:
    """Return the text of a row that holds one, with its facts, as it is judged.

    Args:
        row: Row with the text.
        name: What the page is called that the text is judged for, packed; None: it is not known.
    """
    assert row.text is not None
    assert row.text_digest is not None
    text = unpack_judged(row.text)
    return Document(
        row.words or 0,
        row.text_digest,
        row.fingerprint,
        text,
        name=name or "",
        group=host_of(row.url),
    )


def extract_of_row(row: PageRow, parameters: Parameters) -> Extract | None:
    """Return the text of a row as it was extracted, or None if it holds none."""
    stored = row.stored_text
    if stored is None or row.text_digest is None or row.words is None:
        return None
    if row.is_main and row.fingerprint is None:  # it had too few words for one, then
        text = unpack_judged(stored.text)
        extract = extract_of(text, stored.text, True, row.visible_digest, parameters)
        return replace(extract, content=stored.shown)
    return Extract(
        text_zstd=stored.text,
        words=row.words,
        digest=row.text_digest,
        fingerprint=row.fingerprint,
        is_main=bool(row.is_main),
        visible_digest=row.visible_digest,
        content=stored.shown,
    )


def unpack(packed: bytes) -> str:
    """Return a stored text, without the whole that it was taken from."""
    return part_of(unpack_judged(packed))


def unpack_judged(packed: bytes) -> str:
    """Return a stored text as it is judged, with its whole (``neardup.whole``)."""
    return decompress(packed).decode()


def own_texts(
    read: Execute, last: int, verdicts: Collection[str]
) -> Iterator[tuple[int, str, bytes, str | None]]:
    """Yield id, URL and text of pages after one that have words of their own.

    Those are pages with one of some verdicts, and near-duplicates and parts, each with the URL of
    its original.
    """
    yield from read(_OWN_TEXTS.format(listed(verdicts)), (last,))


def text_from(read: Execute, first: int) -> tuple[int, str, bytes] | None:
    """Return id, URL and text of the kept page with an id or the next one, None behind the last."""
    sql = "SELECT id, url, text FROM pages WHERE id >= ? AND latest = 1 AND text IS NOT NULL"
    row = read(f"{sql} ORDER BY id LIMIT 1", (first,)).fetchone()
    return None if row is None else tuple(row)


class HeldText(NamedTuple):
    """The text of a page, and its place: the row of a page, or ``near_texts``."""

    page: int
    is_near: int
    stored: StoredText


def find_text(
    read: Execute, page_id: int, digest: bytes | None, words: int | None
) -> HeldText | None:
    """Return the text of a page from any place that has it, or None if it is stored nowhere."""
    row = read(_HELD, (page_id, digest, words)).fetchone()
    return None if row is None else HeldText(row[0], row[1], StoredText.of(*row[2:]))


def text_of_page(read: Execute, page_id: int) -> StoredText | None:
    """Return the text of a page as ``find_text`` does."""
    row = columns_of(read, page_id, "text_digest, words")
    held = None if row is None else find_text(read, page_id, *row)
    return None if held is None else held.stored
