"""The decision on a text: which kept text does it repeat, the cheapest layer first?

The decision is a pure function of the evidence. ``deduplicator`` finds that in memory and SQLite,
``storage.redis.shared_evidence`` in Redis. ``evaluation`` and ``batch`` decide on many texts at
once in compiled loops and in SQL, and a property test holds all of them to this function.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from neardup.parameters import Parameters
from neardup.verdict import (
    CANDIDATE_TIER,
    CONTAINED,
    EXACT_DUPLICATE,
    NEAR_DUPLICATE,
    NEW,
    PASSAGE_TIER,
    PAYLOAD_TIER,
    SAME_TEMPLATE,
    SIMHASH_TIER,
    TEXT_DUPLICATE,
    TEXT_TIER,
    TOO_SHORT,
    Part,
    Verdict,
)


class NearText(NamedTuple):
    """A kept text whose fingerprint is near, or whose signature shares a band.

    Attributes:
        id: The id of the kept text.
        distance: The distance of the two fingerprints, in bits.
        similarity: The similarity of the two texts, 0 to 1; None: it was not measured.
        is_left_out: Whether it was not looked at, since there are too many or too long ones.
        is_other: Whether the names tell that it is another thing, however similar the texts are.
        says_other: Whether both say other things outside the boilerplate of their groups.
    """

    id: int
    distance: int
    similarity: float | None = None
    is_left_out: bool = False
    is_other: bool = False
    says_other: bool = False


class Evidence(NamedTuple):
    """The kept texts that a text may repeat, by layers.

    A layer need not be looked at where one before it has found something.

    Attributes:
        payload: The first kept text that was taken from the same bytes; None: there is none.
        text: The first kept text that is equal after folding; None: there is none.
        near: The kept texts that are candidates, nearest first, then by id, at least as far as the
            first that is confirmed. Empty for a text without a fingerprint.
    """

    payload: int | None = None
    text: int | None = None
    near: Sequence[NearText] = ()


class Container(NamedTuple):
    """A kept text that a text is a part of.

    Attributes:
        id: The id of the kept text.
        containment: The share of the part's shingles that stand in it, 0 to 1.
        is_other: Whether the names tell that it is another thing.
    """

    id: int
    containment: float
    is_other: bool = False


class Relations(NamedTuple):
    """The kept texts that a text is a part of, or that are parts of it.

    Attributes:
        container: The text that it is a part of; None: it is a part of none.
        parts: The texts that are parts of it.
    """

    container: Container | None = None
    parts: tuple[Part, ...] = ()


NO_RELATIONS = Relations()


def decide(words: int, evidence: Evidence, parameters: Parameters) -> Verdict:
    """Return the verdict on a text.

    It is a duplicate of the first kept text that one of the layers confirms, else it is to be kept.
    A near text of another name, or of another content outside boilerplate, makes no duplicate; the
    first of them is what the text resembles.

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
    resembled: NearText | None = None
    for near in evidence.near:
        if is_confirmed(near, parameters):
            if not is_another(near, parameters):
                return _near_duplicate(near, parameters)
            resembled = resembled or near
        left_out += near.is_left_out
    if resembled is None:
        return Verdict(NEW, left_out=left_out)
    return _same_template(resembled, left_out, parameters)


def is_another(near: NearText, parameters: Parameters) -> bool:
    """Whether a text is another thing than a near one that is confirmed."""
    is_other = near.is_other and parameters.compare_names
    return is_other or (near.says_other and parameters.ignore_boilerplate)


def related(verdict: Verdict, relations: Relations, parameters: Parameters) -> Verdict:
    """Return the verdict on a text that is to be kept, with what it is a part of.

    It is ``contained`` where parts are dropped on wish and no name tells that it is another thing.
    """
    container = relations.container
    if container is None:
        return replace(verdict, parts=relations.parts) if relations.parts else verdict
    if parameters.drop_contained and not (container.is_other and parameters.compare_names):
        return Verdict(
            CONTAINED, container.id, tier=PASSAGE_TIER, containment=container.containment
        )
    return replace(
        verdict,
        part_of=container.id,
        containment=container.containment,
        parts=relations.parts,
    )


def exact_duplicate(original: int) -> Verdict:
    """Return the verdict on a text from the very bytes of a kept one."""
    return Verdict(EXACT_DUPLICATE, original, distance=0, similarity=1.0, tier=PAYLOAD_TIER)


def is_confirmed(near: NearText, parameters: Parameters) -> bool:
    """Whether a text repeats a near one; what was not compared is never confirmed."""
    if near.is_left_out:
        return False
    if not parameters.verify:
        return near.distance <= parameters.max_distance
    return near.similarity is not None and near.similarity >= parameters.min_similarity


def _near_duplicate(near: NearText, parameters: Parameters) -> Verdict:
    is_match = near.distance <= parameters.max_distance
    tier = SIMHASH_TIER if is_match else CANDIDATE_TIER
    similarity = near.similarity if parameters.verify else None
    return Verdict(NEAR_DUPLICATE, near.id, near.distance, similarity, tier)


def _same_template(near: NearText, left_out: int, parameters: Parameters) -> Verdict:
    similarity = near.similarity if parameters.verify else None
    return Verdict(
        SAME_TEMPLATE,
        distance=near.distance,
        similarity=similarity,
        left_out=left_out,
        resembles=near.id,
    )
