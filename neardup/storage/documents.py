"""The contract of a store of kept texts."""

from collections.abc import Collection
from typing import Protocol

from neardup.document import Document


class Documents(Protocol):
    """A store of the texts that a deduplicator kept.

    The store is the truth: whatever the index says, a text that is not stored makes no verdict. An
    id stands for one text and never for another.
    """

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this text digest that is not excluded."""

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        """Return the first stored id with this payload digest that is not excluded."""

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        """Return the text stored under an id; None where there is none."""

    def add(self, id: int, document: Document) -> None:  # noqa: A002  (the field's word)
        """Store a document that a verdict kept.

        May do nothing where the owner stores the text itself; the text makes verdicts from then on.

        Raises:
            DuplicateIdError: The id holds a document.
        """
