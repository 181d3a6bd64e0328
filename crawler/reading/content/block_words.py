"""Count the words of blocks that tell what they are for, and those of the page's descriptions.

The words are general ones: of reviews, of consent, of headings over what is around a content. A
page describes itself in its title, its ``meta`` elements and its data of schema.org
(``page_descriptions``). All words of a page are looked up in one pass, and the rest is numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Column = Any  # a numpy array with one value for each block

# Words by what they tell: counted wherever they are.
_COUNTED = {
    "i": "i my me i'm i’m i've i’ve mine myself",
    "we": "we our us ours",
    "you": "you your yours",
    "rating": "verified helpful star stars rating ratings review reviews reviewed recommends "
    "★ ★★★★★ ⭐ 5/5 4/5",
    "consent": "cookie cookies consent vendor vendors advertising advertisers privacy gdpr "
    "third-party opt-out",
}
# Words of headings, by what is below these.
_HEADINGS = {
    "reviews": "review reviews rating ratings testimonial testimonials feedback",
    "related": "related similar also recommended recommend recommendations popular trending recent "
    "recently latest featured explore discover bestsellers more",
    "questions": "faq faqs question questions q&a asked",
    "comments": "comment comments discussion reply replies response responses",
    "legal": "shipping return returns delivery warranty terms privacy legal disclaimer footnote "
    "footnotes copyright payment cookie cookies policy policies",
    "about": "about company story team mission contact connect follow author help support links "
    "resources social touch subscribe newsletter sign join",
    "specification": "specification specifications specs detail details feature features "
    "dimensions material materials ingredients technical highlights benefits overview description "
    "summary",
    "filters": "filter filters sort category categories refine browse tag tags archive archives "
    "department departments brand brands price color colour size menu navigation search contents",
}
_KINDS = (*_COUNTED, *(f"heading {kind}" for kind in _HEADINGS))
_ENDINGS = ("", ",", ".", "!", "?", ":", ";")
_NEVER = 9.0
"""The distance to a heading that does not come before a block."""
_MAX_HEADING = 100
_MAX_LABEL = 60
_RUN = 3
# Characters of a text that are looked at, and texts that are looked at at once: 3 MB.
_LOOKED_AT = 1500
_TEXTS = 2048


def _codes() -> dict[str, int]:
    codes = dict[str, int]()
    for at, words in enumerate([*_COUNTED.values(), *_HEADINGS.values()]):
        for word in words.split():
            for ending in _ENDINGS:
                codes[word + ending] = codes.get(word + ending, 0) | 1 << at
    return codes


_CODES = _codes()


class BlockWords:
    """What the words of the blocks of a page tell, float64, (blocks,) each unless said otherwise.

    Only the first 1,500 characters of a block count.

    Attributes:
        sizes: Number of words.
        counts: Numbers of words of each kind, (kinds, blocks).
        headings: For each kind of heading, whether a block is one, (kinds, blocks), bool.
        described: Share of the words that are in a run of three of the page's descriptions.
        titled: Share of the words that the title has.
        of_title: Share of the title's words that the block has, repeated ones counted again.
        descriptions: Number of words of the descriptions.
    """

    def __init__(self, texts: Sequence[str], title: str, descriptions: Iterable[str]) -> None:
        titles = set(title.split())
        runs = _Runs(descriptions)
        starts = [text[:_LOOKED_AT] for text in texts]
        parts = [
            _word_sums(starts[at : at + _TEXTS], titles, runs)
            for at in range(0, len(starts), _TEXTS)
        ]
        sums = np.concatenate(parts, axis=1) if parts else np.zeros((len(_KINDS) + 3, 0))
        self.counts = sums[: len(_COUNTED)]
        self.headings = sums[len(_COUNTED) : len(_KINDS)] > 0
        self.sizes, titled, described = sums[len(_KINDS) :]
        self.titled = titled / self.sizes
        self.of_title = np.minimum(titled / max(len(titles), 1), 3.0)
        self.described = described / self.sizes
        self.descriptions = runs.words

    def own(self) -> list[Column]:
        """Return what the words of a block are."""
        i, we, you, rating, consent = self.counts / self.sizes
        columns = [i, we, you, rating, consent, *np.log1p(self.counts[[0, 4]])]
        return [*columns, self.described, self.titled, self.of_title]

    def below_headings(self, heading: Column, chars: Column, ends: Column) -> list[Column]:
        """Return under what kind of heading a block is, and how far from the last of each kind.

        Args:
            heading: Level of the heading that a block is, or 0.
            chars: Number of characters of each block.
            ends: Whether it ends as a sentence does.
        """
        at = np.arange(len(chars))
        is_heading = heading > 0
        # Short lines that are no heading by their tag often are one by their looks.
        is_label = (chars < _MAX_HEADING) & (is_heading | ((chars < _MAX_LABEL) & (ends == 0)))
        last = np.maximum.accumulate(np.where(is_heading, at, -1))
        columns = []
        for kind in self.headings:
            of_kind = kind & is_label
            columns.append(np.where(last >= 0, (of_kind & is_heading)[np.maximum(last, 0)], 0))
            columns.append(_distance(of_kind))
        columns.append(_distance((self.described > 0.5) & (self.sizes > 8)))
        columns.append(np.full(len(chars), np.log1p(self.descriptions)))
        return columns

    def weights(self) -> list[Column]:
        """Return what is summed over the containers around a block, the words at first."""
        i, we, you, rating, consent = self.counts
        described = self.described * self.sizes
        return [self.sizes, i, we + you, rating, consent, described, self.titled * self.sizes]


def _distance(marked: Column) -> Column:
    """Return the logarithm of how many blocks ago the last marked one was."""
    at = np.arange(len(marked))
    last = np.maximum.accumulate(np.where(marked, at, -1))
    return np.where(last >= 0, np.log1p(at - last), _NEVER)


class _Runs:
    """The runs of three words that the descriptions of a page have."""

    def __init__(self, descriptions: Iterable[str]) -> None:
        self._numbers: dict[str, int] = {}
        self.words = 0
        runs: list[int] = []
        for text in descriptions:
            ids = [
                self._numbers.setdefault(word, len(self._numbers) + 1)
                for word in text.lower().split()
            ]
            self.words += len(ids)
            runs += [_run(*three) for three in zip(ids, ids[1:], ids[2:], strict=False)]
        self._runs = np.array(runs, np.int64)

    def covered(self, words: list[str], homes: Column) -> Column:
        """Return whether each word is in such a run within its block, (words,)."""
        covered = np.zeros(len(words))
        if not len(self._runs) or len(words) < _RUN:
            return covered
        numbers = self._numbers
        ids = np.array([numbers.get(word, 0) for word in words], np.int64)
        first, second, third = ids[:-2], ids[1:-1], ids[2:]
        known = (first > 0) & (second > 0) & (third > 0) & (homes[2:] == homes[:-2])
        same = known & np.isin(_run(first, second, third), self._runs)
        for shift in range(_RUN):
            covered[shift : shift + len(same)] += same
        return np.minimum(covered, 1)


def _run(first: Any, second: Any, third: Any) -> Any:
    return (first << 42) | (second << 21) | third


def _word_sums(texts: list[str], titles: set[str], runs: _Runs) -> Column:
    """Return numbers of words: of each kind, all, of the title, of descriptions; (kinds, texts)."""
    count = len(texts)
    words = " ".join(texts).lower().split(" ")
    sizes = np.array([text.count(" ") + 1 for text in texts], np.int64)
    homes = np.repeat(np.arange(count), sizes)
    codes = np.array([_CODES.get(word, 0) for word in words], np.int64)
    # Few words of a page tell anything.
    telling = np.flatnonzero(codes)
    codes, at = codes[telling], homes[telling]
    kinds = [np.bincount(at[(codes >> bit & 1) > 0], minlength=count) for bit in range(len(_KINDS))]
    titled = np.array([word in titles for word in words], np.float64)
    described = runs.covered(words, homes)
    return np.array(
        [*kinds, sizes, np.bincount(homes, titled, count), np.bincount(homes, described, count)],
        np.float64,
    )
