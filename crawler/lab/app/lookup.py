"""What was put into a field of Compare: a text, or the URL of a page that is held already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.lab.app.plain_text import plain
from crawler.lab.lookup import place_of
from crawler.lab.sources.source import SourceError

if TYPE_CHECKING:
    from crawler.lab.lab_page import LabPage
    from crawler.lab.session import Session
    from crawler.lab.sources.several import Sources


class NotFoundError(Exception):
    """Nothing can be compared; the message says why, in words that may be shown."""


@dataclass(frozen=True, slots=True)
class Found:
    """A text and what it is.

    Attributes:
        text: What is compared.
        is_main: Whether a fingerprint may stand for it.
        page: Where it comes from; None: it was put in.
    """

    text: str
    is_main: bool = True
    page: LabPage | None = None


def find(given: str, session: Session, sources: Sources) -> Found:
    """The text that somebody means; nothing is ever fetched.

    Raises:
        NotFoundError: There is nothing, or a URL is that of no page, or of one without a text.

    Complexity: O(pages) for a URL.
    """
    written = given.strip()
    if not written:
        raise NotFoundError("two texts, or two URLs of pages, are needed")
    if not is_url(written):
        return Found(given)
    try:
        page = session.pages[place_of(session.pages, written)]
    except SourceError as error:
        raise NotFoundError(
            f"{plain(str(error), 500)} (the lab fetches nothing: put in the text itself)"
        ) from None
    (text,) = sources.texts([page.id])
    if text is None:
        raise NotFoundError(f"{plain(written, 200)}: the text of this page is not held")
    return Found(text, page.is_main, page)


def is_url(written: str) -> bool:
    """Whether it is one word that begins as web addresses do."""
    return written.lower().startswith(("http://", "https://")) and len(written.split()) == 1
