"""What a link becomes: the way to a file of the mirror, or the whole URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.mirror.documents.linked_document import DEAD, absolute_address
from crawler.mirror.paths import address_between

if TYPE_CHECKING:
    from crawler.mirror.documents.edits import Rewritten
    from crawler.mirror.documents.linked_document import Document, DocumentLink
    from crawler.mirror.mirror_files import FileRow
    from crawler.mirror.targets import Target, Targets


_ROOM = 2**20


class Linker:
    """Rewrites documents so that their links lead to files, and notes to which.

    Behind a <base> of a kilobyte a hundred thousand short links become long URLs: a document
    grows to three times its size and a megabyte at most, further links to the network lead
    nowhere.
    """

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self.linked: set[int] = set()

    def rewritten(self, document: Document, row: FileRow) -> Rewritten:
        """A document as it is to stand at its path."""
        room = 2 * document.size + _ROOM

        def address(link: DocumentLink) -> str | None:
            nonlocal room
            if link.url is None:
                return None
            target = self._targets.find(link.url)
            if target is not None:
                return self._between(link, row, target)
            found = absolute_address(link)
            room -= len(found) - len(link.written)
            return found if room >= 0 else DEAD

        return document.rewrite(address)

    def _between(self, link: DocumentLink, row: FileRow, target: Target) -> str:
        if target.id != row.id:
            self.linked.add(target.id)
        return address_between(row.path, target.path, link.fragment)

    def goals(self, document: Document) -> list[int | str | None]:
        """Where the links of a document lead: ids of files, URLs that are in none."""
        found: list[int | str | None] = []
        for link in document.links:
            target = None if link.url is None else self._targets.find(link.url)
            found.append(link.url if target is None else target.id)
        return found
