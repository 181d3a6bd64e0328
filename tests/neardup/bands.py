"""The candidates of a text by brute force: which signatures share a band?"""

import numpy as np

from neardup import Document, Parameters, hamming
from neardup.fingerprints.minhash import unpacked_signature
from neardup.indexes.banding import CANDIDATE_BANDING


def share_band(first: bytes, second: bytes) -> bool:
    """Whether two signatures agree in all values of a band."""
    one, other = (
        unpacked_signature(packed).reshape(CANDIDATE_BANDING) for packed in (first, second)
    )
    return bool(np.any(np.all(one == other, axis=1)))


def is_candidate(first: Document, second: Document, parameters: Parameters) -> bool:
    """Whether a text is compared with another one, near by its fingerprint or by a band."""
    if first.fingerprint is None or second.fingerprint is None:
        return False
    if hamming(first.fingerprint, second.fingerprint) <= parameters.max_distance:
        return True
    if not parameters.verify or first.signature is None or second.signature is None:
        return False
    return share_band(first.signature, second.signature)
