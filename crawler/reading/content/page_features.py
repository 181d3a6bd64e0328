"""Compute what tells the type of a page: shares of its text, and what it says of itself.

Its URL does not count: a page at two addresses has one text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml.etree import XPath

from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.kernels import ROWS_OF_FLAGS, ROWS_OF_TAGS, TAGS, TEXT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.reading.content.blocks import PageBlocks
    from crawler.reading.content.kernels import BlockTable
    from crawler.reading.flat_page import FlatPage

Element = Any  # lxml has no types

PAGE_NAMES = (
    "blocks chars link_share mean_chars sentences_share p_share li_share td_share pre_share "
    "heading_share h1 h2 price action date article_tags max_twins twins_share forms tables "
    "main_flags noscript_flags forum_flags product_flags listing_flags code_flags review_flags "
    "comment_flags article_flags "
    "og_article og_product og_website og_profile ld_article ld_product ld_list ld_forum "
    "ld_organization ld_faq ld_breadcrumb ld_service "
    "title_words"
).split()

_CHARS, _ENDS, _PRICE = map(TEXT_COLUMNS.index, ("chars", "ends", "price"))
_OF_FLAGS = "main noscript forum product listing code review comment article".split()
# Features that are 1 or 0, by what the share of the characters in such blocks is called.
_SHARED = {
    **{f"{tag}_share": ROWS_OF_TAGS + TAGS.index(tag) for tag in ("p", "li", "td", "dd", "pre")},
    **{f"{name}_flags": ROWS_OF_FLAGS + FLAGS.index(name) for name in _OF_FLAGS},
}


def page_row(blocks: PageBlocks, table: BlockTable, kinds: Mapping[str, float], title: str) -> Any:
    """Return the features of a page, float32, (len(PAGE_NAMES),).

    Args:
        blocks: Blocks of the page.
        table: Their features.
        kinds: What the page says of its own type.
        title: Title of the page.
    """
    values = {
        **_shares(table),
        **_counts(blocks, table),
        **kinds,
        "title_words": float(len(title.split())),
    }
    return np.array([values[name] for name in PAGE_NAMES], dtype=np.float32)


def _shares(table: BlockTable) -> dict[str, float]:
    """Return shares of the page's characters."""
    chars = table.texts[_CHARS]
    sums = dict(zip(_SHARED, (table.features[[*_SHARED.values()]] @ chars).tolist(), strict=True))
    sums["td_share"] += sums.pop("dd_share")
    sums |= {"link_share": table.linked, "twins_share": table.twinned}
    sums["heading_share"] = float((table.levels > 0) @ chars)
    sums["sentences_share"] = float(table.texts[_ENDS] @ chars)
    total = max(float(chars.sum()), 1.0)
    return {name: of_blocks / total for name, of_blocks in sums.items()}


def _counts(blocks: PageBlocks, table: BlockTable) -> dict[str, float]:
    chars, (price, _, action, date) = table.texts[_CHARS], table.texts[_PRICE : _PRICE + 4]
    count = max(len(chars), 1)
    total = max(float(chars.sum()), 1.0)
    return {
        "blocks": math.log1p(len(chars)),
        "chars": math.log1p(total),
        "mean_chars": math.log1p(total / count),
        "h1": float((table.levels == 1).sum()),
        "h2": math.log1p(float((table.levels == 2).sum())),
        "price": math.log1p(float(price.sum())),
        "action": float(action.sum()) / count,
        "date": float(date.sum()) / count,
        "article_tags": math.log1p(blocks.tags.count("article")),
        "forms": math.log1p(blocks.tags.count("form")),
        "tables": math.log1p(blocks.tags.count("table")),
        "max_twins": math.log1p(table.max_twins),
    }


_LD_TYPE = re.compile(r'"@type"\s*+:\s*+(?:\[\s*+)?"([A-Za-z]+)"')
_LD_KINDS = {
    "ld_article": re.compile(r"Article|BlogPosting|Report"),
    "ld_product": re.compile(r"^(?:Product|ProductGroup|Vehicle|Book|IndividualProduct)$"),
    "ld_list": re.compile(r"ItemList|CollectionPage|OfferCatalog|Blog$|SearchResultsPage"),
    "ld_forum": re.compile(r"Discussion|QAPage|Question|Answer|SocialMediaPosting"),
    "ld_organization": re.compile(r"Organization|LocalBusiness|Corporation"),
    "ld_faq": re.compile(r"FAQPage"),
    "ld_breadcrumb": re.compile(r"BreadcrumbList"),
    "ld_service": re.compile(
        r"^(?:Service|ProfessionalService|SoftwareApplication|WebApplication)$"
    ),
}


_ITEM_TYPES = XPath("/descendant::*/@itemtype", smart_strings=False)
# Data about the things on a page beyond so many characters do not tell its type.
_MAX_DATA = 200_000


def read_page_kinds(root: Element, page: FlatPage, declared: Iterable[Element]) -> dict[str, float]:
    """Return what a page says of its own type: ``og:type`` and types of schema.org.

    Args:
        root: Root of the page.
        page: Its tags and texts.
        declared: Its elements ``meta`` and ``script``.
    """
    found = dict.fromkeys([*_LD_KINDS, "og_article", "og_product", "og_website", "og_profile"], 0.0)
    types: list[str] = []
    for element in declared:
        if element.get("property") == "og:type" and element.tag == "meta":
            kind = (element.get("content") or "").lower()
            for name in ("article", "product", "website", "profile"):
                if name in kind:
                    found[f"og_{name}"] = 1.0
        elif element.get("type") == "application/ld+json" and element.tag == "script":
            types += _LD_TYPE.findall((element.text or "")[:_MAX_DATA])
    things = _ITEM_TYPES(root) if " itemtype=" in page.distinct else ()
    types += [str(kind).rstrip("/").rpartition("/")[2] for kind in things]
    for kind, times in Counter(types).items():
        for name, pattern in _LD_KINDS.items():
            if pattern.search(kind):
                found[name] += times
    return {name: math.log1p(value) for name, value in found.items()}
