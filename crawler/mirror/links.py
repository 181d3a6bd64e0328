"""What a link becomes: the way to a file of the mirror, or the whole URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.mirror.documents.document import absolute_address
from crawler.mirror.paths import address_between

if TYPE_CHECKING:
    from crawler.mirror.documents.document import Document, DocumentLink
    from crawler.mirror.documents.edits import Rewritten
    from crawler.mirror.files import FileRow
    from crawler.mirror.targets import Targets


class Linker:
    """Rewrites documents so that their links lead to files, and notes to which."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self.linked: set[int] = set()

    def rewritten(self, document: Document, row: FileRow) -> Rewritten:
        """A document as it is to stand at its path."""

        def address(link: DocumentLink) -> str | None:
            return self._address(link, row)

        return document.rewrite(address)

    def _address(self, link: DocumentLink, row: FileRow) -> str | None:
        if link.url is None:
            return None
        target = self._targets.find(link.url)
        if target is None:
            return absolute_address(link)
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
