"""Judge analysed rows in their order, as ``neardup.Deduplicator`` does, and say so in tables."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.corpus.digest_table import NONE, DigestTable
from neardup.corpus.spooled_documents import SpooledDocuments
from neardup.deduplicator import Deduplicator
from neardup.document import Document
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.hamming import HammingIndex
from neardup.names import name_of
from neardup.parameters import Parameters
from neardup.storage.signatures import memory_signatures
from neardup.verdict import (
    NEAR_DUPLICATE,
    SAME_TEMPLATE,
    TEXT_DUPLICATE,
    TEXT_TIER,
    TOO_SHORT,
    Verdict,
)
from neardup.whole import part_of

VERDICTS = pa.schema(
    [
        ("text_id", pa.int64()), ("verdict", pa.string()), ("duplicate_of", pa.int64()),
        ("distance", pa.int32()), ("similarity", pa.float64()), ("tier", pa.string()),
        ("resembles", pa.int64()),
    ]
)  # fmt: skip
PAIRS = pa.schema(
    [
        ("first", pa.int64()), ("second", pa.int64()), ("distance", pa.int16()),
        ("similarity", pa.float64()), ("is_other", pa.bool_()),
    ]
)  # fmt: skip

_OF_DOCUMENTS = (
    "id", "name", "source", "position", "title", "date", "words", "is_main", "digest",
    "fingerprint", "sketch0", "sketch1",
)  # fmt: skip
_OF_KEPT = (
    "id", "name", "source", "position", "title", "date", "words", "is_main", "digest",
    "fingerprint",
)  # fmt: skip
_OF_VERDICT = ("verdict", "resembles", "distance", "similarity")
_EMPTY = Verdict(TOO_SHORT)


class _Judged(NamedTuple):
    """The verdict on a text, with the first document that has it; None of an empty text."""

    verdict: Verdict
    text_id: int | None


class BatchJudge:
    """Judges batches of analysed rows against what was kept before.

    Args:
        parameters: The parameters that decide which texts are the same.
        folder: A folder for the kept texts.
    """

    def __init__(self, parameters: Parameters, folder: Path) -> None:
        self._parameters = parameters
        # The first ids of kept texts, and of texts that were dropped as near to one.
        self._kept, self._dropped = DigestTable(), DigestTable()
        with ExitStack() as opened:
            self._documents = SpooledDocuments(folder)
            opened.callback(self._documents.close)
            self._index = opened.enter_context(HammingIndex(radius=parameters.max_distance))
            self._signatures = memory_signatures(parameters.verify_shingle_size)
            opened.callback(self._signatures.close)
            self._deduplicator = opened.enter_context(
                Deduplicator(
                    parameters,
                    documents=self._documents,
                    index=self._index,
                    signatures=self._signatures,
                )
            )
            self._closing = opened.pop_all()

    @property
    def kept(self) -> int:
        """The number of kept texts."""
        return len(self._kept)

    def close(self) -> None:
        self._closing.close()

    def judge(self, rows: Any) -> dict[str, Any]:
        """Return the rows of each table that a batch of ``analysis_pool.ROWS`` makes."""
        judged = self._verdicts(rows)
        columns = list(zip(*(_columns(one) for one in judged), strict=True))
        told = pa.table(
            [pa.array(values, kind) for values, kind in zip(columns, VERDICTS.types, strict=True)],
            schema=VERDICTS,
        )
        table = pa.Table.from_batches([rows])
        for name in VERDICTS.names:
            table = table.append_column(name, told[name])
        is_first = pc.equal(table["text_id"], table["id"]).fill_null(False)
        is_near = pc.and_(is_first, pc.equal(table["verdict"], NEAR_DUPLICATE))
        kept, near = table.filter(_are_kept(table)), table.filter(is_near)
        self._hold(kept, near)
        return {
            "documents": table.select([*_OF_DOCUMENTS, *VERDICTS.names]),
            "signatures": table.filter(pc.is_valid(table["signature"])).select(["id", "signature"]),
            "pairs": _pairs(rows["id"].to_pylist(), judged),
            "kept": kept.select([*_OF_KEPT, *_OF_VERDICT, "text"]),
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
        wanted = self._documents.are_signed(ids)
        values = _bytes(signatures["signature"].filter(pa.array(wanted)))
        if values:
            of_texts = unpacked_signature(values).reshape(int(wanted.sum()), -1)
            self._signatures.add_many(of_texts, ids[wanted])

    def hold_texts(self, kept: Any) -> None:
        """Hold ``id``, ``fingerprint``, ``title``, ``text`` of kept texts."""
        rows = zip(kept["text"].to_pylist(), kept["title"].to_pylist(), strict=True)
        names = [name_of(part_of(text), title or "").packed() for text, title in rows]
        self._documents.end(
            _numbers(kept["id"]),
            _one(kept["fingerprint"]),
            _one(kept["text"]),
            pa.array(names, pa.string()),
        )

    def sort(self) -> None:
        """Make the texts that are held ready to be found; judging goes on behind them."""
        self._documents.sort()

    def _hold(self, kept: Any, near: Any) -> None:
        self._kept.add(_bytes(kept["digest"]), _numbers(kept["id"]))
        self._dropped.add(_bytes(near["digest"]), _numbers(near["id"]))
        self._documents.end(
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
        self._documents.begin(equal)
        found = []
        texts = rows["text"]
        names = rows["packed_name"]
        columns = (rows[name].to_pylist() for name in ("id", "words", "fingerprint", "signature"))
        for place, (number, words, signed, signature) in enumerate(zip(*columns, strict=True)):
            digest = digests[place]
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
                document = Document(
                    words,
                    digest,
                    None if signed is None else signed % (1 << 64),
                    texts[place].as_py(),
                    name=names[place].as_py(),
                    signature=None if signed is None else signature,
                )
                verdict = self._deduplicator.judge_document(number, document)
                if verdict.kind == NEAR_DUPLICATE:
                    first = firsts.setdefault(digest, number)
            found.append(_Judged(verdict, number if first is None else first))
        return found


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
    columns = zip(*rows, strict=True) if rows else [()] * len(PAIRS)
    return pa.table(
        [pa.array(values, kind) for values, kind in zip(columns, PAIRS.types, strict=True)],
        schema=PAIRS,
    )


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
