"""What a verdict needs to know about a text."""

from dataclasses import dataclass, field

from neardup.errors import DocumentError
from neardup.features.folding import normal_form
from neardup.features.hashing import token_hashes
from neardup.features.shingles import shingles_of
from neardup.features.tokens import pack
from neardup.fingerprints.digest import DIGEST_BYTES, folded_digest
from neardup.fingerprints.simhash import check_fingerprint, of_shingles
from neardup.parameters import DEFAULTS, Parameters


@dataclass(frozen=True, slots=True)
class Document:
    """A text with what was computed from it, so that it is computed once.

    Attributes:
        words: Number of its tokens.
        digest: Its ``text_digest``, 16 bytes.
        fingerprint: Its SimHash; None for a text of fewer than ``min_words`` words.
        text: The text as it came.

    Raises:
        DocumentError: ``words`` is negative or ``digest`` has another length.
        FingerprintError: ``fingerprint`` does not fit in 64 bits.
    """

    words: int
    digest: bytes
    fingerprint: int | None
    text: str = field(repr=False)

    def __post_init__(self) -> None:
        if self.words < 0:
            raise DocumentError(f"words must be at least 0, got {self.words}")
        if len(self.digest) != DIGEST_BYTES:
            raise DocumentError(f"digest must be {DIGEST_BYTES} bytes, got {len(self.digest)}")
        if self.fingerprint is not None:
            check_fingerprint(self.fingerprint)


def analyse(text: str, parameters: Parameters = DEFAULTS) -> Document:
    """Compute what a verdict on a text needs, in one pass: words, digest, fingerprint.

    A pure function of both arguments, so it may run in another process than the deduplicator.

    Args:
        text: Any text, an empty one too.
        parameters: Of these, ``shingle_size`` and ``min_words`` count.

    Complexity: O(length).
    """
    normal = normal_form(text)
    hashes = token_hashes(pack(normal))
    fingerprint = None
    if len(hashes) >= parameters.min_words:
        fingerprint = of_shingles(shingles_of(hashes, parameters.shingle_size))
    digest = folded_digest(" ".join(normal.split()))
    return Document(len(hashes), digest, fingerprint, text)
