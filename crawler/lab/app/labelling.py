"""What people say of pairs, kept in the lab's thread, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.lab.labels import remove_label, store_label
from crawler.lab.pair_label import label_of, pair_of

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab
    from crawler.lab.near_pair import NearPair
    from crawler.lab.pair_label import Label


class LabelCounts(NamedTuple):
    """How many pairs were labelled."""

    duplicate: int
    different: int


class Labelling:
    """Labels of one lab, and the order in which one window made some of them."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._made: list[NearPair] = []
        self._reading = lab.reading

    def of(self, pair: NearPair) -> Label | None:
        """What was said of a pair; None: nothing."""
        return self._lab.labels.get(self._key(pair))

    def is_labelled(self, pair: NearPair) -> bool:
        """Whether something was said of a pair."""
        return self.of(pair) is not None

    @property
    def last(self) -> NearPair | None:
        """The pair that was labelled last and still is; none where pages were read anew since."""
        self._forget_places()
        while self._made and not self.is_labelled(self._made[-1]):
            self._made.pop()
        return self._made[-1] if self._made else None

    def counts(self) -> LabelCounts:
        """Count all labels of the lab."""
        labels = self._lab.labels.values()
        duplicate = sum(label.is_duplicate for label in labels)
        return LabelCounts(duplicate, len(labels) - duplicate)

    async def say(self, pair: NearPair, *, is_duplicate: bool) -> None:
        """Keep a label; it is stored when this returns.

        Raises:
            SourceError: It cannot be stored.
        """
        pages = self._lab.session.pages
        label = label_of(pages[pair.first], pages[pair.second], is_duplicate=is_duplicate)
        await self._lab.run(store_label, self._lab.sources, label)
        self._lab.labels[label.pair] = label
        self._forget_places()
        self._made.append(pair)

    async def take_back(self, pair: NearPair) -> None:
        """Forget what was said of a pair.

        Raises:
            SourceError: It cannot be forgotten.
        """
        key = self._key(pair)
        await self._lab.run(remove_label, self._lab.sources, *key)
        self._lab.labels.pop(key, None)

    def _forget_places(self) -> None:
        """Places that were read before pages were read anew are those of others now."""
        if self._reading != self._lab.reading:
            self._reading = self._lab.reading
            self._made.clear()

    def _key(self, pair: NearPair) -> tuple[bytes, bytes]:
        pages = self._lab.session.pages
        return pair_of(pages[pair.first].text_digest, pages[pair.second].text_digest)
