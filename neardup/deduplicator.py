"""Judge texts one by one: an id and a text in, a verdict out."""

import os
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TypeVar

from neardup.boilerplate import Boilerplate
from neardup.candidates import KnownShingles
from neardup.cascade import Evidence, decide, exact_duplicate, related
from neardup.document import Document, analyse, signed
from neardup.errors import ClosedError, DuplicateIdError, ParameterError
from neardup.evidence import EvidenceSource
from neardup.files.durable import Closing
from neardup.fingerprints.digest import EMPTY_DIGEST, payload_digest, text_digest
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.arrays import checked_id
from neardup.indexes.banding import CANDIDATE_BANDING
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.lsh import LshIndex
from neardup.indexes.passages import PASSAGE_BANDING, SharedPassages
from neardup.names import Name, name_of
from neardup.parameters import DEFAULTS, Parameters
from neardup.parts import PartFinder
from neardup.storage.documents import MeasuredDocuments, MemoryDocuments
from neardup.storage.signatures import check_bands, memory_passages, memory_signatures
from neardup.storage.sqlite import SqliteDocuments, open_directory
from neardup.verdict import TOO_SHORT, Verdict
from neardup.verification import JaccardVerifier, Verifier

_Index = TypeVar("_Index", HammingIndex, LshIndex)


class Deduplicator(Closing):
    """Judges texts one after the other against those that it kept, the cheapest layer first.

    The bytes that a text was taken from, where they are given; the folded text; the SimHash within
    ``max_distance``; and, where candidates are confirmed, the bands of the MinHash signature
    (``neardup.evidence``). The verdict names the tier that decided. Where candidates are confirmed,
    a text that none of these drops is compared with those that share passages with it: it may be a
    part of one, or have some as parts (``neardup.parts``), which its verdict says.

    A text is kept, and later ones are compared with it, when its verdict is no duplicate and it is
    not empty. A duplicate is never kept: verdicts name originals, not chains. No text is lost to
    the index alone: a match whose text is not stored makes no verdict.

    An id stands for one text, be it kept or dropped. When an id is judged again with the same text
    (after a crash, say), a kept one is ``new`` or ``too_short``, whatever it resembles, and nothing
    changes; a dropped one is judged like a new one; with another text it is an error. An id is
    never its own duplicate. A caller that passes ``documents`` ensures this there.

    One owner: neither threads nor processes may share it.

    Files:
        ``path/documents.sqlite``: the kept texts, the truth; ``documents.sqlite-promise`` beside
            it says how many there are at least.
        ``path/index/``: fingerprints; rebuilt from the texts when it is damaged or missing.
        ``path/signatures/``: signatures; likewise. About 245 bytes of memory and 104 of the file a
            text.
        ``path/passages/``: passages; likewise. About 29 bytes of memory and 20 of the file for 16
            words of a text, at most 1,024 times as many.

    Args:
        parameters: The parameters that decide which texts are the same.
        path: A directory, made where there is none; None for memory.
        documents: The kept texts, instead of ``path``. The caller makes them durable and closes it.
        index: Their fingerprints. The caller keeps it in step with them and closes it.
        signatures: Their signatures, likewise.
        passages: Their passages, likewise. None: no parts are looked for among them.
        verifier: The measure that confirms candidates; None: ``JaccardVerifier``.
        boilerplate: What is boilerplate in the groups of the texts, which the caller counts; None:
            all of a text is compared.

    Raises:
        ParameterError: ``path`` together with ``documents``, ``index``, ``signatures`` or
            ``passages``, an index of a smaller radius than is asked of it, signatures or passages
            in other bands, or a verifier although ``verify`` is off.
        DocumentsFileError: The texts of ``path`` are damaged, foreign, of other features or open
            in another process.
        IndexLockedError: The index of ``path`` is open in another process.
    """

    def __init__(  # noqa: PLR0913  (the texts, and all that finds and measures them)
        self,
        parameters: Parameters = DEFAULTS,
        path: str | os.PathLike[str] | None = None,
        *,
        documents: MeasuredDocuments | None = None,
        index: HammingIndex | None = None,
        signatures: LshIndex | None = None,
        passages: LshIndex | None = None,
        verifier: Verifier | None = None,
        boilerplate: Boilerplate | None = None,
    ) -> None:
        if not isinstance(parameters, Parameters):
            raise ParameterError(
                f"parameters must be Parameters, got {parameters!r}; a folder goes to path="
            )
        others = (documents, index, signatures, passages)
        if path is not None and any(one is not None for one in others):
            raise ParameterError(
                "path excludes documents, index, signatures and passages; leave those out"
            )
        if verifier is not None and not parameters.verify:
            raise ParameterError("verify=False lets the distance decide alone; leave out verifier")
        radius = parameters.max_distance
        if index is not None and index.radius < radius:
            raise ParameterError(f"index.radius must be at least {radius}, got {index.radius}")
        check_bands("signatures", signatures, CANDIDATE_BANDING)
        check_bands("passages", passages, PASSAGE_BANDING)
        self._parameters = parameters
        self._closed = False
        self._owned: list[HammingIndex | LshIndex] = []
        # The store that is ours to flush and to close; None where the texts live elsewhere.
        self._store: MemoryDocuments | SqliteDocuments | None = None
        if path is not None:
            documents, index, signatures, passages = open_directory(path, parameters)
            self._store = documents
            self._owned = [index, signatures, passages]
        elif documents is None:
            documents = self._store = MemoryDocuments()
            if passages is None:
                passages = self._own(memory_passages(parameters.verify_shingle_size))
        self._documents: MeasuredDocuments = documents
        self._index = self._own(HammingIndex(radius=radius)) if index is None else index
        if signatures is None:
            signatures = self._own(memory_signatures(parameters.verify_shingle_size))
        self._signatures, self._passages = signatures, passages
        measure = verifier or JaccardVerifier(parameters.verify_shingle_size)
        self._source = EvidenceSource(
            parameters, documents, self._index, signatures, measure, boilerplate=boilerplate
        )
        self._parts: PartFinder | None = None
        self._outdated: set[int] = set()
        if passages is not None:
            # Another verifier may count other shingles.
            known = self._source.known if verifier is None else KnownShingles()
            of_texts = (parameters, documents, passages, known, boilerplate)
            self._parts = PartFinder(*of_texts, self._outdated)
        self._check_parts(parameters)

    def _own(self, index: _Index) -> _Index:
        """Return an index that is closed together with this."""
        self._owned.append(index)
        return index

    def __len__(self) -> int:
        """Return the number of fingerprints that a text is compared with."""
        return len(self._index)

    @property
    def parameters(self) -> Parameters:
        """The parameters that decide which texts are the same; :meth:`tune` changes them."""
        return self._parameters

    @property
    def comparisons(self) -> Mapping[str, int]:
        """The numbers of candidates by what came of them (``neardup.evidence``), a live view."""
        return self._source.comparisons

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
        self._check_open()
        self._check_tunable(parameters)
        self._check_parts(parameters)
        self._index.radius = parameters.max_distance
        self._parameters = parameters
        self._source = replace(self._source, parameters=parameters)
        if self._parts is not None:
            self._parts = replace(self._parts, parameters=parameters)

    def _check_parts(self, parameters: Parameters) -> None:
        if parameters.drop_contained and self._parts is None:
            raise ParameterError("drop_contained needs the passages of documents: pass passages=")

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
        title: str | None = None,
        name: Name | None = None,
        payload: bytes | None = None,
        exclude: Collection[int] = (),
    ) -> Verdict:
        """Decide whether a text repeats a kept one, and keep it where it does not.

        Args:
            id: 0..2**63-1, the name of this text in later verdicts.
            text: Any text; an empty one is too short, never a duplicate and never kept.
            title: The title of the text, such as ``Widget | Shop``. Near texts whose titles differ
                in more than what a site adds are both kept (``neardup.names``).
            name: All that the text is called (``neardup.names.name_of``), instead of ``title``.
                Without both, its first lines say it.
            payload: The bytes that the text was taken from, such as the body of an answer. Where a
                kept text was taken from the same bytes, nothing else is looked at. None and no
                bytes say nothing.
            exclude: Ids that this text cannot repeat, such as earlier captures of the same page.

        Raises:
            ParameterError: Both ``title`` and ``name``, or a title that is no text.
            DuplicateIdError: The id was judged with another text.
            DocumentError: The id is out of range.
            StorageError: The texts or the index cannot be read or written.
            OSError: The disk is full, or the like. The text is not kept; judge it again.
            ClosedError: Used after ``close``.

        Complexity: O(length), one query of each index, and O(length of both texts) for each
        candidate until one is confirmed. The 1,000 nearest candidates are compared, up to
        16,000,000 characters (``neardup.candidates``); the verdict says how many are left out.
        """
        if title is not None:
            if name is not None:
                raise ParameterError("name has the title; pass the one or the other")
            name = name_of(text, title)
        if not payload:
            return self.judge_document(id, analyse(text, self._parameters, name), exclude=exclude)
        digest = payload_digest(payload)
        number = checked_id(id)
        known = self.find_payload(digest, exclude={number, *exclude})
        if known is not None and not self._is_stored(number):
            if self._store is not None:
                digest_of_text = text_digest(text)
                self._check_dropped(number, digest_of_text)
                self._store.drop(number, digest_of_text)
            return known
        document = replace(analyse(text, self._parameters, name), payload=digest)
        return self.judge_document(number, document, exclude=exclude)

    def find_payload(self, digest: bytes, *, exclude: Collection[int] = ()) -> Verdict | None:
        """Return the verdict on a text from bytes with this ``payload_digest``, if they are known.

        This is the cheapest layer, to be asked before there is a text. The digest of no bytes
        is never known.

        Raises:
            StorageError: The texts cannot be read.
            ClosedError: Used after ``close``.
        """
        self._check_open()
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
        self._check_open()
        number, document = checked_id(id), self._checked(document)
        if self._is_kept(number, document):
            return decide(document.words, Evidence(), self._parameters)
        if document.digest == EMPTY_DIGEST:
            if self._store is not None:
                self._store.drop(number, document.digest)
            return Verdict(TOO_SHORT)
        document = signed(document, self._parameters, with_sample=self._parts is not None)
        self._outdated.update(exclude if document.sample else ())
        evidence = self._source.find(document, {number, *exclude})
        verdict, shared = decide(document.words, evidence, self._parameters), None
        may_be_part = document.sample is not None and self._parameters.verify
        if self._parts is not None and may_be_part and not verdict.is_duplicate:
            relations, shared = self._parts.find(document, {number, *exclude})
            verdict = related(verdict, relations, self._parameters)
        if not verdict.is_duplicate:
            self._keep(number, document, shared)
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
        self._check_open()
        number, document = checked_id(id), self._checked(document)
        if document.digest != EMPTY_DIGEST and not self._is_kept(number, document):
            has_parts = self._parts is not None
            self._keep(number, signed(document, self._parameters, with_sample=has_parts))

    def forget(self, id: int) -> None:  # noqa: A002  (the field's word)
        """Compare no later text with a kept one that its owner takes out of ``documents``.

        Raises:
            ParameterError: The texts are no caller's, who could take one out.
            DocumentError: The id is out of range.
            ClosedError: Used after ``close``.

        Complexity: O(n), 1 ms a million fingerprints.
        """
        self._check_open()
        if self._store is not None:
            raise ParameterError("forget() needs a store of the caller: pass documents=")
        self._index.delete(number := checked_id(id))
        self._source.facts.forget(number)
        self._outdated.add(number)

    def _keep(self, number: int, document: Document, shared: SharedPassages | None = None) -> None:
        self._source.note_kept(number, document)
        # In this order: what the index holds alone makes no verdict, and what is stored counts as
        # kept, so it would never be added again after a disk that was full.
        if document.fingerprint is not None:
            self._index.add(document.fingerprint, number)
        if document.signature is not None:
            self._signatures.add(unpacked_signature(document.signature), number)
        if document.sample and self._parts is not None:
            self._parts.add(number, document, shared)
        self._documents.add(number, document)

    def flush(self) -> None:
        """Make durable what was kept so far: the texts first, then what finds them.

        Texts that live in ``documents`` are to be made durable by their owner before.
        """
        self._check_open()
        if self._store is not None:
            self._store.flush()
        self._index.flush()
        self._signatures.flush()
        if self._passages is not None:
            self._passages.flush()

    def close(self) -> None:
        """Flush and close what was opened here; closing twice does no harm."""
        if self._closed:
            return
        self._closed = True
        with ExitStack() as closing:
            for index in self._owned:
                closing.callback(index.close)
            if self._store is not None:
                self._store.close()

    def _checked(self, document: Document) -> Document:
        if document.words < self._parameters.min_words:
            # It may have been analysed with a lower min_words; such a fingerprint misleads.
            return replace(document, fingerprint=None, signature=None, sample=None)
        return document

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the deduplicator was closed")

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
