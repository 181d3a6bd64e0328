"""Pages for the lab, made of texts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.lab.crawl_source import LabPage
from crawler.lab.judgement import Choice
from crawler.lab.session import Session
from neardup.document import Document, analyse
from neardup.evaluation.near_arrays import LAYERS
from neardup.names import name_of
from neardup.parameters import DEFAULTS, Parameters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VERDICTS = {
    "payload": "exact_duplicate",
    "text": "text_duplicate",
    "simhash": "near_duplicate",
    "candidate": "near_duplicate",
}


@dataclass
class Made:
    """A page to be made.

    Attributes:
        text: What it says.
        payload: A name for its bytes.
        is_main: Whether a fingerprint may stand for it.
        is_changed: Whether it said something else before.
        title: What names it; empty: its first lines do.
    """

    text: str
    payload: int | None = None
    is_main: bool = True
    is_changed: bool = False
    title: str = ""


@dataclass
class Book:
    """Pages with their texts.

    Attributes:
        made: All of them.
        running: With these their fingerprints were made.
        lost: Ids of pages whose text is not held.
        boilerplate: Hashes of the blocks that are boilerplate on every page; None: none is known.
    """

    made: Sequence[Made]
    running: Parameters = DEFAULTS
    lost: set[int] = field(default_factory=set)
    boilerplate: frozenset[int] | None = None

    def session(self) -> Session:
        """Return a session of all pages."""
        pages, judging = self.pages(), self.empty_session()
        judging.extend(pages)
        layers = [LAYERS[layer] for layer in judging.judge(Choice(self.running)).layer]
        session = self.empty_session()
        session.extend(
            [
                replace(page, verdict=_VERDICTS.get(layer, layer))
                for page, layer in zip(pages, layers, strict=True)
            ]
        )
        return session

    def empty_session(self) -> Session:
        """Return a session that was given no page yet."""
        return Session(self.texts, self.running, lambda: self.blocks)

    def blocks(self, _: object) -> frozenset[int] | None:
        """Return the boilerplate of a page, or of a group."""
        return self.boilerplate

    def group(self, _: int) -> int:
        """Return the group of a page, as ``neardup.boilerplate.Boilerplate`` has it."""
        return 1

    def texts(self, ids: Sequence[int]) -> Iterator[str | None]:
        """Give texts as a source does."""
        for number in ids:
            yield None if number in self.lost else self.made[number // 3 - 1].text

    def pages(self) -> list[LabPage]:
        """Return the pages, whose ids are no places."""
        return [self._page(place, made) for place, made in enumerate(self.made)]

    def document(self, made: Made, parameters: Parameters) -> Document:
        """Return what a deduplicator is asked."""
        found = analyse(made.text, parameters, name_of(made.text, made.title))
        payload = None if made.payload is None else made.payload.to_bytes(16, "big")
        fingerprint = found.fingerprint if made.is_main else None
        return replace(found, fingerprint=fingerprint, payload=payload, group=1)

    def _page(self, place: int, made: Made) -> LabPage:
        document = self.document(made, self.running)
        return LabPage(
            id=3 * (place + 1),
            url=f"http://127.0.0.1/{place}",
            title=f"page {place}",
            words=document.words,
            text_digest=document.digest,
            visible_digest=None,
            payload_digest=document.payload,
            fingerprint=document.fingerprint,
            is_main=made.is_main,
            verdict="changed" if made.is_changed else "new",
            body_bytes=len(made.text),
            name=document.name,
        )
