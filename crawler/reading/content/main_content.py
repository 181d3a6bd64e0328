"""Find the main content of a page, and the type of the page.

The page is cut into blocks; a small model says how likely each is content; those are chosen that
make the expected F1 of the page highest (``choosing``). What may be an article is read by
trafilatura too, which is made for them, where the model doubts its own choice; its result is taken
where the two agree on the place. ``docs/choices.md`` has what was tried.

``benchmarks/train_content.py`` trains the model, which tells the type of the page too, by logistic
regression.

The trees are symmetric: all nodes of a level ask the same question, so that a leaf's number is the
answers as bits. Questions about the page have one answer for all of its blocks, and so has what the
net makes of the page: a block takes the other questions, a look into a table for each tree, and the
rest of the net, all in numpy.
"""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from lxml.etree import SubElement, strip_elements, strip_tags

from crawler.reading.content.block_features import PageFeatures
from crawler.reading.content.blocks import CONTAINERS, SKIPPED, cut_blocks
from crawler.reading.content.choosing import choose_blocks
from crawler.reading.content.content_body import build_body, layout_containers
from crawler.reading.content.content_xml import PAGE_TYPES
from crawler.reading.content.page_features import PAGE_NAMES

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from crawler.reading.content.blocks import PageBlocks
    from crawler.reading.flat_page import FlatPage

    Floats: TypeAlias = NDArray[np.float32]

FILE = "content_model.npz"


class ContentModel(NamedTuple):
    """The trained numbers.

    Attributes:
        features: int16, (trees, depth): the feature that a level asks for; eight levels at most.
        borders: float32, (trees, depth): what the feature must be above.
        leaves: float32, (trees, 2 ** depth): what a leaf adds to the logarithm of the odds.
        bias: Added to the logarithm of the odds.
        row_mean: float32, (features,).
        row_scale: float32, (features,).
        hidden: float16, (features, units): what a feature adds to a unit of the net.
        hidden_bias: float32, (units,).
        output: float32, (units,): what a unit adds to the logarithm of the odds.
        output_bias: Added to the logarithm of the odds.
        page_mean: float32, (page features,).
        page_scale: float32, (page features,).
        type_weights: float32, (types, page features + 1): the last column is the intercept.
    """

    features: Any
    borders: Any
    leaves: Any
    bias: Any
    row_mean: Any
    row_scale: Any
    hidden: Any
    hidden_bias: Any
    output: Any
    output_bias: Any
    page_mean: Any
    page_scale: Any
    type_weights: Any

    def type_odds(self, page: Floats) -> Floats:
        """Return how likely each of ``PAGE_TYPES`` is, (types,), by the page's features."""
        scaled = (page - self.page_mean) / self.page_scale
        # A page beyond all that was seen is at the edge of it.
        scores = self.type_weights[:, :-1] @ np.clip(scaled, -5, 5) + self.type_weights[:, -1]
        odds: Floats = np.exp(scores - scores.max()).astype(np.float32)
        shares: Floats = odds / odds.sum()
        return shares


@cache
def load_model() -> ContentModel:
    """Return the model that is shipped, read once a process."""
    with (
        resources.files("crawler.reading.content").joinpath(FILE).open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        return ContentModel(*(stored[name] for name in ContentModel._fields))


# What the net's score counts beside that of the trees.
_NET_SHARE = 0.45
# Features are so many standard deviations from their mean at most.
_FARTHEST = 4
# Blocks that are scored at once: five megabytes of answers.
_BLOCKS = 2048


class BlockScorer:
    """Trees and a small net, whose mean is the logarithm of the odds: they err on other blocks."""

    def __init__(self, model: ContentModel) -> None:
        of_page = len(model.page_mean) + len(model.type_weights)
        features = len(model.row_mean) - of_page
        self._trees = _Trees(model, features)
        self._net = _Net(model, features)

    def content_odds(self, blocks: Floats, page: Floats) -> Floats:
        """Return how likely each block is content, float32, (blocks,).

        Args:
            blocks: Features of the blocks, float32, (blocks, features).
            page: Features of the page, then its ``type_odds``.
        """
        trees, net = self._trees.of_page(page), self._net.of_page(page)
        odds = np.empty(len(blocks), np.float32)
        for at in range(0, len(blocks), _BLOCKS):
            columns = np.ascontiguousarray(blocks[at : at + _BLOCKS].T)
            scores = (1 - _NET_SHARE) * self._trees.scores(columns, trees)
            scores += _NET_SHARE * self._net.scores(columns, net)
            odds[at : at + _BLOCKS] = 1 / (1 + np.exp(-scores))
        return odds


class _Trees:
    """The trees, those with most questions about blocks at first, and these questions at first."""

    def __init__(self, model: ContentModel, features: int) -> None:
        is_of_page = model.features >= features
        order = np.argsort(is_of_page.sum(axis=1), kind="stable")
        levels = np.argsort(is_of_page, axis=1, kind="stable")[order]
        trees = order[:, None]
        self._bias = model.bias
        self._leaves = model.leaves[trees, _renumbered(levels)].ravel()
        self._first = np.arange(len(order)) * model.leaves.shape[1]
        asked, borders = model.features[trees, levels], model.borders[trees, levels]
        self._levels = [
            (of_level[: about.sum()], border[: about.sum(), None])
            for about, of_level, border in zip(
                (asked < features).T, asked.T, borders.T, strict=True
            )
        ]
        self._tree, level = np.nonzero(asked >= features)
        self._bit = 1 << level
        self._asked = asked[self._tree, level] - features
        self._border = borders[self._tree, level]

    def of_page(self, page: Floats) -> Any:
        """Return the place of the first leaf of each tree that a page can reach, (trees, 1)."""
        places = self._first.copy()
        np.add.at(places, self._tree, self._bit * (page[self._asked] > self._border))
        return places[:, None]

    def scores(self, columns: Floats, first: Any) -> Floats:
        """Return the sum of the leaves of each block, by its features, (features, blocks)."""
        numbers = np.zeros((len(first), columns.shape[1]), np.uint8)
        for features, borders in reversed(self._levels):
            asked = numbers[: len(features)]
            asked += asked
            asked += columns.take(features, axis=0) > borders
        places = numbers.astype(np.intp)
        places += first
        scores: Floats = self._leaves.take(places).sum(axis=0) + self._bias
        return scores


def _renumbered(levels: Any) -> Any:
    """Return the numbers of leaves by those after the levels are put in another order.

    Args:
        levels: The order of the levels of each tree, (trees, depth).
    """
    depth = levels.shape[1]
    bits = np.arange(1 << depth)[:, None] >> np.arange(depth) & 1
    return (bits << levels[:, None, :]).sum(axis=2)


class _Net:
    """The net, with the scaling of features in its weights."""

    def __init__(self, model: ContentModel, features: int) -> None:
        mean, scale = model.row_mean[:, None], model.row_scale[:, None]
        lowest, highest = mean - _FARTHEST * scale, mean + _FARTHEST * scale
        hidden = model.hidden.astype(np.float64) / scale
        self._bias = (model.hidden_bias - (mean * hidden).sum(axis=0)).astype(np.float32)
        self._page_range = lowest[features:, 0], highest[features:, 0]
        self._page_hidden = hidden[features:].astype(np.float32)
        self._range = lowest[:features], highest[:features]
        self._hidden = hidden[:features].astype(np.float32)
        self._output, self._output_bias = model.output, model.output_bias

    def of_page(self, page: Floats) -> Floats:
        """Return what a page adds to each unit for all of its blocks, (units,)."""
        units: Floats = np.clip(page, *self._page_range) @ self._page_hidden + self._bias
        return units

    def scores(self, columns: Floats, units: Floats) -> Floats:
        """Return the score of each block, by its features, (features, blocks)."""
        lowest, highest = self._range
        near = np.maximum(columns, lowest)
        np.minimum(near, highest, out=near)
        hidden = near.T @ self._hidden
        hidden += units
        np.maximum(hidden, 0, out=hidden)
        scores: Floats = hidden @ self._output + self._output_bias
        return scores


@cache
def load_scorer() -> BlockScorer:
    """Return the scorer of the model that is shipped, made once a process."""
    return BlockScorer(load_model())


Element = Any  # lxml has no types

BLOCKS, TRAFILATURA = EXTRACTORS = ("blocks", "trafilatura")
"""The names of what finds main content; blocks alone are the cheap way to the text."""

# trafilatura takes as long as all else here, so that only likely articles are worth it, and of them
# those where what was chosen is less certain. A page that declares twice that it is an article is a
# likely one: a third of the news pages held out had lower odds, many as listings of their teasers.
_MIN_ARTICLE_ODDS = 0.5
_DECLARATIONS = [PAGE_NAMES.index(name) for name in ("og_article", "ld_article")]
_MAX_CERTAINTY = 0.93
_MAX_ARTICLE_BLOCKS = 3000
# trafilatura is not shown what has no block, and is beside none, that is so likely content.
_MIN_ODDS = 0.3
# Names that a page gives are in small letters.
_DROPPED = "DROPPED"
# Both speak of the same place: so much of trafilatura's words are chosen ones, and it has so much
# of these.
_MIN_COMMON = 0.6
_MIN_COVERED = 0.15
_WORD = re.compile(r"\w+")


# A page of less text has a type that is less likely only where it declares that: the model saw few
# short pages. Of the 530 pages with known types four are such pages, and all were given wrong ones.
_MIN_TYPED_CHARACTERS = 1000
_MIN_TYPE_ODDS = 0.6
_CHARACTERS = PAGE_NAMES.index("chars")
_DECLARED = {
    PAGE_NAMES.index(name): kind
    for name, kind in (
        ("og_article", "article"),
        ("ld_article", "article"),
        ("og_product", "product"),
        ("ld_product", "product"),
        ("ld_forum", "forum"),
        ("ld_service", "service"),
    )
}


class MainContent(NamedTuple):
    """The main content of a page.

    Attributes:
        kind: Type of the page: article, documentation, product, service, forum, listing or
            collection; None where hardly anything tells it.
        text: Text of the chosen blocks, a line each, which verdicts rest on.
        body: Element ``body`` in the vocabulary of trafilatura's XML: p, head, list, item, quote,
            code, table, row, cell, ref, graphic, hi, lb, del. None where it was not asked for.
        source: What found it, one of ``EXTRACTORS``.
        is_cut: Whether the end of the page was not looked at: it has more than ``MAX_BLOCKS``.
    """

    kind: str | None
    text: str
    body: Element
    source: str
    is_cut: bool = False


def read_content(root: Element, page: FlatPage, *, with_body: bool = True) -> MainContent:
    """Return the main content of a page; an empty one only for a page without visible words.

    Args:
        root: Root of the page; not changed.
        page: Its tags and texts.
        with_body: Whether the content to show is made too, which costs half as much again.

    Raises:
        MemoryError: The page does not fit.

    Complexity: O(elements + characters).
    """
    blocks = cut_blocks(page)
    features = PageFeatures(blocks, root)
    types = load_model().type_odds(features.page)
    of_page = np.concatenate([features.page, types])
    odds = load_scorer().content_odds(features.blocks, of_page)
    chosen = choose_blocks(blocks, features, odds)
    at = np.flatnonzero(chosen).tolist()
    texts = [blocks.texts[one] for one in at]
    text = "\n".join(texts)
    kind = page_type(types, features.page)
    if not with_body:
        return MainContent(kind, text, None, BLOCKS, blocks.is_cut)
    if is_doubtful_article(types, features.page, chosen, odds, features.sizes):
        article = read_article(root, blocks, odds)
        if article is not None and agree(article, texts):
            return MainContent(kind, text, article, TRAFILATURA)
    return MainContent(kind, text, build_body(blocks, at), BLOCKS, blocks.is_cut)


def read_by_trafilatura(root: Element) -> MainContent:
    """Return the main text of a page as ``trafilatura.extract`` has it, without a body to show.

    Args:
        root: Root of the page; not changed.

    Raises:
        MemoryError: The page does not fit.
        Exception: trafilatura fails with any error.
    """
    from trafilatura import extract  # noqa: PLC0415  # it takes an eighth of a second

    return MainContent(None, extract(deepcopy(root)) or "", None, TRAFILATURA)


def page_type(types: NDArray[np.float32], page: NDArray[np.float32]) -> str | None:
    """Return the likeliest type; of a short page what it declares, or None if that is unlikely.

    Args:
        types: Odds of each type.
        page: Features of the page.
    """
    is_short = np.expm1(page[_CHARACTERS]) < _MIN_TYPED_CHARACTERS
    if is_short:
        declared = next((kind for at, kind in _DECLARED.items() if page[at]), None)
        if declared is not None or types.max() < _MIN_TYPE_ODDS:
            return declared
    return PAGE_TYPES[int(types.argmax())]


def is_doubtful_article(
    types: NDArray[np.float32],
    page: NDArray[np.float32],
    chosen: NDArray[np.bool_],
    odds: NDArray[np.float32],
    sizes: NDArray[np.float64],
) -> bool:
    """Return whether trafilatura is worth its time on a page.

    Args:
        types: Odds of each type.
        page: Features of the page.
        chosen: Which blocks are content.
        odds: How likely each block is content by itself.
        sizes: Number of words of each block.
    """
    is_likely = types[PAGE_TYPES.index("article")] > _MIN_ARTICLE_ODDS
    if len(chosen) > _MAX_ARTICLE_BLOCKS or not (is_likely or page[_DECLARATIONS].all()):
        return False
    words = sizes[chosen]
    return bool(odds[chosen] @ words <= _MAX_CERTAINTY * words.sum())


def read_article(root: Element, blocks: PageBlocks, odds: NDArray[np.float32]) -> Element | None:
    """Return what trafilatura takes for the content of a page, or None where it fails.

    Args:
        root: Root of the page; not changed.
        blocks: Blocks of the page.
        odds: How likely each block is content by itself.

    Raises:
        MemoryError: The page does not fit.
    """
    # An eighth of a second, which sites without articles never need.
    from trafilatura import bare_extraction  # noqa: PLC0415
    from trafilatura.settings import Extractor  # noqa: PLC0415

    # No comments, since they are no part of an article. Most of the rules by which it leaves things
    # out are off (``recall``): the model knows better. XML spares it writing a text nobody reads.
    options = Extractor(
        output_format="xml",
        fast=True,
        recall=True,
        comments=False,
        formatting=True,
        links=True,
        images=True,
    )
    try:
        found = bare_extraction(pruned(root, blocks, odds), options=options)
    except MemoryError:
        raise
    except Exception:  # it fails now and then, and the blocks are there
        return None
    # A dict only where one is asked for.
    return None if found is None or isinstance(found, dict) else found.body


def pruned(root: Element, blocks: PageBlocks, odds: NDArray[np.float32]) -> Element:
    """Return a copy of a page without the containers that hold nothing likely to be content.

    Raises:
        ValueError: The page was cut, so that its end is not known.
    """
    copy = deepcopy(root)
    strip_elements(copy, *SKIPPED, with_tail=False)
    containers = copy.iterdescendants(*CONTAINERS)
    for container, likely in zip(containers, container_odds(blocks, odds)[1:], strict=True):
        if likely < _MIN_ODDS:
            container.tag = _DROPPED
    strip_elements(copy, _DROPPED, with_tail=False)
    for code in copy.iter("pre"):  # it takes code without one ``span`` around it for a quotation
        for end in code.iter("br"):
            end.tail = f"\n{end.tail or ''}"
        strip_tags(code, "*")
        SubElement(code, "span").text, code.text = code.text, None
    return copy


def container_odds(blocks: PageBlocks, odds: NDArray[np.float32]) -> list[float]:
    """Return the highest odds of a block in each container; an image and code have those beside.

    What stands in a list, a table or code has those of the whole, of which no part is to be lost.
    """
    highest = np.zeros(len(blocks.containers))
    np.maximum.at(highest, blocks.homes, odds)
    beside = np.concatenate([[0], odds, [0]])
    for at, home, _ in blocks.images:
        highest[home] = max(highest[home], beside[at], beside[at + 1])
    for at, home in enumerate(blocks.homes):
        if blocks.tags[home] == "pre":
            highest[home] = max(highest[home], beside[at], beside[at + 2])
    found: list[float] = highest.tolist()
    for at in range(len(found) - 1, 0, -1):
        parent = blocks.parents[at]
        found[parent] = max(found[parent], found[at])
    layout, whole = layout_containers(blocks), set[int]()
    for at, tag in enumerate(blocks.tags):
        parent = blocks.parents[at]
        if parent in whole:
            found[at] = found[parent]
        if parent in whole or (tag in {"ul", "ol", "dl", "table", "pre"} and at not in layout):
            whole.add(at)
    return found


def agree(article: Element, texts: list[str]) -> bool:
    """Return whether trafilatura's content is of the same place of the page as the blocks."""
    theirs = Counter(_WORD.findall(" ".join(article.itertext())))
    ours = Counter(_WORD.findall(" ".join(texts)))
    common = (theirs & ours).total()
    return common > _MIN_COMMON * theirs.total() and common > _MIN_COVERED * ours.total()
