"""A text with all that a verdict needs: words, digest, fingerprint, signature, sample."""

from dataclasses import dataclass, field, replace

from neardup.errors import DocumentError
from neardup.features.hashing import Hashes
from neardup.features.shingles import shingles_of, unit_hashes
from neardup.features.tokens import folded_bytes, unit_bytes, word_bytes
from neardup.fingerprints.digest import DIGEST_BYTES, EMPTY_DIGEST, payload_digest
from neardup.fingerprints.minhash import packed_signature
from neardup.fingerprints.simhash import check_fingerprint, sketch
from neardup.fingerprints.winnowing import SAMPLE_VALUE_BYTES, packed_sample
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS, CANDIDATE_SIGNATURE_BYTES
from neardup.names import Name, name_of
from neardup.parameters import DEFAULTS, Parameters
from neardup.whole import part_of


@dataclass(frozen=True, slots=True)
class Document:
    """A text with what was computed from it, so that it is computed once.

    Where ``neardup.whole.with_whole`` made the text, words, fingerprint, signature and sample are
    of its first part.

    Attributes:
        words: The number of its tokens.
        digest: Its ``text_digest``, 16 bytes.
        fingerprint: Its SimHash; None for a text of fewer than ``min_words`` words.
        text: The text as it came.
        payload: The ``payload_digest`` of the bytes that the text was taken from, 16 bytes; None
            where they are not known. The digest of no bytes becomes None: a text was never taken
            from those.
        name: What it is called, as ``neardup.names.Name.packed`` returns it; empty: nothing is
            known.
        signature: The MinHash signature of its shingles of ``verify_shingle_size`` words, 64 values
            of four bytes, little endian; None for a text without a fingerprint, and where it was
            not computed yet (``signed``).
        group: The number of the texts with which it may share boilerplate, such as a hash of its
            host (``neardup.boilerplate``); None: there are none.
        sample: The winnowed ones of the same shingles (``neardup.fingerprints.winnowing``), up to
            1,024 values of four bytes, little endian, ascending; None where ``signature`` is.

    Raises:
        DocumentError: ``words`` is negative, a digest or the signature has another length, or the
            sample is no whole number of values.
        FingerprintError: ``fingerprint`` does not fit in 64 bits.
    """

    words: int
    digest: bytes
    fingerprint: int | None
    text: str = field(repr=False)
    payload: bytes | None = None
    name: str = field(default="", repr=False)
    signature: bytes | None = field(default=None, repr=False)
    group: int | None = None
    sample: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.words < 0:
            raise DocumentError(f"words must be at least 0, got {self.words}")
        for name, value, size in (
            ("digest", self.digest, DIGEST_BYTES),
            ("payload", self.payload, DIGEST_BYTES),
            ("signature", self.signature, CANDIDATE_SIGNATURE_BYTES),
        ):
            if value is not None and len(value) != size:
                raise DocumentError(f"{name} must be {size} bytes, got {len(value)}")
        if self.sample is not None and len(self.sample) % SAMPLE_VALUE_BYTES:
            raise DocumentError(f"sample must be values of 4 bytes, got {len(self.sample)} bytes")
        if self.payload == EMPTY_DIGEST:
            object.__setattr__(self, "payload", None)
        if self.fingerprint is not None:
            check_fingerprint(self.fingerprint)


def analyse(
    text: str,
    parameters: Parameters = DEFAULTS,
    name: Name | None = None,
    *,
    with_sample: bool = True,
) -> Document:
    """Compute what a verdict on a text needs: words, digest, fingerprint, signature, sample.

    A pure function of both arguments, so it may run in another process than the deduplicator.

    Args:
        text: Any text, an empty one too; ``with_whole`` adds what it was taken from.
        parameters: The parameters; their features, ``min_words`` and
            ``verify_shingle_size`` count.
        name: What it is called; None: what its first lines say.
        with_sample: Whether the sample is wanted, which serves the search for parts alone.

    Complexity: O(length).
    """
    features = parameters.fingerprint_features
    folded = folded_bytes(text)
    digest = payload_digest(folded)
    part = part_of(text)
    if len(part) < len(text):
        folded = folded_bytes(part)
    hashes = unit_hashes(word_bytes(folded), "word")
    words = len(hashes)
    units = hashes.copy() if features.unit == "word" else unit_hashes(folded, features.unit)
    fingerprint = sketch(units, features) if words >= parameters.min_words else None
    signature, sample = None, None
    if fingerprint is not None:
        signature, sample = _signed(hashes, parameters, with_sample=with_sample)
    packed_name = (name_of(part) if name is None else name).packed()
    return Document(
        words, digest, fingerprint, text, name=packed_name, signature=signature, sample=sample
    )


def signed(document: Document, parameters: Parameters, *, with_sample: bool = False) -> Document:
    """Return a document with its signature and its sample, computed where only they are missing.

    Args:
        document: The document.
        parameters: The parameters with which it was analysed.
        with_sample: Whether the sample is wanted.

    Complexity: O(length) where one is missing.
    """
    has_sample = document.sample is not None or not with_sample
    if document.fingerprint is None or (document.signature is not None and has_sample):
        return document
    hashes = unit_hashes(unit_bytes(part_of(document.text), "word"), "word")
    signature, sample = _signed(hashes, parameters, with_sample=True)
    return replace(document, signature=signature, sample=sample)


def _signed(
    words: Hashes, parameters: Parameters, *, with_sample: bool
) -> tuple[bytes | None, bytes | None]:
    """Return signature and sample of words, given by their ``unit_hashes``; None without words.

    The array of their hashes is used for the shingles.
    """
    hashes = shingles_of(words, parameters.verify_shingle_size)
    if not len(hashes):
        return None, None
    sample = packed_sample(hashes) if with_sample else None
    return packed_signature(hashes, CANDIDATE_PERMUTATIONS), sample
