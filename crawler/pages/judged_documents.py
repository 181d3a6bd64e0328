"""Give neardup access to the texts of the page store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.pages.page_store import PageStore
    from neardup import Document


class PageDocuments:
    """Implements neardup's ``Documents`` with the page store.

    Only a page's newest capture can be found, and only if its text is stored: a page is never
    dropped in favour of a text that is gone.
    """

    def __init__(self, store: PageStore) -> None:
        self._store = store

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the id of the first kept capture whose judged text has this digest."""
        return self._store.find_text(digest, exclude)

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the id of the first kept capture of these bytes."""
        row = self._store.find_payload(digest)
        return None if row is None or row.id in exclude else row.id

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        """Return the text of a kept capture."""
        packed = self._store.text(id)
        return None if packed is None else unpack_judged(packed)

    def add(self, id: int, document: Document) -> None:  # noqa: A002
        """Do nothing: the capture is inserted with its verdict, in the same transaction."""


def unpack(packed: bytes) -> str:
    """Return a stored text, without the whole that it was taken from."""
    return part_of(unpack_judged(packed))


def unpack_judged(packed: bytes) -> str:
    """Return a stored text as it is judged, with its whole (``neardup.whole``)."""
    return zstandard.decompress(packed).decode()
