"""What happens to the duplicates of a page that says something else from now on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.pages.documents import unpack
from crawler.pages.verdicts import NEAR_DUPLICATE, NEW
from neardup import Document

if TYPE_CHECKING:
    from crawler.pages.page import PageRow
    from crawler.pages.store import PageStore
    from neardup import Deduplicator


def succeed(store: PageStore, deduplicator: Deduplicator, old: PageRow, new: PageRow) -> None:
    """See to it that what an original said is still the newest capture of some page.

    Where the new capture is as near to the old one as a duplicate has to be,
    the duplicates are those of the new one. Otherwise the first of them takes
    over the old text and the others become its duplicates: an equal one before
    one that is only near, which is read anew at its next visit.

    Args:
        store: Where both captures stand.
        deduplicator: Learns of the heir.
        old: A kept capture that is no longer its page's newest.
        new: The capture in its place.
    """
    heirs = store.duplicates_of(old.id)
    if not heirs:
        return
    if new.text is not None and _is_near(deduplicator, new):
        store.move_duplicates(old.id, new.id)
        return
    first = min(heirs, key=lambda row: (row.verdict == NEAR_DUPLICATE, row.id))
    heir = _inherit(store.new_id(), first, old)
    store.insert(heir)
    store.move_duplicates(old.id, heir.id)
    if heir.text is not None and heir.text_digest is not None:
        document = Document(heir.words or 0, heir.text_digest, heir.fingerprint, unpack(heir.text))
        deduplicator.add_document(heir.id, document)


def _is_near(deduplicator: Deduplicator, new: PageRow) -> bool:
    """Whether a changed capture would be a duplicate of its own last version."""
    parameters = deduplicator.parameters
    if new.distance is None or new.distance > parameters.max_distance:
        return False
    return not parameters.verify or (new.similarity or 0.0) >= parameters.min_similarity


def _inherit(new_id: int, heir: PageRow, old: PageRow) -> PageRow:
    return replace(
        heir,
        id=new_id,
        verdict=NEW,
        reason=None,
        duplicate_of=None,
        distance=None,
        similarity=None,
        better_copy=0,
        words=old.words,
        text=old.text,
        html=old.html,
        text_digest=old.text_digest,
        fingerprint=old.fingerprint,
        visible_digest=old.visible_digest,
        # Its own words are not stored, only those that it was near to.
        payload_digest=None if heir.verdict == NEAR_DUPLICATE else heir.payload_digest,
    )
