"""Records of a fleet: the verdict on a text, and a text that was kept."""

from dataclasses import dataclass, field

from neardup.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Original:
    """A kept text, wherever its page is.

    Attributes:
        number: The position among the kept texts of the fleet; -1 for a file that is no page.
        owner: The key of its page, 16 bytes.
        about: The bytes that its owner stored with it.
        text_digest: 16 bytes; of a file that is no page, empty.
    """

    number: int
    owner: bytes
    about: bytes
    text_digest: bytes


@dataclass(frozen=True, slots=True)
class SharedVerdict:
    """A verdict with what the text repeats.

    Attributes:
        verdict: Its ``duplicate_of`` is the original's number.
        original: None where the text repeats none.
    """

    verdict: Verdict
    original: Original | None = None


@dataclass(frozen=True, slots=True)
class KeptText:
    """A kept text with all that is known of it.

    Attributes:
        original: The page and the number of the text.
        text: The text, as it came.
        words: The number of its tokens.
        fingerprint: The fingerprint; None for a short text.
        payload: The digest of the bytes that it was taken from, 16 bytes, or None.
    """

    original: Original
    text: str = field(repr=False)
    words: int
    fingerprint: int | None
    payload: bytes | None
