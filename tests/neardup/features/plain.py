"""Hashes of shingles by their definition, in the integers of Python."""

from collections.abc import Mapping

from neardup import tokens
from neardup.features.folding import fold

GOLDEN = 0x9E3779B97F4A7C15


def mixed(value: int) -> int:
    """MurmurHash3's finalizer."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = ((value ^ value >> 33) * factor) % 2**64
    return value ^ value >> 33


def word_hash(word: bytes) -> int:
    value = 0
    for place in range(0, len(word), 8):
        eight = int.from_bytes(word[place : place + 8], "little")
        value = mixed(eight ^ value * GOLDEN % 2**64)
    return value


def character_hash(character: str) -> int:
    code = int.from_bytes(character.encode("utf-8", "surrogatepass"), "big")
    return mixed((code + GOLDEN) % 2**64)


def units(text: str, unit: str) -> list[int]:
    """The hash of each word or character."""
    if unit == "word":
        return [word_hash(token.encode()) for token in tokens(text)]
    return [character_hash(character) for character in fold(text)]


def shingles(text: str, unit: str, size: int) -> list[int]:
    """The hash of each shingle, as often as it occurs."""
    hashes = units(text, unit)
    size = min(size, len(hashes))
    found = []
    for place in range(len(hashes) - size + 1 if hashes else 0):
        value = 0
        for one in hashes[place : place + size]:
            value = (value * GOLDEN + one) % 2**64
        found.append(mixed(value))
    return found


def fingerprint(weights: Mapping[int, float]) -> int:
    """The SimHash of hashes with their weights, bit by bit."""
    sums = [
        sum(weight if value >> bit & 1 else -weight for value, weight in sorted(weights.items()))
        for bit in range(64)
    ]
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0)
