"""Near-duplicate texts: fingerprints, an index of them, and one door that judges texts.

>>> from neardup import Deduplicator
>>> deduplicator = Deduplicator()
>>> page = " ".join(f"word{number}" for number in range(400))
>>> deduplicator.judge(1, page).kind
'new'
>>> deduplicator.judge(2, page.upper()).kind
'text_duplicate'
>>> verdict = deduplicator.judge(3, page + " seen today")
>>> verdict.kind, verdict.duplicate_of, verdict.distance <= 3
('near_duplicate', 1, True)
"""

from neardup.bloom import BloomFilter, ScalableBloomFilter
from neardup.deduplicator import Deduplicator
from neardup.document import Document, analyse
from neardup.errors import (
    ClosedError,
    DocumentError,
    DocumentsFileError,
    DuplicateIdError,
    FingerprintError,
    IndexFileError,
    IndexLockedError,
    NearDupError,
    ParameterError,
    StorageError,
)
from neardup.features.folding import fold
from neardup.features.tokens import tokens
from neardup.fingerprints.digest import payload_digest, text_digest
from neardup.fingerprints.simhash import hamming, simhash, simhash_weighted
from neardup.indexes.hamming import HammingIndex
from neardup.indexes.match import Match
from neardup.parameters import Parameters
from neardup.storage.documents import Documents
from neardup.storage.memory import MemoryDocuments
from neardup.storage.sqlite import SqliteDocuments
from neardup.verdict import Verdict
from neardup.verification import jaccard

__all__ = [
    "BloomFilter",
    "ClosedError",
    "Deduplicator",
    "Document",
    "DocumentError",
    "Documents",
    "DocumentsFileError",
    "DuplicateIdError",
    "FingerprintError",
    "HammingIndex",
    "IndexFileError",
    "IndexLockedError",
    "Match",
    "MemoryDocuments",
    "NearDupError",
    "ParameterError",
    "Parameters",
    "ScalableBloomFilter",
    "SqliteDocuments",
    "StorageError",
    "Verdict",
    "analyse",
    "fold",
    "hamming",
    "jaccard",
    "payload_digest",
    "simhash",
    "simhash_weighted",
    "text_digest",
    "tokens",
]
