"""Diff two texts of a page by paragraphs and sentences, without what always changes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from neardup.comparison.diff import ADDED, EQUAL, REMOVED, diff, written_words
from neardup.plurals import many
from neardup.volatile.phrases import MASK, masked
from neardup.whole import split_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_EXACT = 2_000
"""Texts of more passages are compared without those that stand in many places."""

MAX_PAIRS = 10_000
"""Look for edits among at most this many pairs of passages that differ in a row."""

_MIN_SHARED = 0.5
"""A paragraph was edited where at least this share of the words of the shorter version stayed;
below it one was removed and another one added."""

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)»]*\s+(?=\S)|(?<=[。！？])(?=\S)")


class Passage(NamedTuple):
    """A paragraph or a sentence: as it is written, and as it is compared."""

    text: str
    key: str


@dataclass(frozen=True, slots=True)
class TextDifference:
    """Differences between two texts of a page.

    Attributes:
        added: Passages that only the new text has, as they are written.
        removed: Passages that only the old text has.
        words_added: Words of them that only the new text has.
        words_removed: Words that only the old text has.
        summary: What differs, in half a sentence; empty where nothing does that counts.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    words_added: int = 0
    words_removed: int = 0
    summary: str = ""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def find_difference(
    old: str,
    new: str,
    language: str | None = None,
    is_boilerplate: Callable[[Passage], bool] = lambda _: False,
) -> TextDifference:
    """Return what differs between two texts but for boilerplate, clocks, dates and counters.

    A passage that only changed its place does not differ.

    Args:
        old: A text as it is judged, with its whole.
        new: The later one.
        language: The language of the page; None: it is not known.
        is_boilerplate: Returns whether a paragraph is boilerplate.

    Complexity: O(passages * passages) at worst, O(length) where most of them are the same.
    """
    before, after = (
        [passage for passage in _paragraphs(text, language) if not is_boilerplate(passage)]
        for text in (old, new)
    )
    found = _Pieces(language)
    for ours, theirs in _unequal(before, after):
        found.take(ours, theirs)
    return found.difference()


def one_sided_keys(old: str, new: str, language: str | None = None) -> set[str]:
    """Return the keys of the paragraphs that only one of two texts has. Complexity: O(length)."""
    ours, theirs = ({one.key for one in _paragraphs(text, language)} for text in (old, new))
    return ours ^ theirs


def _paragraphs(text: str, language: str | None) -> list[Passage]:
    """Return the lines of a text, and those that only its whole has behind them."""
    part, whole = split_whole(text)
    lines = part.split("\n")
    if whole is not part:
        own = Counter(lines)
        lines += [line for line in whole.split("\n") if not _take_from(own, line)]
    return _passages(lines, language)


def _take_from(counts: Counter[str], line: str) -> bool:
    if counts[line] <= 0:
        return False
    counts[line] -= 1
    return True


def _passages(texts: Sequence[str], language: str | None) -> list[Passage]:
    found = (Passage(text.strip(), masked(text, language)) for text in texts)
    return [passage for passage in found if passage.key.strip(f"{MASK} .,:;|·•–—-()[]/")]


def _unequal(
    ours: Sequence[Passage], theirs: Sequence[Passage]
) -> list[tuple[Sequence[Passage], Sequence[Passage]]]:
    """Return the stretches that differ, in order: what was there, and what stands there now."""
    matcher = SequenceMatcher(
        None,
        [passage.key for passage in ours],
        [passage.key for passage in theirs],
        autojunk=max(len(ours), len(theirs)) > MAX_EXACT,
    )
    return [
        (ours[first:end], theirs[other:other_end])
        for kind, first, end, other, other_end in matcher.get_opcodes()
        if kind != EQUAL
    ]


class _Edit(NamedTuple):
    """A passage that became another one, with the numbers of words removed and added."""

    old: Passage
    new: Passage
    removed: int
    added: int


class _Pieces:
    """The differences, the largest first.

    Args:
        language: The language of the page.
    """

    def __init__(self, language: str | None) -> None:
        self._language = language
        self._paragraphs: tuple[list[Passage], list[Passage]] = ([], [])
        self._sentences: tuple[list[Passage], list[Passage]] = ([], [])
        self._edits: list[_Edit] = []

    def take(self, ours: Sequence[Passage], theirs: Sequence[Passage]) -> None:
        """Take a stretch of paragraphs that differs."""
        for paragraphs in _paired(ours, theirs, self._paragraphs):
            before, after = (
                _passages(_SENTENCE.split(one.text), self._language) for one in paragraphs
            )
            for gone, come in _unequal(before, after):
                pairs = _paired(gone, come, self._sentences)
                self._edits += [
                    _Edit(*pair, *_word_counts(*(one.key for one in pair))) for pair in pairs
                ]

    def difference(self) -> TextDifference:
        """Return what differs, without passages that only changed their place."""
        paragraphs = _without_moved(*self._paragraphs)
        sentences = _without_moved(*self._sentences)
        edits = [edit for edit in self._edits if edit.removed or edit.added]
        removed = [*paragraphs[0], *sentences[0], *(edit.old for edit in edits)]
        added = [*paragraphs[1], *sentences[1], *(edit.new for edit in edits)]
        edited = sum(edit.removed for edit in edits), sum(edit.added for edit in edits)
        parts = [
            *_passage_words(paragraphs, "paragraph"),
            *_passage_words(sentences, "sentence"),
            *_edit_words(len(edits), *edited),
        ]
        return TextDifference(
            tuple(passage.text for passage in added),
            tuple(passage.text for passage in removed),
            words_added=_words(paragraphs[1]) + _words(sentences[1]) + edited[1],
            words_removed=_words(paragraphs[0]) + _words(sentences[0]) + edited[0],
            summary=", ".join(parts),
        )


def _paired(
    ours: Sequence[Passage], theirs: Sequence[Passage], alone: tuple[list[Passage], list[Passage]]
) -> list[tuple[Passage, Passage]]:
    """Return the passages that became another one with it; add those that did not to ``alone``."""
    if len(ours) * len(theirs) > MAX_PAIRS:
        alone[0].extend(ours)
        alone[1].extend(theirs)
        return []
    pairs: list[tuple[Passage, Passage]] = []
    others = [(new, _counts(new)) for new in theirs]
    for old in ours:
        counts = _counts(old)
        shares = [_shared(counts, other) for _, other in others]
        best = max(range(len(shares)), key=shares.__getitem__, default=None)
        if best is None or shares[best] < _MIN_SHARED:
            alone[0].append(old)
        else:
            pairs.append((old, others.pop(best)[0]))
    alone[1].extend(new for new, _ in others)
    return pairs


def _counts(passage: Passage) -> Counter[str]:
    return Counter(word.rstrip() for word in written_words(passage.key))


def _shared(ours: Counter[str], theirs: Counter[str]) -> float:
    """Return the share of the words of the shorter passage that the other one has, 0 to 1."""
    shorter = min(ours.total(), theirs.total())
    return (ours & theirs).total() / shorter if shorter else 0.0


def _without_moved(
    ours: Sequence[Passage], theirs: Sequence[Passage]
) -> tuple[list[Passage], list[Passage]]:
    both = Counter(one.key for one in ours) & Counter(one.key for one in theirs)
    left = Counter(both)
    return (
        [one for one in ours if not _take_from(both, one.key)],
        [one for one in theirs if not _take_from(left, one.key)],
    )


def _word_counts(old: str, new: str) -> tuple[int, int]:
    """Return how many words only the old passage has, and only the new one."""
    counts = Counter[str]()
    for run in diff(old, new):
        counts[run.kind] += len(run.words)
    return counts[REMOVED], counts[ADDED]


def _words(passages: Sequence[Passage]) -> int:
    return sum(_word_counts("", passage.text)[1] for passage in passages)


def _passage_words(both: tuple[Sequence[Passage], Sequence[Passage]], kind: str) -> list[str]:
    """Return what to say of whole passages that were removed or added."""
    parts = []
    for passages, verb in ((both[1], "added"), (both[0], "removed")):
        if passages:
            words = many(_words(passages), "word")
            if len(passages) == 1:
                parts.append(f"a {kind} of {words} was {verb}")
            else:
                parts.append(f"{len(passages):,} {kind}s of {words} were {verb}")
    return parts


def _edit_words(count: int, removed: int, added: int) -> list[str]:
    if not count:
        return []
    where = "a sentence" if count == 1 else f"{count:,} sentences"
    if removed and added:
        words = many(removed, "word")
        verb = "was" if removed == 1 else "were"
        return [f"{words} of {where} {verb} replaced by {added:,}"]
    number, verb = (added, "added to") if added else (removed, "removed from")
    return [f"{many(number, 'word')} {'was' if number == 1 else 'were'} {verb} {where}"]
