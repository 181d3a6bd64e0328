"""What happens to the duplicates of a page that says something else from now on."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from crawler.pages.documents import unpack_judged
from crawler.pages.verdicts import TEXT_DUPLICATE
from neardup import Document, Verdict

if TYPE_CHECKING:
    from crawler.pages.page import PageRow
    from crawler.pages.store import PageStore
    from neardup import Deduplicator

MOST_NEAR = 500
"""Texts that were only near, and are judged one by one when their original changes: 1 ms each, and
nothing else is done meanwhile. Those beyond are read anew."""


def succeed(
    store: PageStore, deduplicator: Deduplicator, old: PageRow, parameters: int
) -> list[tuple[PageRow, Document]]:
    """See to it that what an original's duplicates say is still the newest capture of some page.

    What each of them says is judged anew, against all that is kept now: it may
    be near enough to what the original says since. Where it is not, the first
    that says it takes its text over, and the others are its duplicates. What
    was only near and is not held (``near_texts``) is taken for the original's
    old text, and read anew at its next visit.

    Args:
        store: Where the captures stand.
        deduplicator: Judges, and learns of heirs.
        old: A kept capture that is no longer its page's newest.
        parameters: Of the deduplicator, as ``pages.parameters`` names them.

    Returns:
        The heirs, which are kept now, with their texts.
    """
    found = store.duplicates_of(old.id)
    said = _said(store, found)
    # The original's own words first: what is only near may find them.
    heirs = sorted(
        found,
        key=lambda row: (said[row.id] != old.text_digest, not said[row.id], said[row.id], row.id),
    )
    kept = []
    for digest, group in groupby(heirs, lambda row: said[row.id]):
        heir = replace(next(group), parameters=parameters)
        kept += _pass_on(store, deduplicator, old, digest, heir)
    return kept


def _said(store: PageStore, rows: list[PageRow]) -> dict[int, bytes]:
    """The digest of what each capture said, by its id; empty where that is not held."""
    said: dict[int, bytes] = {}
    near: set[bytes] = set()
    for row in rows:
        digest = row.text_digest or b""
        if digest and store.find_said(digest) is None and digest not in near:
            if len(near) < MOST_NEAR and store.near_text(row.id) is not None:
                near.add(digest)
            else:
                digest = b""
        said[row.id] = digest
    return said


def _source(store: PageStore, old: PageRow, digest: bytes, first: PageRow) -> PageRow:
    """A capture with the text that was said: one that has it, or a duplicate with its own."""
    if not digest:
        return old
    held = store.find_said(digest)
    return held or replace(first, text=store.near_text(first.id))


def _pass_on(
    store: PageStore, deduplicator: Deduplicator, old: PageRow, digest: bytes, first: PageRow
) -> list[tuple[PageRow, Document]]:
    source = _source(store, old, digest, first)
    assert source.text is not None
    assert source.text_digest is not None
    words = source.words or 0
    document = Document(words, source.text_digest, source.fingerprint, unpack_judged(source.text))
    number = store.new_id()
    verdict = deduplicator.judge_document(number, document)
    if verdict.duplicate_of is None:
        is_long = words >= deduplicator.parameters.min_words
        heir = _heir(number, verdict.kind, first, source, known=bool(digest), is_long=is_long)
        store.insert(heir)
        store.forget(first.id)
        store.move_duplicates(old.id, number, digest or None)
        if digest:
            equal = Verdict(TEXT_DUPLICATE, number, distance=0, similarity=1.0)
            store.requalify(number, digest, equal, first.parameters)
        return [(heir, document)]
    if digest:
        store.move_duplicates(old.id, verdict.duplicate_of, digest)
        store.requalify(verdict.duplicate_of, digest, verdict, first.parameters)
    else:
        store.move_duplicates(old.id, verdict.duplicate_of, None, read_anew=True)
    return []


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
        # Where its own words are not stored, only those that it was near to.
        payload_digest=heir.payload_digest if known else None,
    )
