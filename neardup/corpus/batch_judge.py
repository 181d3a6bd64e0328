"""Judge analysed rows in their order, as ``neardup.Deduplicator`` does, and say so in tables."""

from collections.abc import Container, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.batch.analysing import schema_of
from neardup.batch.output_tables import KEPT_COLUMNS, OF_PAGE, PAIRS
from neardup.batch.schemes import WORDS
from neardup.cascade import decide
from neardup.corpus.spooled_documents import NONE, DigestTable, SpooledDocuments
from neardup.document import Document
from neardup.evidence import MAX_NAMED, EvidenceSource
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.arrays import Fingerprints, Ids, Signatures
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS, least_estimate
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.lsh import LshIndex
from neardup.names import name_of
from neardup.parameters import Parameters
from neardup.storage.signatures import memory_signatures
from neardup.verdict import (
    NEAR_DUPLICATE,
    NEW,
    SAME_TEMPLATE,
    TEXT_DUPLICATE,
    TEXT_TIER,
    TOO_SHORT,
    Verdict,
)
from neardup.verification import JaccardVerifier
from neardup.whole import part_of

VERDICTS = schema_of(
    "text_id long, verdict string, duplicate_of long, distance int, similarity double, "
    "tier string, resembles long"
)
_PAIRS = schema_of(PAIRS)

_OF_DOCUMENT = ("words", "digest", "fingerprint", "text", "packed_name", "signature")
_EMPTY, _NEW = Verdict(TOO_SHORT), Verdict(NEW)
_END_ID = (1 << 63) - 1  # larger than the number of any text
_LOOKED_AT = 16  # candidates of a text by which it is told whether it may have similar ones


class _Judged(NamedTuple):
    """The verdict on a text, with the first document that has it; None of an empty text."""

    verdict: Verdict
    text_id: int | None


class _Signed(NamedTuple):
    """The texts of a batch that have a fingerprint, in order.

    Attributes:
        places: int64, (texts,): their places in the batch.
        ids: int64, (texts,).
        fingerprints: uint64, (texts,).
        signatures: uint32, (texts, permutations).
    """

    places: NDArray[np.int64]
    ids: Ids
    fingerprints: Fingerprints
    signatures: Signatures

    def those(self, wanted: NDArray[np.bool_]) -> "_Signed":
        return _Signed._make(column[wanted] for column in self)


class BatchJudge:
    """Judges batches of analysed rows against what was kept before.

    A text that nothing kept and no text before it in its batch may be near to is new whatever else
    the batch holds. Such texts, which most are, are looked up and kept all at once; each of the
    others then finds those before it alone, as if all had been judged one after the other.

    Args:
        parameters: The parameters that decide which texts are the same.
        folder: A folder for the kept texts.

    Attributes:
        documents: The kept texts; to be sorted when those are held that were kept before.
        source: Finds the kept texts that a text may repeat, by their names too where one had too
            many candidates, or where the judge of those that were kept before did so.
    """

    def __init__(self, parameters: Parameters, folder: Path) -> None:
        self._parameters = parameters
        # The first ids of kept texts, and of texts that were dropped as near to one.
        self._kept, self._dropped = DigestTable(), DigestTable()
        with ExitStack() as opened:
            self.documents = SpooledDocuments(folder)
            opened.callback(self.documents.close)
            self._index = opened.enter_context(HammingIndex(radius=parameters.max_distance))
            self._signatures = memory_signatures(parameters.verify_shingle_size)
            opened.callback(self._signatures.close)
            self.source = EvidenceSource(
                parameters,
                self.documents,
                self._index,
                self._signatures,
                JaccardVerifier(parameters.verify_shingle_size),
            )
            self._closing = opened.pop_all()

    @property
    def kept(self) -> int:
        """The number of kept texts."""
        return len(self._kept)

    def close(self) -> None:
        self._closing.close()

    def judge(self, rows: Any) -> dict[str, Any]:
        """Return the rows of each table that a batch of ``analysing.ROWS`` makes."""
        judged = self._verdicts(rows)
        told = _table(list(map(_columns, judged)), VERDICTS)
        table = pa.Table.from_batches([rows])
        for name in VERDICTS.names:
            table = table.append_column(name, told[name])
        is_first = pc.equal(table["text_id"], table["id"]).fill_null(False)
        is_near = pc.and_(is_first, pc.equal(table["verdict"], NEAR_DUPLICATE))
        kept, near = table.filter(_are_kept(table)), table.filter(is_near)
        self._hold(kept, near)
        return {
            "documents": table.select([*OF_PAGE, *WORDS, *VERDICTS.names]),
            "signatures": table.select(["id", "signature"]).drop_null(),
            "pairs": _pairs(rows["id"].to_pylist(), judged),
            "kept": kept.select(list(KEPT_COLUMNS)),
            "near_texts": near.select(["id", "text", "title"]),
        }

    def hold_documents(self, documents: Any) -> None:
        """Hold what was judged before, but for its texts.

        Args:
            documents: ``id``, ``text_id``, ``digest``, ``fingerprint``, ``verdict``,
                ``duplicate_of``.
        """
        is_first = pc.equal(documents["text_id"], documents["id"]).fill_null(False)
        near = documents.filter(pc.and_(is_first, pc.equal(documents["verdict"], NEAR_DUPLICATE)))
        self._dropped.add(_bytes(near["digest"]), _numbers(near["id"]))
        kept = documents.filter(_are_kept(documents))
        self._kept.add(_bytes(kept["digest"]), _numbers(kept["id"]))
        signed = kept.filter(pc.is_valid(kept["fingerprint"]))
        fingerprints = _numbers(signed["fingerprint"]).view(np.uint64)
        self._index.add_many(fingerprints, _numbers(signed["id"]))

    def hold_signatures(self, signatures: Any) -> None:
        """Hold ``id``, ``signature`` of those texts that are kept, once all texts are held."""
        ids = _numbers(signatures["id"])
        wanted = self.documents.are_signed(ids)
        values = _bytes(signatures["signature"].filter(pa.array(wanted)))
        if values:
            of_texts = unpacked_signature(values).reshape(int(wanted.sum()), -1)
            self._signatures.add_many(of_texts, ids[wanted])

    def hold_texts(self, kept: Any) -> None:
        """Hold ``id``, ``fingerprint``, ``title``, ``text`` of kept texts."""
        rows = zip(kept["text"].to_pylist(), kept["title"].to_pylist(), strict=True)
        names = [name_of(part_of(text), title or "").packed() for text, title in rows]
        self.documents.end(
            _numbers(kept["id"]),
            _one(kept["fingerprint"]),
            _one(kept["text"]),
            pa.array(names, pa.string()),
        )

    def _hold(self, kept: Any, near: Any) -> None:
        self._kept.add(_bytes(kept["digest"]), _numbers(kept["id"]))
        self._dropped.add(_bytes(near["digest"]), _numbers(near["id"]))
        self.documents.end(
            _numbers(kept["id"]),
            _one(kept["fingerprint"]),
            _one(kept["text"]),
            _one(kept["packed_name"]),
        )

    def _verdicts(self, rows: Any) -> list[_Judged]:
        digests = rows["digest"].to_pylist()
        joined = b"".join(digests)
        equal = _known(self._kept, digests, joined)
        firsts = _known(self._dropped, digests, joined)
        self.documents.begin(rows, equal)
        new = self._keep_new(rows, digests, firsts)
        found = []
        documents = _documents(rows.filter(pa.array(~new)))
        for number, digest, is_new in zip(rows["id"].to_pylist(), digests, new, strict=True):
            if is_new:
                found.append(_Judged(_NEW, number))
                continue
            document = next(documents)
            if digest == EMPTY_DIGEST:
                found.append(_Judged(_EMPTY, None))
                continue
            first = firsts.get(digest)
            if (original := equal.get(digest)) is not None:
                verdict = Verdict(
                    TEXT_DUPLICATE, original, distance=0, similarity=1.0, tier=TEXT_TIER
                )
                first = original if first is None else min(first, original)
            else:
                verdict = self._verdict(number, document)
                if verdict.kind == NEAR_DUPLICATE:
                    first = firsts.setdefault(digest, number)
            found.append(_Judged(verdict, number if first is None else first))
        return found

    def _verdict(self, number: int, document: Document) -> Verdict:
        """Return the verdict on a text, and keep it where it repeats none."""
        # Those behind it that are new are kept already.
        evidence = self.source.find(document, range(number, _END_ID))
        verdict = decide(document.words, evidence, self._parameters)
        if not verdict.is_duplicate:
            self.source.note_kept(number, document)
            if document.fingerprint is not None:
                self._index.add(document.fingerprint, number)
            if document.signature is not None:
                self._signatures.add(unpacked_signature(document.signature), number)
            self.documents.add(number, document)
        return verdict

    def _keep_new(
        self, rows: Any, digests: list[bytes], known: Container[bytes]
    ) -> NDArray[np.bool_]:
        """Keep the texts that have no candidate, and return which ones they are: bool, (rows,)."""
        found: NDArray[np.bool_] = np.zeros(len(digests), np.bool_)
        signed = _signed(rows)
        count = len(self._signatures)
        if not len(signed.ids) or count <= MAX_NAMED < count + len(signed.ids):
            # From so many texts on names are not looked up: each is to find the texts before it.
            return found
        firsts: dict[bytes, int] = {}
        for place, digest in enumerate(digests):
            firsts.setdefault(digest, place)
        are_first = [
            firsts[digests[place]] == place
            and digests[place] not in known
            and self.documents.find_digest(digests[place]) is None
            for place in signed.places.tolist()
        ]
        new = signed.those(np.array(are_first, np.bool_) & ~self._have_candidates(signed))
        self._index.add_many(new.fingerprints, new.ids)
        self._signatures.add_many(new.signatures, new.ids)
        places = new.places.tolist()
        if places:
            names = rows["packed_name"]
            self.source.note_many(new.ids.tolist(), names.take(pa.array(places)).to_pylist())
        self.documents.add_many(new.ids.tolist(), [digests[place] for place in places])
        found[new.places] = True
        return found

    def _have_candidates(self, signed: _Signed) -> NDArray[np.bool_]:
        """Return which texts may have candidates, kept or before them in the batch: bool, (texts,).

        Complexity: O(texts**2) for those of a batch, a microsecond a text.
        """
        fingerprints, radius = signed.fingerprints, self._parameters.max_distance
        distances = np.bitwise_count(fingerprints[:, np.newaxis] ^ fingerprints)
        found: NDArray[np.bool_] = np.tril(distances <= radius, -1).any(axis=1)
        found[self._index.query_many(fingerprints, limit=1).positions] = True
        if self._parameters.verify:
            with memory_signatures(self._parameters.verify_shingle_size) as batch:
                batch.add_many(signed.signatures, signed.ids)
                for index in (self._signatures, batch):
                    found |= _have_similar(signed, index, self._parameters.min_similarity)
        return found


def _have_similar(signed: _Signed, index: LshIndex, min_similarity: float) -> NDArray[np.bool_]:
    """Return which texts may be similar to one before them that an index holds: bool, (texts,)."""
    positions, ids, similarities = index.query_many(signed.signatures, limit=_LOOKED_AT)
    # Of those that have more candidates, others than these may be similar.
    found: NDArray[np.bool_] = np.bincount(positions, minlength=len(signed.ids)) >= _LOOKED_AT
    is_similar = similarities >= least_estimate(min_similarity)
    found[positions[is_similar & (ids < signed.ids[positions])]] = True
    return found


def _signed(rows: Any) -> _Signed:
    is_signed = pc.is_valid(rows["fingerprint"])
    kept = rows.select(["id", "fingerprint", "signature"]).filter(is_signed)
    signatures = unpacked_signature(_bytes(kept["signature"]))
    return _Signed(
        np.flatnonzero(is_signed.to_numpy(zero_copy_only=False)),
        _numbers(kept["id"]),
        _numbers(kept["fingerprint"]).view(np.uint64),
        signatures.reshape(-1, CANDIDATE_PERMUTATIONS),
    )


def _documents(rows: Any) -> Iterator[Document]:
    columns = [rows[name].to_pylist() for name in _OF_DOCUMENT]
    for words, digest, signed, text, name, signature in zip(*columns, strict=True):
        fingerprint = None if signed is None else signed % (1 << 64)
        # The signature of a text without a fingerprint is of no use here.
        of_signed = None if signed is None else signature
        yield Document(words, digest, fingerprint, text, name=name, signature=of_signed)


def _are_kept(documents: Any) -> Any:
    return pc.and_(pc.is_null(documents["duplicate_of"]), pc.is_valid(documents["text_id"]))


def _columns(judged: _Judged) -> tuple[Any, ...]:
    verdict = judged.verdict
    return (
        judged.text_id, verdict.kind, verdict.duplicate_of, verdict.distance,
        verdict.similarity, verdict.tier, verdict.resembles,
    )  # fmt: skip


def _pairs(ids: list[int], judged: list[_Judged]) -> Any:
    """Return the pairs of different texts that decided."""
    rows = []
    for number, (verdict, text_id) in zip(ids, judged, strict=True):
        if text_id == number and verdict.kind in {NEAR_DUPLICATE, SAME_TEMPLATE}:
            is_other = verdict.kind == SAME_TEMPLATE
            first = verdict.resembles if is_other else verdict.duplicate_of
            rows.append((first, number, verdict.distance, verdict.similarity, is_other))
    return _table(rows, _PAIRS)


def _table(rows: list[tuple[Any, ...]], schema: Any) -> Any:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, schema.types, strict=True)]
    return pa.table(arrays, schema=schema)


def _known(table: DigestTable, digests: list[bytes], joined: bytes) -> dict[bytes, int]:
    found = table.find(joined)
    return {digests[place]: int(found[place]) for place in np.flatnonzero(found != NONE).tolist()}


def _one(column: Any) -> Any:
    """Return a column in one piece."""
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def _numbers(column: Any) -> Any:
    return column.to_numpy()


def _bytes(column: Any) -> bytes:
    return b"".join(column.to_pylist())
