"""Find the main content of a page, and the type of the page.

The page is cut into blocks; a small model says how likely each is content; those are chosen that
make the expected F1 of the page highest (``choosing``). What may be an article is read by
trafilatura too, which is made for them, where the model doubts its own choice; its result is taken
where the two agree on the place. ``docs/choices.md`` has what was tried.
"""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from lxml.etree import SubElement, strip_elements, strip_tags

from crawler.reading.content.block_features import PageFeatures
from crawler.reading.content.block_scoring import load_scorer
from crawler.reading.content.blocks import CONTAINERS, SKIPPED, cut_blocks
from crawler.reading.content.choosing import block_units, choose_blocks, commentary, without_company
from crawler.reading.content.content_body import build_body
from crawler.reading.content.content_shapes import layout_containers, write_code
from crawler.reading.content.content_xml import PAGE_TYPES, written
from crawler.reading.content.formulas import write_formulas
from crawler.reading.content.page_features import PAGE_NAMES
from crawler.reading.flat_page import flatten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawler.reading.content.block_scoring import BlockScorer
    from crawler.reading.content.blocks import PageBlocks
    from crawler.reading.flat_page import FlatPage

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
# trafilatura leaves these out of sentences.
_UNKNOWN = ("time", "label", "output", "math")
# Names that a page gives are in small letters.
_DROPPED = "DROPPED"
# trafilatura drops these with their words, though they stand in sentences.
_DROPPED_WORDS = ("time", "label", "output", "math", "legend", "q")
_SENTENCES = ("p", "li", "dd", "td", "blockquote")
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
        xml: Element ``body`` in the vocabulary of trafilatura's XML: p, head, list, item, quote,
            code, table, row, cell, ref, graphic, hi, lb, del. Empty where it was not asked for.
        source: What found it, one of ``EXTRACTORS``.
        is_cut: Whether the end of the page was not looked at: it has more than ``MAX_BLOCKS``.
        comments: Text of readers' comments that are no content, a line for each block.
    """

    kind: str | None
    text: str
    xml: str
    source: str
    is_cut: bool = False
    comments: str = ""


def read_content(
    root: Element, page: FlatPage, *, with_body: bool = True, scorer: BlockScorer | None = None
) -> MainContent:
    """Return the main content of a page; an empty one only for a page without visible words.

    Args:
        root: Root of the page; its formulas become TeX, and code with an element for each
            line ``pre``; nothing else is changed.
        page: Its tags and texts.
        with_body: Whether the content to show is made too, which costs half as much again.
        scorer: Scorer of another model than the one that is shipped.

    Raises:
        MemoryError: The page does not fit.

    Complexity: O(elements + characters).
    """
    blocks = cut_blocks(write_formulas(root, page))
    if write_code(root, blocks):
        blocks = cut_blocks(flatten(root))
    features = PageFeatures(blocks, root)
    types, odds = (scorer or load_scorer()).odds_of(features)
    kind = page_type(types, features.page)
    odds = without_company(odds, features, kind)
    chosen = choose_blocks(blocks, features, odds)
    at = np.flatnonzero(chosen).tolist()
    texts = [blocks.texts[one] for one in at]
    text = "\n".join(texts)
    if not with_body:
        return MainContent(kind, text, "", BLOCKS, blocks.is_cut)
    comments = commentary(blocks, features, chosen, kind)
    if is_doubtful_article(types, features.page, chosen, odds, features.sizes):
        # A table or list that was chosen is not taken apart, however unlikely some cells are.
        whole = np.where(chosen & (block_units(blocks) > 0), 1, odds)
        article = read_article(root, blocks, whole)
        if article is not None and agree(article, texts):
            return MainContent(kind, text, written(article), TRAFILATURA, comments=comments)
    return MainContent(kind, text, build_body(blocks, at), BLOCKS, blocks.is_cut, comments)


def read_by_trafilatura(root: Element) -> MainContent:
    """Return the main text of a page that ``trafilatura.extract`` finds, without a body to show.

    Args:
        root: Root of the page; not changed.

    Raises:
        MemoryError: The page does not fit.
        Exception: trafilatura fails with any error.
    """
    from trafilatura import extract  # noqa: PLC0415  # it takes an eighth of a second

    return MainContent(None, extract(_named(deepcopy(root))) or "", "", TRAFILATURA)


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
    for element, is_hidden in zip(copy.iter(), blocks.hidden.elements(), strict=False):
        if is_hidden:
            element.tag = _DROPPED
    strip_elements(copy, _DROPPED, with_tail=False)
    strip_elements(copy, *SKIPPED, with_tail=False)
    containers = copy.iterdescendants(*CONTAINERS)
    for container, likely in zip(containers, container_odds(blocks, odds)[1:], strict=True):
        if likely < _MIN_ODDS:
            container.tag = _DROPPED
    strip_elements(copy, _DROPPED, with_tail=False)
    for word in copy.iter(*_DROPPED_WORDS):
        if next(word.iterancestors(*_SENTENCES), None) is not None:
            word.tag = "span"
    for code in copy.iter("pre"):  # it takes code without one ``span`` around it for a quotation
        for end in code.iter("br"):
            end.tail = f"\n{end.tail or ''}"
        strip_tags(code, "*")
        SubElement(code, "span").text, code.text = code.text, None
    return _named(copy)


def _named(root: Element) -> Element:
    """Return a tree whose words within sentences have names that trafilatura knows."""
    strip_elements(root, "annotation", "annotation-xml", with_tail=False)
    for element in root.iter(*_UNKNOWN):
        before = element.getprevious()
        said = element.getparent().text if before is None else before.tail
        if _WORD.search(f"{said or ''} {element.tail or ''}"):
            element.tag = "span"
    return root


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
