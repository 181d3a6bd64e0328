"""The decision on a text."""

from dataclasses import dataclass

NEW = "new"
EXACT_DUPLICATE = "exact_duplicate"
TEXT_DUPLICATE = "text_duplicate"
NEAR_DUPLICATE = "near_duplicate"
TOO_SHORT = "too_short"

PAYLOAD_TIER = "payload"
TEXT_TIER = "text"
SIMHASH_TIER = "simhash"
CANDIDATE_TIER = "candidate"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on a text, compared with those that were kept before it.

    Attributes:
        kind: The decision: ``new``; ``exact_duplicate``, made from the very bytes of a kept one;
            ``text_duplicate``, equal to a kept text after folding; ``near_duplicate``, near one;
            ``too_short``, of fewer than ``min_words`` words and equal to none. A crawler adds kinds
            of its own.
        duplicate_of: The id of the kept text that this one repeats; None where it repeats none.
        distance: The distance of the two fingerprints, in bits; 0 for equal texts.
        similarity: The similarity of the two texts by the verifier, 0 to 1; 1.0 for equal ones,
            None where it was not computed.
        left_out: The number of candidates with which the text was not compared, since there were
            too many or too long ones (``neardup.candidates``): it may repeat one of them, and is
            kept all the same.
        tier: The layer that decided, from the cheapest: ``payload``, ``text``, ``simhash`` (within
            ``max_distance``), ``candidate`` (farther out, within ``candidate_distance``). None
            where it repeats none.
    """

    kind: str
    duplicate_of: int | None = None
    distance: int | None = None
    similarity: float | None = None
    tier: str | None = None
    left_out: int = 0

    @property
    def is_duplicate(self) -> bool:
        """Whether the text repeats a kept one."""
        return self.duplicate_of is not None
