"""The page store as the place where neardup finds judged texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.pages.page_store import PageStore
    from neardup import Document


class PageDocuments:
    """neardup's ``Documents`` over the page store.

    Only a page's newest capture can be found, and only where its text is
    stored, so that nothing is dropped for the sake of what nobody holds.
    """

    def __init__(self, store: PageStore) -> None:
        self._store = store

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """The first kept capture whose judged text has this digest."""
        return self._store.find_text(digest, exclude)

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """The first kept capture of these bytes."""
        row = self._store.find_payload(digest)
        return None if row is None or row.id in exclude else row.id

    def text(self, id: int) -> str | None:  # noqa: A002  # neardup's name for it
        """The text of a kept capture."""
        packed = self._store.text(id)
        return None if packed is None else unpack_judged(packed)

    def add(self, id: int, document: Document) -> None:  # noqa: A002
        """Nothing: the capture is inserted with its verdict, in the same transaction."""


def unpack(packed: bytes) -> str:
    """Return a stored text, without the whole that it was taken from."""
    return part_of(unpack_judged(packed))


def unpack_judged(packed: bytes) -> str:
    """Return a stored text as it is judged, with its whole (``neardup.whole``)."""
    return zstandard.decompress(packed).decode()
