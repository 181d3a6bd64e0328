"""The decision on a text: which kept text does it repeat, the cheapest layer first?

The decision is a pure function of the evidence. ``deduplicator`` finds that in memory and SQLite,
``storage.redis.shared_evidence`` in Redis. ``evaluation`` and ``batch`` decide on many texts at
once in compiled loops and in SQL, and a property test holds all of them to this function.
"""

from collections.abc import Sequence
from typing import NamedTuple

from neardup.parameters import Parameters
from neardup.verdict import (
    CANDIDATE_TIER,
    EXACT_DUPLICATE,
    NEAR_DUPLICATE,
    NEW,
    PAYLOAD_TIER,
    SIMHASH_TIER,
    TEXT_DUPLICATE,
    TEXT_TIER,
    TOO_SHORT,
    Verdict,
)


class NearText(NamedTuple):
    """A kept text whose fingerprint is near.

    Attributes:
        id: The id of the kept text.
        distance: The distance of the two fingerprints, in bits.
        similarity: The similarity of the two texts, 0 to 1; None: it was not measured.
        is_left_out: Whether it was not looked at, since there are too many or too long ones.
    """

    id: int
    distance: int
    similarity: float | None = None
    is_left_out: bool = False


class Evidence(NamedTuple):
    """The kept texts that a text may repeat, by layers.

    A layer need not be looked at where one before it has found something.

    Attributes:
        payload: The first kept text that was taken from the same bytes; None: there is none.
        text: The first kept text that is equal after folding; None: there is none.
        near: The kept texts within the radius, nearest first, then by id, at least as far as the
            first that is confirmed. Empty for a text without a fingerprint.
    """

    payload: int | None = None
    text: int | None = None
    near: Sequence[NearText] = ()


def decide(words: int, evidence: Evidence, parameters: Parameters) -> Verdict:
    """Return the verdict on a text.

    It is a duplicate of the first kept text that one of the layers confirms, else it is to be kept.

    Args:
        words: The number of its tokens; below ``min_words`` nothing but equality counts.
        evidence: The kept texts that it may repeat.
        parameters: The parameters that decide which texts are the same.

    Complexity: O(near texts).
    """
    if evidence.payload is not None:
        return exact_duplicate(evidence.payload)
    if evidence.text is not None:
        return Verdict(TEXT_DUPLICATE, evidence.text, distance=0, similarity=1.0, tier=TEXT_TIER)
    if words < parameters.min_words:
        return Verdict(TOO_SHORT)
    left_out = 0
    for near in evidence.near:
        if is_confirmed(near, parameters):
            return _near_duplicate(near, parameters)
        left_out += near.is_left_out and near.distance <= parameters.radius
    return Verdict(NEW, left_out=left_out)


def exact_duplicate(original: int) -> Verdict:
    """Return the verdict on a text from the very bytes of a kept one."""
    return Verdict(EXACT_DUPLICATE, original, distance=0, similarity=1.0, tier=PAYLOAD_TIER)


def is_confirmed(near: NearText, parameters: Parameters) -> bool:
    """Whether a text repeats a near one; what was not compared is never confirmed."""
    if near.is_left_out or near.distance > parameters.radius:
        return False
    if not parameters.verify:
        return True
    return near.similarity is not None and near.similarity >= parameters.min_similarity


def _near_duplicate(near: NearText, parameters: Parameters) -> Verdict:
    is_match = near.distance <= parameters.max_distance
    tier = SIMHASH_TIER if is_match else CANDIDATE_TIER
    similarity = near.similarity if parameters.verify else None
    return Verdict(NEAR_DUPLICATE, near.id, near.distance, similarity, tier)
