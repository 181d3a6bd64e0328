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
    from neardup.bloom import BloomFilter as BloomFilter
    from neardup.clustering import clusters as clusters
    from neardup.comparison.diff import diff as diff
    from neardup.deduplicator import Deduplicator as Deduplicator
    from neardup.document import Document as Document
    from neardup.document import analyse as analyse
    from neardup.errors import NearDupError as NearDupError
    from neardup.features.features import Features as Features
    from neardup.features.tokens import tokens as tokens
    from neardup.fingerprints.minhash import minhash as minhash
    from neardup.fingerprints.minhash import similarity as similarity
    from neardup.fingerprints.simhash import hamming as hamming
    from neardup.fingerprints.simhash import simhash as simhash
    from neardup.indexes.hamming import HammingIndex as HammingIndex
    from neardup.indexes.lsh import LshIndex as LshIndex
    from neardup.parameters import Parameters as Parameters
    from neardup.verdict import Verdict as Verdict
    from neardup.verification import Verifier as Verifier
    from neardup.verification import jaccard as jaccard

_MODULES = {
    "BloomFilter": "bloom",
    "Deduplicator": "deduplicator",
    "Document": "document",
    "Features": "features.features",
    "HammingIndex": "indexes.hamming",
    "LshIndex": "indexes.lsh",
    "NearDupError": "errors",
    "Parameters": "parameters",
    "Verdict": "verdict",
    "Verifier": "verification",
    "analyse": "document",
    "clusters": "clustering",
    "diff": "comparison.diff",
    "hamming": "fingerprints.simhash",
    "jaccard": "verification",
    "minhash": "fingerprints.minhash",
    "simhash": "fingerprints.simhash",
    "similarity": "fingerprints.minhash",
    "tokens": "features.tokens",
}

__all__ = list(_MODULES)

if not TYPE_CHECKING:  # which would take any name for one of these

    def __getattr__(name: str) -> object:
        """Load what is asked for, with what that needs: NumPy alone takes a tenth of a second."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
