"""The decision on a text."""

from dataclasses import dataclass

NEW = "new"
TEXT_DUPLICATE = "text_duplicate"
NEAR_DUPLICATE = "near_duplicate"
TOO_SHORT = "too_short"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a text is, held against those that were kept before it.

    Attributes:
        kind: ``new``; ``text_duplicate``, equal to a kept text after folding; ``near_duplicate``,
            within ``max_distance`` bits of one; ``too_short``, of fewer than ``min_words`` words
            and equal to none. A crawler adds kinds of its own.
        duplicate_of: Id of the kept text that this one repeats; None where it repeats none.
        distance: Bits between the two fingerprints; 0 for equal texts.
        similarity: Jaccard similarity of the two texts, 0 to 1; 1.0 for equal texts, None where
            it was not computed.
    """

    kind: str
    duplicate_of: int | None = None
    distance: int | None = None
    similarity: float | None = None

    @property
    def is_duplicate(self) -> bool:
        """Whether the text repeats a kept one."""
        return self.duplicate_of is not None
