"""Check the texts that callers pass in."""

from collections.abc import Iterable, Sequence

from neardup.errors import FingerprintError


def checked_text(text: str) -> str:
    """Return the text, or raise FingerprintError when it is none."""
    if isinstance(text, str):
        return text
    raise FingerprintError(f"text must be str, got {_shown(text)}")


def checked_texts(texts: Iterable[str]) -> Sequence[str]:
    """Return several texts as a sequence, or raise FingerprintError when they are not."""
    if isinstance(texts, str):
        raise FingerprintError("texts must be several texts, got one str; put it in a list")
    if not isinstance(texts, Iterable):
        raise FingerprintError(f"texts must be several texts, got {type(texts).__name__}")
    several = texts if isinstance(texts, Sequence) else list(texts)
    for place, text in enumerate(several):
        if not isinstance(text, str):
            raise FingerprintError(f"text {place} must be str, got {_shown(text)}")
    return several


def _shown(value: object) -> str:
    name = type(value).__name__
    return f"{name}; decode it first" if isinstance(value, bytes | bytearray) else name
