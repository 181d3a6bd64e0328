"""Compute what tells content from the rest: a row of numbers for each block.

All of it is shape, and general words of markup and controls; nothing of a site, and nothing of the
subject of a text. Rows are made with numpy for a whole page at once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_columns import BlockColumns
from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.kernels import tell_words
from crawler.reading.content.page_features import page_row, read_page_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.reading.content.blocks import PageBlocks

Element = Any  # lxml has no types
Column = Any  # a numpy array with one value for each block

_OFFSETS = (-2, -1, 1, 2)

# Characters of a title in which the text of each block is searched.
_MAX_TITLE = 1000


class PageFeatures:
    """The features of a page.

    Attributes:
        blocks: float32, (blocks, features).
        page: float32, (len(PAGE_NAMES),).
        sizes: float64, (blocks,): number of words of each block, for scripts without spaces too.
        groups: int64, (blocks,): number of the group of blocks in containers of one path.
        headings: bool, (blocks,): whether a block is a heading.
        titles: bool, (blocks,): whether it is a heading of the first level, or the page's title.
        main: bool, (blocks,): whether it stands in ``main``.
        beside: bool, (blocks,): whether it stands in a menu or sidebar outside that.
        company: bool, (blocks,): whether its classes say that it stands beside an article.
        instructions: indices of the blocks that only say how to answer a mail.
        headed: bool, (blocks,): whether the heading above it says so.
        dated: bool, (blocks,): whether it is short and has a day or time.
        comment_labels: bool, (blocks,): whether it is a heading or short text on comments.
    """

    def __init__(self, blocks: PageBlocks, root: Element) -> None:
        title = " ".join((root.findtext("head/title") or "").lower().split())[:_MAX_TITLE]
        declared = [*root.iter("meta", "script")]
        kinds, descriptions = (
            read_page_kinds(root, blocks.page, declared),
            page_descriptions(declared),
        )
        columns = BlockColumns(blocks, title)
        # A text without spaces has a word in every eight characters at least.
        self.sizes = np.maximum(columns.words, columns.chars / 8)
        self.groups = columns.groups
        self.headings = columns.heading > 0
        self.titles = (columns.heading == 1) | (columns.in_title > 0)
        main, *menus = (columns.flags[FLAGS.index(kind)] > 0 for kind in ("main", "nav", "sidebar"))
        self.main, self.beside = main, np.logical_or(*menus) & ~main
        self.page = page_row(blocks, columns, kinds, title)
        words = BlockWords(blocks.texts, title, descriptions)
        self.company = columns.flags[[FLAGS.index(kind) for kind in _COMPANY]].any(axis=0)
        of_code = (at for at, home in enumerate(blocks.homes) if blocks.tags[home] == "pre")
        self.instructions = [at for at in of_code if _REPLYING in blocks.texts[at]]
        below = words.below_headings(columns.heading, columns.chars, columns.ends)
        self.headed = below[_COMPANY_HEADINGS].any(axis=0)
        self.dated = columns.date > 0
        is_short = columns.chars < np.where(self.headings, _MAX_HEADING, _MAX_LABEL)
        self.comment_labels = words.headings[[*_HEADINGS].index("comments")] & is_short
        rows = [*_own(columns), *_places(columns), columns.tags, *_neighbours(columns)]
        rows += [*_surroundings(columns), *_of_group(columns), *words.own()]
        rows += [below, columns.flags, columns.near_flags, columns.inline_flags]
        tables = [row if row.ndim > 1 else row[None] for row in rows]
        # The model reads the values of a feature one after the other.
        self.blocks = np.concatenate(tables, dtype=np.float32, casting="unsafe").T


def _own(columns: BlockColumns) -> Iterator[Column]:
    """Yield what a block is by itself."""
    chars, words = columns.chars, columns.words
    yield np.log1p([chars, words, columns.linked])
    yield from (columns.link_share, np.log1p(columns.links), chars / np.maximum(words, 1))
    yield from (columns.digits, columns.upper, columns.commas, columns.ends, columns.heading)
    yield from (columns.price, columns.legal, columns.action, columns.date)
    yield from (chars < 25, columns.same_text, columns.in_title, columns.depth)


def _places(columns: BlockColumns) -> Iterator[Column]:
    """Yield where on the page a block stands."""
    count = len(columns.chars)
    at = np.arange(count, dtype=np.float64)
    before = np.cumsum(columns.chars) - columns.chars
    yield at / max(count, 1)
    yield before / max(columns.chars.sum(), 1.0)
    yield np.log1p(count - at)
    last = last_marked(columns.heading > 0)
    last_at = np.maximum(last, 0)
    yield np.log1p(at - last)
    yield np.where(last >= 0, columns.heading[last_at], 0)
    yield np.log1p(before - before[last_at])
    first = np.flatnonzero(columns.heading == 1)
    if first.size:
        beyond = at - first[0]
        yield np.sign(beyond) * np.log1p(np.abs(beyond))
        yield at < first[0]
    else:
        yield np.full(count, -99.0)
        yield np.zeros(count)


def _neighbours(columns: BlockColumns) -> Iterator[Column]:
    """Yield what stands before and after a block, and whether it stands in the same place.

    Beyond the page all is -1.
    """
    count, margin = len(columns.chars), max(_OFFSETS)
    values = np.full((6, count + 2 * margin), -1.0)
    page = values[:, margin : margin + count]
    page[:] = (
        *(np.log1p(columns.chars), columns.link_share, columns.ends, columns.heading),
        *(columns.homes, columns.groups),
    )
    for offset in _OFFSETS:
        shifted = values[:, margin + offset : margin + offset + count]
        yield shifted[:4]
        yield shifted[4:] == page[4:]


def _surroundings(columns: BlockColumns) -> Iterator[Column]:
    """Yield what the containers around a block hold."""
    chars, linked, inner, commas, mostly_linked = columns.sums_below(
        [
            columns.chars,
            columns.linked,
            np.ones(len(columns.chars)),
            columns.commas,
            columns.link_share > 0.5,
        ]
    )
    some = np.maximum(chars, 1)
    blocks = np.maximum(inner, 1)
    logs = np.log1p([chars, inner, chars / blocks, columns.twins])
    shares = (linked / some, chars / max(columns.chars.sum(), 1.0), commas / some * 100)
    table = np.array(
        [logs[0], *shares[:2], *logs[1:3], shares[2], logs[3], mostly_linked / blocks], np.float32
    )
    for places in columns.around:
        yield table.take(places, axis=1)


def _of_group(columns: BlockColumns) -> Iterator[Column]:
    """Yield what the blocks in containers of the same path are together."""
    groups = columns.groups
    inner, chars, linked, commas = columns.sums_of_groups(
        [np.ones(len(groups)), columns.chars, columns.linked, columns.commas]
    )
    some = np.maximum(chars, 1)
    table = np.array([inner, chars, linked / some, chars / inner, commas / some * 100])
    table[[0, 1, 3]] = np.log1p(table[[0, 1, 3]])
    yield table.take(groups, axis=1)


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
# Words of headings, by what is below these; whole headings of scripts without spaces.
_HEADINGS = {
    "reviews": "review reviews rating ratings testimonial testimonials feedback",
    "related": "related similar also recommended recommend recommendations popular trending recent "
    "recently latest featured explore discover bestsellers more ähnliche verwandte weitere mehr "
    "meistgelesen similaires aussi populaires lire relacionadas relacionados también últimas "
    "também mais leia correlati anche leggi gerelateerd ook meer lees relaterte også läs mer mest "
    "podobne również czytaj więcej také čtěte ilgili haberler terkait похожие также читайте ещё "
    "関連記事 関連ニュース おすすめ 人気記事 ランキング 相关阅读 相关新闻 推荐阅读 관련기사",
    "questions": "faq faqs question questions q&a asked",
    "comments": "comment comments discussion reply replies response responses kommentare kommentar "
    "commentaires comentarios comentários reacties yorumlar комментарии コメント 评论 댓글",
    "legal": "shipping return returns delivery warranty terms privacy legal disclaimer footnote "
    "footnotes copyright payment cookie cookies policy policies",
    "about": "about company story team mission contact connect follow author help support links "
    "resources social touch subscribe newsletter sign join über autor autorin teilen folgen auteur "
    "partager abonnez-vous compartir compartilhe condividi delen dela paylaş поделиться 分享 공유",
    "specification": "specification specifications specs detail details feature features "
    "dimensions material materials ingredients technical highlights benefits overview description "
    "summary",
    "filters": "filter filters sort category categories refine browse tag tags archive archives "
    "department departments brand brands price color colour size menu navigation search contents",
}
_KINDS = (*_COUNTED, *(f"heading {kind}" for kind in _HEADINGS))
_COMPANY = ("comment", "share", "related", "ad", "cookie", "modal", "pager")
# An archive of mails has this below each of them.
_REPLYING = "Reply instructions: "
_COMPANY_HEADINGS = [2 * [*_HEADINGS].index(kind) for kind in ("related", "comments", "about")]
_ENDINGS = ("", ",", ".", "!", "?", ":", ";")
_NEVER = 9.0
"""The distance to a heading that does not come before a block."""
_MAX_HEADING = 100
_MAX_LABEL = 60
_LOOKED_AT = 1500
"""Characters of a text that are looked at."""


def _codes() -> dict[str, int]:
    codes = dict[str, int]()
    for at, words in enumerate([*_COUNTED.values(), *_HEADINGS.values()]):
        for word in words.split():
            for ending in _ENDINGS:
                codes[word + ending] = codes.get(word + ending, 0) | 1 << at
    return codes


_CODES = _codes()

# The number of a word: a bit for each kind, one for words of the title, and above these the place
# of the word among those of the descriptions.
_TITLE = 1 << len(_KINDS)
_PLACE = len(_KINDS) + 1


class BlockWords:
    """Columns of what the words of blocks tell, float64, (blocks,) each unless said otherwise.

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
        telling = _TellingWords(title, descriptions)
        sums = telling.sums([text[:_LOOKED_AT] for text in texts])
        self.counts = sums[: len(_COUNTED)]
        self.headings = sums[len(_COUNTED) : len(_KINDS)] > 0
        titled, described, self.sizes = sums[len(_KINDS) :]
        self.titled = titled / self.sizes
        self.of_title = np.minimum(titled / max(len(set(title.split())), 1), 3.0)
        self.described = described / self.sizes
        self.descriptions = telling.described

    def own(self) -> list[Column]:
        """Return what the words of a block are."""
        told = np.log1p(self.counts[[0, 4]])
        return [self.counts / self.sizes, told, self.described, self.titled, self.of_title]

    def below_headings(self, heading: Column, chars: Column, ends: Column) -> Column:
        """Return under what kind of heading a block is, and how far from the last of each kind.

        Args:
            heading: Level of the heading that a block is, or 0.
            chars: Number of characters of each block.
            ends: Whether it ends as a sentence does.
        """
        is_heading = heading > 0
        # Short lines that are no heading by their tag often are one by their looks.
        is_label = (chars < _MAX_HEADING) & (is_heading | ((chars < _MAX_LABEL) & (ends == 0)))
        of_kind = self.headings & is_label
        last = last_marked(is_heading)
        columns = np.empty((2 * len(of_kind) + 2, len(chars)))
        columns[:-2:2] = (of_kind & is_heading).take(np.maximum(last, 0), axis=1) & (last >= 0)
        columns[1:-2:2] = _distances(of_kind)
        columns[-2] = _distances((self.described > 0.5) & (self.sizes > 8))
        columns[-1] = np.log1p(self.descriptions)
        return columns


def last_marked(marked: Column) -> Column:
    """Return the place of the last marked block up to each, or -1; along the last axis."""
    places = np.where(marked, np.arange(marked.shape[-1]), -1)
    last: Column = np.maximum.accumulate(places, axis=-1)
    return last


def _distances(marked: Column) -> Column:
    """Return the logarithm of how many blocks ago the last marked one was, along the last axis."""
    count = marked.shape[-1]
    last = last_marked(marked)
    places = np.arange(count)
    distances = np.log1p(places).take(places - np.maximum(last, 0))
    return np.where(last >= 0, distances, _NEVER)


class _TellingWords:
    """The words that tell something on a page: those of all pages, its title, its descriptions.

    Attributes:
        described: Number of words of the descriptions.
    """

    def __init__(self, title: str, descriptions: Iterable[str]) -> None:
        places: dict[str, int] = {}
        self.described = 0
        self._runs = set[int]()
        # Most pages describe themselves several times in the same words.
        for text, times in Counter(descriptions).items():
            words = [places.setdefault(word, len(places) + 1) for word in text.lower().split()]
            self.described += times * len(words)
            self._runs.update(map(_run, words, words[1:], words[2:]))
        self._numbers = numbers = _CODES.copy()
        for word in title.split():
            numbers[word] = numbers.get(word, 0) | _TITLE
        for word, place in places.items():
            numbers[word] = numbers.get(word, 0) | place << _PLACE

    def sums(self, texts: list[str]) -> Column:
        """Return how many words tell each thing, those of runs and all, (things + 2, texts)."""
        return tell_words(texts, self._numbers, self._runs, _PLACE)


def _run(first: int, second: int, third: int) -> int:
    return (first << 42) | (second << 21) | third


_NAMES = frozenset(["description", "og:description", "twitter:description"])
# Data beyond so many characters are not looked at.
_MAX_DATA = 200_000
_MAX_DESCRIPTION = 20_000
_MAX_DESCRIPTIONS = 40
_PROPERTY = re.compile(r'"(?:description|articleBody)"\s*+:\s*+("(?:[^"\\]|\\.)*+")', re.DOTALL)
_TAG = re.compile(r"<[^<>]*+>")


def page_descriptions(declared: Iterable[Element]) -> list[str]:
    """Return the descriptions of a page, without markup.

    Args:
        declared: Elements ``meta`` and ``script`` of the page.

    Complexity: O(elements + characters).
    """
    found, data = [], []
    for element in declared:
        if element.tag == "meta":
            name = element.get("name") or element.get("property") or ""
            if name.lower() in _NAMES:
                found.append(element.get("content") or "")
        elif element.get("type") == "application/ld+json" and element.text:
            data += _properties(element.text[:_MAX_DATA])
    found += data
    shortened = (text[:_MAX_DESCRIPTION] for text in found[:_MAX_DESCRIPTIONS])
    return [_TAG.sub(" ", text) for text in shortened]


def _properties(data: str) -> list[str]:
    """Return the descriptions in JSON, whether it is well-formed or not."""
    texts = []
    for quoted in _PROPERTY.findall(data):
        try:
            texts.append(str(json.loads(quoted, strict=False)))
        except ValueError:
            continue
    return texts
