"""Judge texts one by one: an id and a text in, a verdict out."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from neardup.candidates import MAX_CANDIDATES, Bitmaps, Candidates
from neardup.cascade import Evidence, NearText, decide, exact_duplicate
from neardup.document import Document, analyse
from neardup.errors import ClosedError, DuplicateIdError, ParameterError
from neardup.fingerprints.digest import EMPTY_DIGEST, payload_digest, text_digest
from neardup.indexes.arrays import checked_id
from neardup.indexes.hamming import HammingIndex
from neardup.parameters import DEFAULTS, Parameters
from neardup.storage.documents import Documents, MemoryDocuments
from neardup.storage.sqlite import SqliteDocuments, open_directory
from neardup.verdict import TOO_SHORT, Verdict
from neardup.verification import JaccardVerifier, Verifier


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Looks for kept texts layer by layer, and keeps nothing.

    Attributes:
        parameters: The parameters that decide which texts are the same.
        documents: The kept texts, the truth.
        index: Their fingerprints. It may know what is not stored: that is no evidence.
        verifier: The measure that confirms candidates.
        bitmaps: The bitmaps of texts that were candidates.
    """

    parameters: Parameters
    documents: Documents
    index: HammingIndex
    verifier: Verifier
    bitmaps: Bitmaps = field(default_factory=Bitmaps)

    def find(self, document: Document, excluded: Collection[int]) -> Evidence:
        """Return the kept texts that a text may repeat, of the first layer that has any."""
        if document.payload is not None:
            same_bytes = self.find_payload(document.payload, excluded)
            if same_bytes is not None:
                return Evidence(payload=same_bytes)
        equal = self.documents.find_digest(document.digest, excluded)
        if equal is not None:
            return Evidence(text=equal)
        if document.fingerprint is None:
            return Evidence()
        return Evidence(near=self._near(document.text, document.fingerprint, excluded))

    def find_payload(self, digest: bytes, excluded: Collection[int]) -> int | None:
        """Return the first kept text that was taken from bytes of this digest; None: none was."""
        # Texts of other stores may have been taken from an empty body.
        return None if digest == EMPTY_DIGEST else self.documents.find_payload(digest, excluded)

    def _near(self, text: str, fingerprint: int, excluded: Collection[int]) -> Sequence[NearText]:
        matches = self.index.query(fingerprint, limit=MAX_CANDIDATES + 1)
        if not matches:
            return ()
        candidates = Candidates(
            text, matches, self.parameters, self.verifier, self.bitmaps, excluded=excluded
        )
        while unread := candidates.unread():
            for match in unread:
                kept = self.documents.text(match.id)
                if kept is not None:
                    candidates.compare(match, kept)
        return candidates.near


class Deduplicator:
    """Judges texts one after the other against those that it kept, the cheapest layer first.

    The bytes that a text was taken from, where they are given; the folded text; the SimHash within
    ``max_distance``; and, where candidates are confirmed, the SimHash out to
    ``candidate_distance``. The verdict names the tier that decided.

    A text is kept, and later ones are compared with it, when its verdict is no duplicate and it is
    not empty. A duplicate is never kept: verdicts name originals, not chains. No text is lost to
    the index alone: a match whose text is not stored makes no verdict.

    An id stands for one text, be it kept or dropped. When an id is judged again with the same text
    (after a crash, say), a kept one gets its verdict again and nothing changes, and a dropped one
    is judged like a new one; with another text it is an error. An id is never its own duplicate. A
    caller that passes ``documents`` ensures this there.

    One owner: neither threads nor processes may share it.

    Files:
        ``path/documents.sqlite``: the kept texts, the truth; ``documents.sqlite-promise`` beside
            it says how many there are at least.
        ``path/index/``: fingerprints; rebuilt from the texts when it is damaged or missing.

    Args:
        parameters: The parameters that decide which texts are the same.
        path: A directory, made where there is none; None for memory.
        documents: The store of kept texts, instead of ``path``. The caller makes it durable and
            closes it.
        index: The fingerprints of ``documents``, instead of ``path``. The caller keeps it in step
            with ``documents`` and closes it.
        verifier: The measure that confirms candidates; None: the Jaccard similarity of word
            shingles of ``verify_shingle_size``.

    Raises:
        ParameterError: ``path`` together with ``documents`` or ``index``, an index of a smaller
            radius than is asked of it, or a verifier although ``verify`` is off.
        DocumentsFileError: The texts of ``path`` are damaged, foreign, of other features or open
            in another process.
        IndexLockedError: The index of ``path`` is open in another process.
    """

    def __init__(
        self,
        parameters: Parameters = DEFAULTS,
        path: str | os.PathLike[str] | None = None,
        *,
        documents: Documents | None = None,
        index: HammingIndex | None = None,
        verifier: Verifier | None = None,
    ) -> None:
        if not isinstance(parameters, Parameters):
            raise ParameterError(
                f"parameters must be Parameters, got {parameters!r}; a folder goes to path="
            )
        if path is not None and (documents is not None or index is not None):
            raise ParameterError("path excludes documents and index; pass the one or the other")
        if verifier is not None and not parameters.verify:
            raise ParameterError("verify=False lets the distance decide alone; leave out verifier")
        radius = parameters.radius
        if index is not None and index.radius < radius:
            raise ParameterError(f"index.radius must be at least {radius}, got {index.radius}")
        self._parameters = parameters
        self._closed = False
        self._owns_index = index is None
        # The store that is ours to flush and to close; None where the texts live elsewhere.
        self._store: MemoryDocuments | SqliteDocuments | None = None
        if path is not None:
            documents, index = open_directory(path, parameters)
            self._store = documents
        elif documents is None:
            documents = self._store = MemoryDocuments()
        self._documents: Documents = documents
        self._index = HammingIndex(radius=radius) if index is None else index
        verifier = verifier or JaccardVerifier(parameters.verify_shingle_size)
        self._source = EvidenceSource(parameters, documents, self._index, verifier)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of fingerprints that a text is compared with."""
        return len(self._index)

    @property
    def parameters(self) -> Parameters:
        """The parameters that decide which texts are the same; :meth:`tune` changes them."""
        return self._parameters

    def tune(self, parameters: Parameters) -> None:
        """Judge by other parameters from now on, and look as far as they want in the index.

        Verdicts given before stay as they are, and so does what was kept: a text that had fewer
        than ``min_words`` words then goes on being compared by equality alone.

        Args:
            parameters: Parameters of the same features, and the same ``verify_shingle_size``.

        Raises:
            ParameterError: They are not, or ``min_words`` changes while the texts live in ``path``,
                which must have been opened with it.
            ClosedError: Used after ``close``.
        """
        if self._closed:
            raise ClosedError("the deduplicator was closed")
        self._check_tunable(parameters)
        self._index.radius = parameters.radius
        self._parameters = parameters
        self._source = replace(self._source, parameters=parameters)

    def _check_tunable(self, parameters: Parameters) -> None:
        fixed = ["fingerprint_features", "verify_shingle_size"]
        if not isinstance(self._store, MemoryDocuments | None):
            fixed.append("min_words")
        for name in fixed:
            stored, wanted = getattr(self._parameters, name), getattr(parameters, name)
            if stored != wanted:
                raise ParameterError(f"{name} must stay {stored}, got {wanted}; open another one")

    def judge(
        self,
        id: int,  # noqa: A002  (the field's word)
        text: str,
        *,
        payload: bytes | None = None,
        exclude: Collection[int] = (),
    ) -> Verdict:
        """Decide whether a text repeats a kept one, and keep it where it does not.

        Args:
            id: 0..2**63-1, the name of this text in later verdicts.
            text: Any text; an empty one is too short, never a duplicate and never kept.
            payload: The bytes that the text was taken from, such as the body of an answer. Where a
                kept text was taken from the same bytes, nothing else is looked at. None and no
                bytes say nothing.
            exclude: Ids that this text cannot repeat, such as earlier captures of the same page.

        Raises:
            DuplicateIdError: The id was judged with another text.
            DocumentError: The id is out of range.
            StorageError: The texts or the index cannot be read or written.
            OSError: The disk is full, or the like. The text is not kept; judge it again.
            ClosedError: Used after ``close``.

        Complexity: O(length), one query of the index, and O(length of both texts) for each
        candidate until one is confirmed. The 1,000 nearest candidates are compared, up to
        16,000,000 characters (``neardup.candidates``); the verdict says how many are left out.
        """
        if not payload:
            return self.judge_document(id, analyse(text, self._parameters), exclude=exclude)
        digest = payload_digest(payload)
        number = checked_id(id)
        known = self.find_payload(digest, exclude={number, *exclude})
        if known is not None and not self._is_stored(number):
            if self._store is not None:
                digest_of_text = text_digest(text)
                self._check_dropped(number, digest_of_text)
                self._store.drop(number, digest_of_text)
            return known
        document = replace(analyse(text, self._parameters), payload=digest)
        return self.judge_document(number, document, exclude=exclude)

    def find_payload(self, digest: bytes, *, exclude: Collection[int] = ()) -> Verdict | None:
        """Return the verdict on a text from bytes with this ``payload_digest``, if they are known.

        This is the cheapest layer, to be asked before there is a text. The digest of no bytes
        is never known.

        Raises:
            StorageError: The texts cannot be read.
            ClosedError: Used after ``close``.
        """
        if self._closed:
            raise ClosedError("the deduplicator was closed")
        original = self._source.find_payload(digest, exclude)
        return None if original is None else exact_duplicate(original)

    def judge_document(
        self,
        id: int,  # noqa: A002  (the field's word)
        document: Document,
        *,
        exclude: Collection[int] = (),
    ) -> Verdict:
        """Judge a text that was analysed before with the same parameters, as ``judge`` does.

        A document without a fingerprint is compared by equality alone, however long it is. What
        ``judge`` raises, this raises too.
        """
        if self._closed:
            raise ClosedError("the deduplicator was closed")
        number, document = checked_id(id), self._checked(document)
        if self._is_kept(number, document):
            return decide(document.words, Evidence(), self._parameters)
        if document.digest == EMPTY_DIGEST:
            if self._store is not None:
                self._store.drop(number, document.digest)
            return Verdict(TOO_SHORT)
        evidence = self._source.find(document, {number, *exclude})
        verdict = decide(document.words, evidence, self._parameters)
        if not verdict.is_duplicate:
            self._keep(number, document)
        elif self._store is not None:
            self._store.drop(number, document.digest)
        return verdict

    def add_document(self, id: int, document: Document) -> None:  # noqa: A002  (the field's word)
        """Keep a document without asking, so that later texts are compared with it.

        This serves a page that goes on being kept although its text changed.

        Raises:
            DuplicateIdError: The id was judged with another text.
            DocumentError: The id is out of range.
            ClosedError: Used after ``close``.
        """
        if self._closed:
            raise ClosedError("the deduplicator was closed")
        number, document = checked_id(id), self._checked(document)
        if document.digest != EMPTY_DIGEST and not self._is_kept(number, document):
            self._keep(number, document)

    def _keep(self, number: int, document: Document) -> None:
        # In this order: what the index holds alone makes no verdict, and what is stored counts as
        # kept, so it would never be added again after a disk that was full.
        if document.fingerprint is not None:
            self._index.add(document.fingerprint, number)
        self._documents.add(number, document)

    def flush(self) -> None:
        """Make durable what was kept so far: the texts first, then their fingerprints.

        Texts that live in ``documents`` are to be made durable by their owner before.
        """
        if self._closed:
            raise ClosedError("the deduplicator was closed")
        if self._store is not None:
            self._store.flush()
        self._index.flush()

    def close(self) -> None:
        """Flush and close what was opened here; closing twice does no harm."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._store is not None:
                self._store.close()
        finally:
            if self._owns_index:
                self._index.close()

    def _checked(self, document: Document) -> Document:
        if document.words < self._parameters.min_words:
            # It may have been analysed with a lower min_words; such a fingerprint misleads.
            return replace(document, fingerprint=None)
        return document

    def _is_stored(self, number: int) -> bool:
        return self._store is not None and self._store.digest(number) is not None

    def _is_kept(self, number: int, document: Document) -> bool:
        stored = None if self._store is None else self._store.digest(number)
        if stored is None:
            self._check_dropped(number, document.digest)
        elif stored != document.digest:
            raise DuplicateIdError(f"id {number} is kept with another text; give each text its id")
        return stored is not None

    def _check_dropped(self, number: int, digest: bytes) -> None:
        stored = None if self._store is None else self._store.dropped_digest(number)
        if stored not in (None, digest):
            raise DuplicateIdError(
                f"id {number} was judged with another text; give each text its id"
            )
