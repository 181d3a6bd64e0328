"""Choose pages by words of their URLs and titles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawler.lab.crawl_source import LabPage


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Takes the pages in whose URL or title all of some words stand, in either case.

    Attributes:
        words: The words, case-folded; without any, all pages are taken.
    """

    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, written: str | None) -> ListFilter:
        """Return the filter of what a reader wrote: words with spaces between them."""
        return cls(tuple((written or "").casefold().split()))

    def __bool__(self) -> bool:
        return bool(self.words)

    def takes(self, url: str, title: str | None) -> bool:
        """Whether a page of this URL and title is taken."""
        where = f"{url}\n{title or ''}".casefold()
        return all(word in where for word in self.words)

    def mask(self, pages: Sequence[LabPage]) -> NDArray[np.bool_]:
        """Return which pages are taken: bool, (pages,).

        Complexity: O(characters of URLs and titles).
        """
        if not self.words:
            return np.ones(len(pages), np.bool_)
        return np.fromiter((self.takes(one.url, one.title) for one in pages), np.bool_, len(pages))


EVERY_PAGE = ListFilter()
