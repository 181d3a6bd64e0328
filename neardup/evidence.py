"""Find the kept texts that a text may repeat, layer by layer."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from neardup.boilerplate import Boilerplate, RestComparison
from neardup.candidates import MAX_CANDIDATES, MAX_SHARING, Candidates, KnownShingles
from neardup.cascade import Evidence, NearText
from neardup.document import Document
from neardup.features.shingles import distinct
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.arrays import Ids
from neardup.indexes.banding import least_estimate
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.lsh import LshIndex
from neardup.kept_facts import KeptFacts, Namesakes
from neardup.names import NO_NAME, Name, unpacked
from neardup.parameters import Parameters
from neardup.storage.documents import Documents
from neardup.verification import Verifier

COMPARED = "compared"
"""Candidates whose shingles were counted."""

TOLD_APART = "told apart"
"""Candidates that were not read: what is known of their shingles tells that they differ."""

LEFT_OUT = "left out"
"""Candidates beyond the budget of a text, which it may repeat."""

_AT_ONCE = 10_000

MAX_NAMED = 50_000
"""Look texts up by their names where at most this many are stored at first: 31 us each are read."""


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Looks for kept texts layer by layer, and keeps nothing.

    The near texts of a text are those within ``max_distance`` of its fingerprint and, where
    candidates are confirmed, those whose signature shares a band with its own. They are compared in
    one order, whichever index found them: by the distance of the fingerprints, then by id.

    Attributes:
        parameters: The parameters that decide which texts are the same.
        documents: The kept texts, the truth.
        index: Their fingerprints. It may know what is not stored: that is no evidence.
        signatures: Their signatures. It may know what is not stored: that is no evidence.
        verifier: The measure that confirms candidates.
        known: The shingles of texts that were candidates.
        facts: The fingerprints and names of texts that were candidates.
        boilerplate: What is boilerplate in the groups of the texts; None: that is not known.
        comparisons: The numbers of candidates that were looked at, by what came of it.
    """

    parameters: Parameters
    documents: Documents
    index: HammingIndex
    signatures: LshIndex
    verifier: Verifier
    known: KnownShingles = field(default_factory=KnownShingles)
    facts: KeptFacts = field(default_factory=KeptFacts)
    boilerplate: Boilerplate | None = None
    comparisons: Counter[str] = field(default_factory=Counter)
    _namesakes: list[Namesakes] = field(default_factory=list)
    """Finds texts by their names; empty until a text has too many candidates."""

    def find(self, document: Document, excluded: Collection[int]) -> Evidence:
        """Return the kept texts that a text may repeat, of the first layer that has any.

        Args:
            document: The text, with its signature if it has a fingerprint.
            excluded: The ids of texts that it cannot repeat.
        """
        if document.payload is not None:
            same_bytes = self.find_payload(document.payload, excluded)
            if same_bytes is not None:
                return Evidence(payload=same_bytes)
        equal = self.documents.find_digest(document.digest, excluded)
        if equal is not None:
            return Evidence(text=equal)
        if document.fingerprint is None:
            return Evidence()
        return Evidence(near=self._near(document, document.fingerprint, excluded))

    def find_payload(self, digest: bytes, excluded: Collection[int]) -> int | None:
        """Return the first kept text that was taken from bytes of this digest; None: none was."""
        # Texts of other stores may have been taken from an empty body.
        return None if digest == EMPTY_DIGEST else self.documents.find_payload(digest, excluded)

    def _near(
        self, document: Document, fingerprint: int, excluded: Collection[int]
    ) -> Sequence[NearText]:
        ids = self._candidates(fingerprint, document.signature)
        if not len(ids):
            return ()
        name = unpacked(document.name) if self.parameters.compare_names else NO_NAME
        namesakes: Collection[int] = ()
        if len(ids) > MAX_CANDIDATES:
            of_name = self._ids_of(unpacked(document.name))
            allowed = [number not in excluded for number in of_name.tolist()]
            of_name = of_name[np.array(allowed, np.bool_)]
            if len(of_name) <= MAX_SHARING:  # more name a site, and no page of it
                ids, namesakes = distinct(np.concatenate([ids, of_name])), set(of_name.tolist())
        found = self.facts.siblings(ids, self.documents, fingerprint, name)
        possible = found.possible()
        if namesakes:
            possible.sort(key=lambda match: match.id not in namesakes)
        candidates = Candidates(
            document.text,
            possible,
            self.parameters,
            self.verifier,
            self.known,
            name=document.name,
            others=found.others(),
            excluded=excluded,
            says_other=self._rests_of(document),
        )
        while unread := candidates.unread():
            for match in unread:
                stored = self.documents.name(match.id)
                if candidates.is_needed(match, stored):
                    kept = self.documents.text(match.id)
                    if kept is not None:
                        candidates.compare(match, kept, stored)
        left_out = sum(near.is_left_out for near in candidates.near)
        self.comparisons[COMPARED] += len(candidates.near) - left_out
        self.comparisons[TOLD_APART] += candidates.told_apart
        self.comparisons[LEFT_OUT] += left_out
        return candidates.near

    def note_kept(self, number: int, document: Document) -> None:
        """Take note of a text that is kept from now on."""
        self.facts.forget(number)
        if self._namesakes and document.signature is not None:
            self._namesakes[0].add(number, unpacked(document.name))

    def note_many(self, ids: Sequence[int], names: Sequence[str]) -> None:
        """Take note of signed texts that are kept from now on, and were no candidates before.

        Args:
            ids: Their ids.
            names: What they are called, packed.
        """
        if self._namesakes:
            for number, name in zip(ids, names, strict=True):
                self._namesakes[0].add(number, unpacked(name))

    @property
    def looks_up_names(self) -> bool:
        """Whether texts are looked up by their names, now and from now on."""
        return bool(self._namesakes)

    def look_up_names(self) -> None:
        """Read the names of all signed texts, however many, to look these up by them."""
        ids = self.signatures.ids()
        parts = (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
        facts = (one for part in parts for one in self.documents.facts_of(part.tolist()))
        self._namesakes[:] = [Namesakes(facts)]

    def _ids_of(self, name: Name) -> Ids:
        """Return the ids of texts of a name, also of texts that are not stored: int64, (ids,).

        There are none where more texts than can be read at once are stored by others.
        """
        if not self._namesakes:
            if len(self.signatures) > MAX_NAMED:
                return np.zeros(0, np.int64)
            self.look_up_names()
        return self._namesakes[0].find(name)

    def _rests_of(self, document: Document) -> Callable[[int, str], bool] | None:
        """Return what tells whether a kept text says something else outside boilerplate."""
        boilerplate, parameters = self.boilerplate, self.parameters
        if boilerplate is None or document.group is None or not parameters.ignore_boilerplate:
            return None
        comparison = RestComparison(document.text, boilerplate.blocks(document.group), parameters)

        def says_other(number: int, text: str) -> bool:
            return comparison.says_other_than(text, boilerplate.blocks(boilerplate.group(number)))

        return says_other

    def _candidates(self, fingerprint: int, signature: bytes | None) -> Ids:
        """Return the distinct ids of the candidates of a text, in any order: int64, (ids,)."""
        near = self.index.query_ids(
            fingerprint, self.parameters.max_distance, limit=MAX_CANDIDATES + 1
        )
        if not self.parameters.verify or signature is None:
            return distinct(near)
        least = least_estimate(self.parameters.min_similarity)
        signatures = unpacked_signature(signature)[np.newaxis]
        _, sharing = self.signatures.query_many_ids(
            signatures, min_similarity=least, limit=MAX_SHARING
        )
        if not len(near) and len(sharing) < 2:
            return sharing
        return distinct(np.concatenate([near, sharing]))
