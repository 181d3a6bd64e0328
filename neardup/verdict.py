"""The decision on a text."""

from dataclasses import dataclass
from typing import NamedTuple

NEW = "new"
EXACT_DUPLICATE = "exact_duplicate"
TEXT_DUPLICATE = "text_duplicate"
NEAR_DUPLICATE = "near_duplicate"
TOO_SHORT = "too_short"
SAME_TEMPLATE = "same_template"
CONTAINED = "contained"

PAYLOAD_TIER = "payload"
TEXT_TIER = "text"
SIMHASH_TIER = "simhash"
CANDIDATE_TIER = "candidate"
PASSAGE_TIER = "passage"


class Part(NamedTuple):
    """A kept text that is a part of a text.

    Attributes:
        id: Its id.
        containment: The share of its shingles that stand in the text, 0 to 1.
    """

    id: int
    containment: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on a text, compared with those that were kept before it.

    Attributes:
        kind: The decision: ``new``; ``exact_duplicate``, made from the very bytes of a kept one;
            ``text_duplicate``, equal to a kept text after folding; ``near_duplicate``, near one;
            ``too_short``, of fewer than ``min_words`` words and equal to none; ``same_template``,
            near a kept one that has another name, or says something else outside boilerplate, and
            so kept too; ``contained``, a part of a kept one, where ``drop_contained`` is on. A
            crawler adds kinds of its own.
        duplicate_of: The id of the kept text that this one repeats; None where it repeats none.
        distance: The distance of the two fingerprints, in bits; 0 for equal texts.
        similarity: The similarity of the two texts by the verifier, 0 to 1; 1.0 for equal ones,
            None where it was not computed.
        resembles: The id of the kept text, of another name or content, that this one is nearly
            equal to, for ``same_template``; ``distance`` and ``similarity`` are those of the two.
            None otherwise.
        left_out: The number of candidates with which the text was not compared, since there were
            too many or too long ones (``neardup.candidates``): it may repeat one of them, and is
            kept all the same.
        tier: The layer that decided, from the cheapest: ``payload``, ``text``, ``simhash`` (within
            ``max_distance``), ``candidate`` (farther out, found by the bands of its signature),
            ``passage``. None where it repeats none.
        part_of: The id of the kept text that a kept one is a part of: nine tenths of its shingles
            stand there. None where it is a part of none, or none was found.
        containment: The share of its shingles that stand in ``part_of``, 0 to 1; of ``contained``,
            in ``duplicate_of``. None otherwise.
        parts: The texts kept before that are parts of this one, which is kept.
    """

    kind: str
    duplicate_of: int | None = None
    distance: int | None = None
    similarity: float | None = None
    tier: str | None = None
    left_out: int = 0
    resembles: int | None = None
    part_of: int | None = None
    containment: float | None = None
    parts: tuple[Part, ...] = ()

    @property
    def is_duplicate(self) -> bool:
        """Whether the text repeats a kept one."""
        return self.duplicate_of is not None
