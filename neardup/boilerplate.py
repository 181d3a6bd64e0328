r"""Tell the boilerplate of a site from what its pages say: blocks that stand in many texts.

::

    text   line { "\n" line }
    block  a line, or a piece of a line of more than 400 characters
    cut    behind a white space (in scripts without any: behind a character) where the hash of the
           16 characters before it has five leading zeros, and none is so in the 31 characters
           before

Where a long line is cut, its content tells and no count of characters: an insertion moves no other
cut (Muthitacharoen, Chen and Mazieres, A low-bandwidth network file system, 2001). Blocks are
compared by a hash of what they say: folded, without clocks and the numbers of visitors, which
change at each request. ``BlockCounts`` counts in how many texts each stands. A text that stands
with its whole (``neardup.whole``) has the blocks of both.
"""

import re
from collections.abc import Container, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol, Self
from unicodedata import category

import numpy as np
import xxhash

from neardup.errors import DocumentError
from neardup.features.kernels import cuts_of
from neardup.features.shingles import count_words
from neardup.features.tokens import folded_bytes
from neardup.parameters import Parameters
from neardup.verification import JaccardComparison
from neardup.volatile.phrases import is_visitor_count, stable
from neardup.whole import SEPARATOR, split_whole

MAX_LINE_CHARACTERS = 400
"""A line of more characters is cut into several blocks."""

MAX_COUNTED_BLOCKS = 4096
"""The largest number of blocks of one text that are counted, the first ones."""

MAX_BLOCKS = 20_000
"""The largest number of blocks of a text; what comes after them belongs to the last one."""

MAX_VOLATILE_CHARACTERS = 120
"""Clocks and numbers of visitors are looked for in blocks of at most this many characters."""

PAIR = 2
"""The number of words of a shingle of a rest that has too few for longer ones."""

NO_HASH = 0
"""The hash of blocks without a letter, which are no boilerplate."""

_MAX_HELD_TEXTS = 128
_MAX_HELD_CHARACTERS = 20_000

_LETTER = re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"\d[\d.,]*")
_COUNTER = re.compile(r"\d+(?:[., ]\d{3})*")
_SIGNS = re.compile(r"[^\w\s\0.,:;'\"`\u2018-\u201f\u00ab\u00bb\u2039\u203a()\[\]{}]+")
"""Characters that tell two texts apart; a comma, a bracket or a quote more makes no other."""


class TextBlock(NamedTuple):
    """A block of a text: ``text[start:end]``, and the hash of its words."""

    start: int
    end: int
    hash: int


class Boilerplate(Protocol):
    """The boilerplate of groups of texts, such as the pages of a host."""

    def group(self, id: int) -> int | None:  # noqa: A002  (the field's word)
        """Return the group of a kept text; None: it has none."""

    def blocks(self, group: int | None) -> Container[int] | None:
        """Return the hashes of the blocks that are boilerplate in a group; None: none are."""


def blocks(text: str) -> Iterator[TextBlock]:
    """Yield the blocks of a text, which concatenated are the text.

    Complexity: O(length), 0.1 to 0.3 ms for 1,000 words.
    """
    end = 0
    for piece, (number, _) in zip(pieces(text), _said_blocks(text), strict=False):
        start, end = end, end + len(piece)
        yield TextBlock(start, end, number)


def block_hashes(text: str) -> bytes:
    """Return the distinct hashes of a text's blocks as little-endian bytes, eight each."""
    found = dict.fromkeys(number for number, _ in _said_blocks(text.replace(SEPARATOR, "\n")))
    found.pop(NO_HASH, None)
    return np.fromiter(found, "<u8", len(found))[:MAX_COUNTED_BLOCKS].tobytes()


def pieces(text: str) -> list[str]:
    """Return the blocks of a text in their order, which joined are the text."""
    *lines, last = text.split("\n", MAX_BLOCKS)
    found = list[str]()
    for line in (*map("{}\n".format, lines), last):
        if len(line) <= MAX_LINE_CHARACTERS:
            found.append(line)
        else:
            bounds = [0, *cuts_of(line)[:MAX_BLOCKS], len(line)]
            found += [line[start:end] for start, end in pairwise(bounds)]
    found[MAX_BLOCKS - 1 :] = ["".join(found[MAX_BLOCKS - 1 :])]
    return list(filter(None, found))


def boilerplate_spans(
    text: str, boilerplate: Container[int], *, alone: bool = False
) -> list[tuple[int, int]]:
    """Return the bounds of the boilerplate in a text, neighbours joined.

    A text that consists of boilerplate alone is what it says: nothing of it is marked, unless that
    is wanted.

    Args:
        text: A text without the whole that it was taken from.
        boilerplate: The hashes of the blocks that are boilerplate where the text comes from.
        alone: Whether a text that says nothing else is marked too.
    """
    spans: list[tuple[int, int]] = []
    has_own = False
    for start, end, number in blocks(text):
        if number in boilerplate:
            if spans and spans[-1][1] == start:
                start = spans.pop()[0]  # noqa: PLW2901  (the span goes on)
            spans.append((start, end))
        else:
            has_own = has_own or number != NO_HASH
    return spans if has_own or alone else []


class RestComparison:
    """Tells of texts whether they say other things than one, boilerplate of both left aside.

    They do if their rests share less than ``min_similarity`` of the shingles of the shorter one, or
    of its pairs of words where a rest has fewer of them than a shingle; ``<`` and ``<=`` are words.
    It is measured against the shorter one and not by Jaccard, since a copy with something added,
    such as an advertisement, says nothing else. A text that is boilerplate alone says other things
    than one whose rest has a shingle, for it may be an empty template.

    Args:
        text: A text, with its whole if it has one.
        boilerplate: The hashes of the blocks that are boilerplate where it comes from; None: none.
        parameters: ``min_similarity`` and ``verify_shingle_size`` count.
    """

    def __init__(
        self, text: str, boilerplate: Container[int] | None, parameters: Parameters
    ) -> None:
        self._text, self._boilerplate = text, boilerplate
        self._shingle_size = parameters.verify_shingle_size
        self._min_similarity = parameters.min_similarity
        self._rest: str | None = None

    def says_other_than(self, text: str, boilerplate: Container[int] | None) -> bool:
        """Return whether both texts say other things; without boilerplate they never do.

        Complexity: O(length), 0.2 to 0.5 ms for 1,000 words.
        """
        return self.shared_with(text, boilerplate) < self._min_similarity

    def shared_with(self, text: str, boilerplate: Container[int] | None) -> float:
        """Return the share of the shorter rest's shingles that stand in the other one, 0 to 1.

        It is that of its pairs of words where one of the rests has no shingle. It is 1.0 where
        neither text has boilerplate, or a rest is empty; but 0.0 where one text is boilerplate
        alone and the rest of the other has a shingle.
        """
        if self._boilerplate is None and boilerplate is None:
            return 1.0
        size = self._shingle_size
        # Most texts are compared with none, so nothing is prepared before there is one.
        if self._rest is None:
            self._rest = rest_of(self._text, self._boilerplate or (), size)
        rests = self._rest, rest_of(text, boilerplate or (), size)
        if rests[0] == rests[1]:
            return 1.0
        are_long = [has_shingle(one, size) for one in rests]
        ours, theirs = (JaccardComparison(one, size if all(are_long) else PAIR) for one in rests)
        smaller = min(len(ours.shingles), len(theirs.shingles))
        if not smaller:
            return 0.0 if any(are_long) else 1.0
        return ours.shared_with(theirs.shingles) / smaller


def rest_of(text: str, boilerplate: Container[int], shingle_size: int) -> str:
    """Return what a text says outside boilerplate, folded, without what changes at each request.

    Signs are spelled as words. Where that is less than a shingle, the whole of the text counts too.
    """
    part, whole = split_whole(text)
    rest = _outside(part, boilerplate)
    if whole is part or has_shingle(rest, shingle_size):
        return rest
    return f"{rest} {_outside(whole, boilerplate)}".strip()


def _outside(text: str, boilerplate: Container[int]) -> str:
    """Return a rest; one that is a number alone is empty, since it may be a counter."""
    said = _held_blocks(text) if len(text) <= _MAX_HELD_CHARACTERS else _said_blocks(text)
    rest = b" ".join(one for number, one in said if number not in boilerplate).strip()
    told = rest.decode("utf-8", "surrogatepass")
    return "" if _COUNTER.fullmatch(told) else _SIGNS.sub(_spelled, told).strip()


def _spelled(signs: re.Match[str]) -> str:
    """Return signs in a row as one word; marks stay with the letter before them."""
    told = "".join(f"\u02c0{ord(one):x}" for one in signs[0] if category(one)[0] != "M")
    return f" {told} " if told else signs[0]


def _said_blocks(text: str) -> tuple[tuple[int, bytes], ...]:
    """Return the hash of each block and what it says, folded, all of them at once."""
    text = text.replace("\0", "\1")  # a NUL stands between blocks, and folds to itself
    lasting = "\0".join(map(_lasting, pieces(text)))
    said = map(bytes.strip, folded_bytes(lasting).split(b"\0"))
    return tuple([(_hash(one), one) for one in said])


# Pages on one template are compared with the same kept ones again and again.
_held_blocks = lru_cache(_MAX_HELD_TEXTS)(_said_blocks)


def has_shingle(rest: str, shingle_size: int) -> bool:
    """Whether a rest has enough words to say something: those of a shingle."""
    return count_words(rest) >= shingle_size


def _lasting(piece: str) -> str:
    """Return a block without what changes at each request."""
    if len(piece) <= MAX_VOLATILE_CHARACTERS and _NUMBER.search(piece):
        return _NUMBER.sub("", piece) if is_visitor_count(piece) else stable(piece)
    return piece


def _hash(said: bytes) -> int:
    if not (said[:1].isalpha() or _LETTER.search(said.decode("utf-8", "surrogatepass"))):
        return NO_HASH
    return xxhash.xxh3_64_intdigest(said)


MIN_TEXTS = 10
"""A block in fewer texts of a group is no boilerplate."""

MIN_SHARE = 0.01
"""A block in less than this share of the texts of a group is no boilerplate, 0 to 1.

It is small, since a template may be that of few pages of a host, and boilerplate only saves pages.
"""

MIN_COMMON_SHARE = 0.1
"""A block in less than this share of the texts of a group is text for a reader, 0 to 1."""

MAX_GROUP_BLOCKS = 8192
"""The largest number of blocks that are counted for a group."""

_ENTRY = np.dtype([("block", "<u8"), ("texts", "<u4")])


class BlockCounts:
    """The number of texts that have a block, for the blocks of one group of texts.

    A block that it holds is boilerplate where ``in`` says so. About 100 bytes a block.

    Args:
        max_blocks: Blocks that are counted at most.

    Attributes:
        texts: The number of texts that were counted.
        error: The number by which a count may be too low, at most
            2 * (all blocks of all texts) / ``max_blocks``.
    """

    def __init__(self, max_blocks: int = MAX_GROUP_BLOCKS) -> None:
        self.texts = 0
        self.error = 0
        self._max_blocks = max_blocks
        self._counts: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, block: object) -> bool:
        """Return whether a block is boilerplate: in many texts, and in a hundredth of all."""
        return self._counts.get(block, 0) >= self.min_texts  # type: ignore[call-overload, no-any-return]

    @property
    def min_texts(self) -> float:
        """The number of texts from which on a block is boilerplate."""
        return max(MIN_TEXTS, MIN_SHARE * self.texts)

    @property
    def has_boilerplate(self) -> bool:
        """Whether any block is boilerplate."""
        return any(texts >= self.min_texts for texts in self._counts.values())

    @property
    def boilerplate(self) -> list[int]:
        """The hashes of the blocks that are boilerplate, the most frequent first."""
        found = [block for block in self._counts if block in self]
        return sorted(found, key=lambda block: (-self._counts[block], block))

    def common(self) -> frozenset[int]:
        """Return the hashes of the boilerplate that stands in a good share of all texts."""
        least = max(MIN_TEXTS, MIN_COMMON_SHARE * self.texts)
        return frozenset(block for block, texts in self._counts.items() if texts >= least)

    def count(self, block: int) -> int:
        """Return the number of texts that have a block, or up to ``error`` less."""
        return self._counts.get(block, 0)

    def add(self, blocks: bytes) -> bool:
        """Count a text by ``neardup.boilerplate.block_hashes``; return whether boilerplate grew.

        Complexity: O(blocks) on average, 5 us for 50.
        """
        self.texts += 1
        counts, least, has_grown = self._counts, self.min_texts, False
        for block in np.frombuffer(blocks, "<u8").tolist():
            texts = counts[block] = counts.get(block, 0) + 1
            has_grown = has_grown or least <= texts < least + 1
        self._halve_if_full()
        return has_grown

    def _halve_if_full(self) -> None:
        """Lower all counts alike, so that at most half of the blocks are left."""
        if len(self._counts) <= self._max_blocks:
            return
        middle = sorted(self._counts.values(), reverse=True)[self._max_blocks // 2]
        self.error += middle
        self._counts = {
            block: texts - middle for block, texts in self._counts.items() if texts > middle
        }

    def packed(self) -> bytes:
        """Return the counts as bytes, 12 a block in ascending order: hash and texts, little-endian.

        ``texts`` and ``error`` are not among them.
        """
        entries = np.fromiter(sorted(self._counts.items()), _ENTRY, len(self._counts))
        return entries.tobytes()

    @classmethod
    def unpacked(
        cls, packed: bytes, *, texts: int, error: int, max_blocks: int = MAX_GROUP_BLOCKS
    ) -> Self:
        """Return the counts that ``packed`` gave.

        Raises:
            DocumentError: They are no such bytes, or say what no texts can have.
        """
        if len(packed) % _ENTRY.itemsize:
            raise DocumentError(f"counts must be 12 bytes a block, got {len(packed)} bytes")
        entries = np.frombuffer(packed, _ENTRY)
        blocks, counted = entries["block"], entries["texts"]
        is_rising = bool(np.all(blocks[1:] > blocks[:-1]))
        if len(entries) > max_blocks or not is_rising or bool(np.any(blocks == 0)):
            raise DocumentError(f"blocks must be {max_blocks} at most, ascending, none of them 0")
        if len(entries) and not 0 < int(counted.min()) <= int(counted.max()) <= texts:
            raise DocumentError(f"a block must stand in 1 to {texts} texts, got {counted.max()}")
        counts = cls(max_blocks)
        counts.texts, counts.error = texts, error
        counts._counts = dict(zip(blocks.tolist(), counted.tolist(), strict=True))
        return counts
