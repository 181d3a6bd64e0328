"""What happens to the duplicates of a page that says something else from now on."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from crawler.pages.documents import unpack
from neardup import Document

if TYPE_CHECKING:
    from crawler.pages.page import PageRow
    from crawler.pages.store import PageStore
    from neardup import Deduplicator


def succeed(store: PageStore, deduplicator: Deduplicator, old: PageRow, parameters: int) -> None:
    """See to it that what an original's duplicates say is still the newest capture of some page.

    What each of them says is judged anew, against all that is kept now: it may
    be near enough to what the original says since. Where it is not, the first
    that says it takes its text over, and the others are its duplicates. What
    was only near and never stored is taken for the original's old text, and
    read anew at its next visit.

    Args:
        store: Where the captures stand.
        deduplicator: Judges, and learns of heirs.
        old: A kept capture that is no longer its page's newest.
        parameters: Of the deduplicator, as ``pages.parameters`` names them.
    """

    def said(row: PageRow) -> bytes:
        known = row.text_digest is not None and store.find_said(row.text_digest) is not None
        return row.text_digest or b"" if known else b""

    # The original's own words first: what is only near may find them.
    heirs = sorted(
        store.duplicates_of(old.id),
        key=lambda row: (said(row) != old.text_digest, not said(row), said(row), row.id),
    )
    for digest, group in groupby(heirs, said):
        heir = replace(next(group), parameters=parameters)
        _pass_on(store, deduplicator, old, digest, heir)


def _pass_on(
    store: PageStore, deduplicator: Deduplicator, old: PageRow, digest: bytes, first: PageRow
) -> None:
    source = store.find_said(digest) if digest else old
    assert source is not None
    assert source.text is not None
    assert source.text_digest is not None
    words = source.words or 0
    document = Document(words, source.text_digest, source.fingerprint, unpack(source.text))
    number = store.new_id()
    verdict = deduplicator.judge_document(number, document)
    if verdict.duplicate_of is None:
        is_long = words >= deduplicator.parameters.min_words
        heir = _heir(number, verdict.kind, first, source, known=bool(digest), is_long=is_long)
        store.insert(heir)
        store.forget(first.id)
        store.move_duplicates(old.id, number, digest or None)
    elif digest:
        store.move_duplicates(old.id, verdict.duplicate_of, digest)
        store.requalify(verdict.duplicate_of, digest, verdict, first.parameters)
    else:
        store.move_duplicates(old.id, verdict.duplicate_of, None, read_anew=True)


def _heir(
    number: int, verdict: str, heir: PageRow, source: PageRow, *, known: bool, is_long: bool
) -> PageRow:
    return replace(
        heir,
        id=number,
        verdict=verdict,
        reason=None,
        duplicate_of=None,
        distance=None,
        similarity=None,
        better_copy=0,
        words=source.words,
        is_main=source.is_main,
        text=source.text,
        html=source.html,
        text_digest=source.text_digest,
        fingerprint=source.fingerprint if is_long else None,  # as the index has it
        visible_digest=source.visible_digest,
        # Its own words are not stored, only those that it was near to.
        payload_digest=heir.payload_digest if known else None,
    )
