"""A text with all that a verdict needs: words, digest, fingerprint."""

from dataclasses import dataclass, field

from neardup.errors import DocumentError
from neardup.features.shingles import count_words
from neardup.features.tokens import folded_bytes, word_bytes
from neardup.fingerprints.digest import DIGEST_BYTES, EMPTY_DIGEST, payload_digest
from neardup.fingerprints.simhash import check_fingerprint, sketch
from neardup.parameters import DEFAULTS, Parameters
from neardup.whole import part_of


@dataclass(frozen=True, slots=True)
class Document:
    """A text with what was computed from it, so that it is computed once.

    Where ``neardup.whole.with_whole`` made the text, words and fingerprint are of its first part.

    Attributes:
        words: The number of its tokens.
        digest: Its ``text_digest``, 16 bytes.
        fingerprint: Its SimHash; None for a text of fewer than ``min_words`` words.
        text: The text as it came.
        payload: The ``payload_digest`` of the bytes that the text was taken from, 16 bytes; None
            where they are not known. The digest of no bytes becomes None: a text was never taken
            from those.

    Raises:
        DocumentError: ``words`` is negative or a digest has another length.
        FingerprintError: ``fingerprint`` does not fit in 64 bits.
    """

    words: int
    digest: bytes
    fingerprint: int | None
    text: str = field(repr=False)
    payload: bytes | None = None

    def __post_init__(self) -> None:
        if self.words < 0:
            raise DocumentError(f"words must be at least 0, got {self.words}")
        for name, value in (("digest", self.digest), ("payload", self.payload)):
            if value is not None and len(value) != DIGEST_BYTES:
                raise DocumentError(f"{name} must be {DIGEST_BYTES} bytes, got {len(value)}")
        if self.payload == EMPTY_DIGEST:
            object.__setattr__(self, "payload", None)
        if self.fingerprint is not None:
            check_fingerprint(self.fingerprint)


def analyse(text: str, parameters: Parameters = DEFAULTS) -> Document:
    """Compute what a verdict on a text needs, in one pass: words, digest, fingerprint.

    A pure function of both arguments, so it may run in another process than the deduplicator.

    Args:
        text: Any text, an empty one too; ``with_whole`` adds what it was taken from.
        parameters: The parameters; their features and ``min_words`` count.

    Complexity: O(length).
    """
    features = parameters.fingerprint_features
    folded = folded_bytes(text)
    digest = payload_digest(folded)
    part = part_of(text)
    if len(part) < len(text):
        folded = folded_bytes(part)
    packed = word_bytes(folded)
    if features.unit == "word":
        fingerprint, words = sketch(packed, features)
    else:
        fingerprint, words = sketch(folded, features)[0], count_words(packed)
    if words < parameters.min_words:
        fingerprint = None
    return Document(words, digest, fingerprint, text)
