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

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neardup.bloom import BloomFilter, ScalableBloomFilter
    from neardup.clustering import Cluster, clusters
    from neardup.comparison.containment import containment
    from neardup.comparison.diff import WordRun, diff, render_diff
    from neardup.comparison.edit_distance import edit_ratio
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
        ServerError,
        StorageError,
    )
    from neardup.evaluation.labelled import read_similar
    from neardup.evaluation.metrics import (
        CrawlOutcome,
        Scores,
        count_errors,
        labelled_pairs,
        score_pairs,
    )
    from neardup.evaluation.parameter_sweep import NearPairs, SweepRow, near_pairs, sweep
    from neardup.features.features import Features
    from neardup.features.folding import fold
    from neardup.features.idf_table import IdfTable
    from neardup.features.tokens import tokens
    from neardup.fingerprints.b_bit import BBitSignature, b_bit
    from neardup.fingerprints.bottom_k import BottomK, bottom_k
    from neardup.fingerprints.digest import payload_digest, text_digest, words_digest
    from neardup.fingerprints.estimate import Estimate, similarity
    from neardup.fingerprints.minhash import minhash, minhash_many
    from neardup.fingerprints.simhash import hamming, simhash, simhash_many, simhash_weighted
    from neardup.indexes.banding import Banding
    from neardup.indexes.design import Design
    from neardup.indexes.hamming import HammingIndex
    from neardup.indexes.lsh import Candidate, LshCandidates, LshIndex
    from neardup.indexes.match import Match, Matches
    from neardup.indexes.scan import ScanIndex
    from neardup.parameters import Parameters
    from neardup.preparation import prepare
    from neardup.semantic.embedding import EmbeddingVerifier
    from neardup.semantic.tf_idf import TfIdfVerifier
    from neardup.storage.documents import Documents
    from neardup.storage.memory import MemoryDocuments
    from neardup.storage.sqlite import SqliteDocuments
    from neardup.verdict import Verdict
    from neardup.verification import JaccardVerifier, jaccard
    from neardup.verifier import Verifier

__all__ = [
    "BBitSignature",
    "Banding",
    "BloomFilter",
    "BottomK",
    "Candidate",
    "ClosedError",
    "Cluster",
    "CrawlOutcome",
    "Deduplicator",
    "Design",
    "Document",
    "DocumentError",
    "Documents",
    "DocumentsFileError",
    "DuplicateIdError",
    "EmbeddingVerifier",
    "Estimate",
    "Features",
    "FingerprintError",
    "HammingIndex",
    "IdfTable",
    "IndexFileError",
    "IndexLockedError",
    "JaccardVerifier",
    "LshCandidates",
    "LshIndex",
    "Match",
    "Matches",
    "MemoryDocuments",
    "NearDupError",
    "NearPairs",
    "ParameterError",
    "Parameters",
    "ScalableBloomFilter",
    "ScanIndex",
    "Scores",
    "ServerError",
    "SqliteDocuments",
    "StorageError",
    "SweepRow",
    "TfIdfVerifier",
    "Verdict",
    "Verifier",
    "WordRun",
    "analyse",
    "b_bit",
    "bottom_k",
    "clusters",
    "containment",
    "count_errors",
    "diff",
    "edit_ratio",
    "fold",
    "hamming",
    "jaccard",
    "labelled_pairs",
    "minhash",
    "minhash_many",
    "near_pairs",
    "payload_digest",
    "prepare",
    "read_similar",
    "render_diff",
    "score_pairs",
    "simhash",
    "simhash_many",
    "simhash_weighted",
    "similarity",
    "sweep",
    "text_digest",
    "tokens",
    "words_digest",
]

_NAMES = {
    "bloom": ("BloomFilter", "ScalableBloomFilter"),
    "clustering": ("Cluster", "clusters"),
    "comparison.containment": ("containment",),
    "comparison.diff": ("WordRun", "diff", "render_diff"),
    "comparison.edit_distance": ("edit_ratio",),
    "deduplicator": ("Deduplicator",),
    "document": ("Document", "analyse"),
    "errors": (
        "ClosedError",
        "DocumentError",
        "DocumentsFileError",
        "DuplicateIdError",
        "FingerprintError",
        "IndexFileError",
        "IndexLockedError",
        "NearDupError",
        "ParameterError",
        "ServerError",
        "StorageError",
    ),
    "evaluation.labelled": ("read_similar",),
    "evaluation.metrics": (
        "CrawlOutcome",
        "Scores",
        "count_errors",
        "labelled_pairs",
        "score_pairs",
    ),
    "evaluation.parameter_sweep": ("NearPairs", "SweepRow", "near_pairs", "sweep"),
    "features.features": ("Features",),
    "features.folding": ("fold",),
    "features.idf_table": ("IdfTable",),
    "features.tokens": ("tokens",),
    "fingerprints.b_bit": ("BBitSignature", "b_bit"),
    "fingerprints.bottom_k": ("BottomK", "bottom_k"),
    "fingerprints.digest": ("payload_digest", "text_digest", "words_digest"),
    "fingerprints.estimate": ("Estimate", "similarity"),
    "fingerprints.minhash": ("minhash", "minhash_many"),
    "fingerprints.simhash": ("hamming", "simhash", "simhash_many", "simhash_weighted"),
    "indexes.banding": ("Banding",),
    "indexes.design": ("Design",),
    "indexes.hamming": ("HammingIndex",),
    "indexes.lsh": ("Candidate", "LshCandidates", "LshIndex"),
    "indexes.match": ("Match", "Matches"),
    "indexes.scan": ("ScanIndex",),
    "parameters": ("Parameters",),
    "preparation": ("prepare",),
    "semantic.embedding": ("EmbeddingVerifier",),
    "semantic.tf_idf": ("TfIdfVerifier",),
    "storage.documents": ("Documents",),
    "storage.memory": ("MemoryDocuments",),
    "storage.sqlite": ("SqliteDocuments",),
    "verdict": ("Verdict",),
    "verification": ("JaccardVerifier", "jaccard"),
    "verifier": ("Verifier",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:  # which would take any name for one of these

    def __getattr__(name: str) -> object:
        """Load what is asked for, with what that needs: NumPy alone takes a tenth of a second."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
