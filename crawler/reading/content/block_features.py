"""Compute what tells content from the rest: a row of numbers for each block.

All of it is shape, and general words of markup and controls; nothing of a site, and nothing of the
subject of a text. ``kernels`` computes the rows of a whole page at once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_flags import flag_bits
from crawler.reading.content.kernels import PLACE, TEXT_COLUMNS, TITLE, BlockTable
from crawler.reading.content.page_features import page_row, read_page_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.reading.content.blocks import PageBlocks

Element = Any  # lxml has no types

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
        words = PageWords(title, page_descriptions(declared))
        table = BlockTable(blocks, words)
        # The model reads the values of a feature one after the other.
        self.blocks = table.features.T
        self.page = page_row(blocks, table, read_page_kinds(root, blocks.page, declared), title)
        chars, count = table.texts[:2]
        # A text without spaces has a word in every eight characters at least.
        self.sizes = np.maximum(count, chars / 8)
        self.groups, self.headings = table.groups, table.levels > 0
        self.titles = (table.levels == 1) | (table.texts[_IN_TITLE] > 0)
        self.main = table.flags & _MAIN > 0
        self.beside = (table.flags & _BESIDE > 0) & ~self.main
        self.company = table.flags & _COMPANY > 0
        of_code = (at for at, home in enumerate(blocks.homes) if blocks.tags[home] == "pre")
        self.instructions = [at for at in of_code if _REPLYING in blocks.texts[at]]
        self.headed = table.above & (_RELATED | _COMMENTS | _ABOUT) > 0
        self.dated = table.texts[_DATE] > 0
        self.comment_labels = table.kinds & _COMMENTS > 0


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
_MAIN, _BESIDE = flag_bits("main"), flag_bits("nav sidebar")
_COMPANY = flag_bits("comment share related ad cookie modal pager")
# An archive of mails has this below each of them.
_REPLYING = "Reply instructions: "
_RELATED, _COMMENTS, _ABOUT = (
    1 << [*_HEADINGS].index(kind) for kind in ("related", "comments", "about")
)
_DATE, _IN_TITLE = map(TEXT_COLUMNS.index, ("date", "in_title"))
_ENDINGS = ("", ",", ".", "!", "?", ":", ";")


def _codes() -> dict[str, int]:
    codes = dict[str, int]()
    for at, words in enumerate([*_COUNTED.values(), *_HEADINGS.values()]):
        for word in words.split():
            for ending in _ENDINGS:
                codes[word + ending] = codes.get(word + ending, 0) | 1 << at
    return codes


class PageWords:
    """The words that tell something on a page: those of all pages, its title, its descriptions.

    The number of a word has a bit for each kind, first those that are counted, then those of
    headings, ``TITLE`` for a word of the title, and above these its place in the descriptions.

    Attributes:
        title: The title, in lower case, one space between words.
        codes: Numbers of the words of all pages.
        of_page: Numbers of the words of this one.
        runs: Places of three words that follow each other in a description, packed.
        described: Number of words of the descriptions.
    """

    codes = _codes()

    def __init__(self, title: str, descriptions: Iterable[str]) -> None:
        self.title = title
        places: dict[str, int] = {}
        self.described = 0
        self.runs = set[int]()
        # Most pages describe themselves several times in the same words.
        for text, times in Counter(descriptions).items():
            words = [places.setdefault(word, len(places) + 1) for word in text.lower().split()]
            self.described += times * len(words)
            self.runs.update(map(_run, words, words[1:], words[2:]))
        self.of_page = {word: self.codes.get(word, 0) | TITLE for word in title.split()}
        for word, place in places.items():
            number = self.of_page.get(word) or self.codes.get(word, 0)
            self.of_page[word] = number | place << PLACE


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
