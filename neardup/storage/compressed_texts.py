"""A text as compressed bytes and back."""

import zstandard

# A page may hold half of a surrogate pair, which plain UTF-8 refuses.
_ENCODING = ("utf-8", "surrogatepass")

_compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
_decompressor = zstandard.ZstdDecompressor()


def compress(text: str) -> bytes:
    """Return the text as one zstd frame."""
    return _compressor.compress(text.encode(*_ENCODING))


def decompress(frame: bytes) -> str:
    """Return the text of a frame made by ``compress``.

    Raises:
        ValueError: The frame is damaged.
    """
    try:
        return _decompressor.decompress(frame).decode(*_ENCODING)
    except zstandard.ZstdError as error:
        raise ValueError(f"damaged text: {error}") from error
