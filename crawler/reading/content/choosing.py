"""Choose the blocks of a page that are content, by how likely each of them is.

A choice by single blocks leaves holes in what a reader sees: a cell without its neighbours, a list
that lacks an item. So a table or list is chosen as a whole or not at all, by most of its words.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import dropwhile, groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_flags import flag_bits
from crawler.reading.content.content_shapes import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crawler.reading.content.block_features import PageFeatures
    from crawler.reading.content.blocks import PageBlocks

    Odds = NDArray[np.float64]
    Chosen = NDArray[np.bool_]
    Units = NDArray[np.int64]

# Blocks in containers of one path are content together, or not: this much of their common odds.
_GROUP_SHARE = 0.4

# A heading of a chosen text is taken where it is at least so likely content.
_MIN_HEADING_ODDS = 0.2
_MIN_TITLE_ODDS = 0.1

# So many blocks may be between the heading of a page and its text, and between text and its code.
_MAX_BYLINES = _MAX_LABELS = 2

# A block between two chosen ones is taken at these odds; several that all stand within these
# elements at the second.
_MIN_ENCLOSED_ODDS = 0.4
_MIN_PART_ODDS = 0.2
_WHOLE = frozenset({"figure", "blockquote"})

# A table or list is taken where so much of its words is in blocks that were chosen themselves.
_MIN_CHOSEN = 0.5

# A table of so many characters does not lay out the page.
_MAX_SMALL = 1000

# A table or list between two chosen blocks is a menu if more of its characters are links; so is a
# table or a list of definitions that is only below one.
_MAX_LINKED, _MAX_LINKED_BELOW = 0.5, 0.25
_DATA = frozenset({"table", "dl"})

# So many words of blocks that are so likely content are an article; what says that it stands beside
# one is none, unless it is as likely.
_MIN_DENSE_ODDS = 0.9
_MIN_DENSE_WORDS = 8
_MIN_ARTICLE_WORDS = 60

# A text of so many words is content once.
_MIN_REPEATED_WORDS = 16

# Of a forum comments are the content, and pages that list others say how many these have.
_WITHOUT_COMMENTS = frozenset(["forum", "listing", "collection"])
_COMMENT, _BODY, _NAMES = map(flag_bits, ("comment", "comment content", "byline account"))
# What holds no comments: around them, as a whole and within.
_AROUND, _RECENT = flag_bits("nav sidebar footer form share ad"), flag_bits("related")
_WITHIN = flag_bits("nav form pager control share ad noscript")
_NOTE = re.compile(
    r"\b(?:respond|reply-title|no-(?:\w+-)?comments?|nocomments|comments?-closed|must-log-in)\b"
)


def choose_blocks(blocks: PageBlocks, features: PageFeatures, odds: NDArray[np.float32]) -> Chosen:
    """Return which blocks are content, bool, (blocks,): tables and lists whole or not at all.

    Args:
        blocks: Blocks of the page.
        features: Their features.
        odds: How likely each block is content by itself, (blocks,).

    Complexity: O(blocks * log(blocks) + containers).
    """
    if len(odds) == 0:
        return np.zeros(0, bool)
    likely = even_out(odds, features)
    if features.main[odds.argmax()]:
        likely[features.beside] = 0
    sizes, titles = features.sizes, features.titles
    tags = np.array([blocks.tags[home] for home in blocks.homes])
    headings = features.headings | (tags == "dt")
    chosen = with_headings(choose(likely, sizes), likely, headings, titles)
    # What stands beside content has no odds at all.
    chosen = with_code(chosen, (tags == "pre") & (odds > 0) & (likely > 0))
    units = block_units(blocks)
    chosen = with_whole_units(chosen, sizes, units)
    chosen = with_data(chosen, units, blocks)
    likely[titles] = 1
    chosen = with_enclosed(chosen, likely, units, blocks)
    return without_repeats(chosen, units, sizes, blocks)


def without_company(
    odds: NDArray[np.float32], features: PageFeatures, kind: str | None
) -> NDArray[np.float32]:
    """Return the odds of blocks, 0 for what stands beside an article by its classes or headings.

    Headings tell that only behind the last paragraph of what may be an article.

    Args:
        odds: How likely each block is content by itself, (blocks,).
        features: Their features.
        kind: Type of the page, or None.
    """
    odds, company = odds.copy(), features.company.copy()
    odds[features.instructions] = 0
    is_dense = (odds > _MIN_DENSE_ODDS) & (features.sizes >= _MIN_DENSE_WORDS)
    dense = np.flatnonzero(is_dense & ~company)
    # Of a forum the comments are the content.
    if kind not in {None, "article"} or features.sizes[dense].sum() < _MIN_ARTICLE_WORDS:
        return odds
    company[dense[-1] :] |= features.headed[dense[-1] :]
    return np.where(company & (odds < _MIN_DENSE_ODDS), np.float32(0), odds)


def commentary(blocks: PageBlocks, features: PageFeatures, chosen: Chosen, kind: str | None) -> str:
    """Return the texts of comments on the content, a line for each block; nothing without any.

    They stand in a container whose classes say so and that holds no content; or behind the content
    below a heading that says so, until the end of its container or a heading of its level.

    Complexity: O(blocks + containers).
    """
    labels, homes, tags, found = features.comment_labels, blocks.homes, blocks.tags, list[str]()
    is_told = labels.any() or any(_COMMENT & own for own in blocks.own)
    if kind in _WITHOUT_COMMENTS or not homes or not is_told:
        return ""
    areas = _comment_areas(blocks, blocks.sizes_of(np.flatnonzero(chosen).tolist()))
    numbers = [areas[home] for home in homes]
    last = int(np.flatnonzero(chosen & (features.sizes >= _MIN_DENSE_WORDS)).max(initial=0))
    headings = np.flatnonzero(labels & features.headings & ~chosen)
    for heading in headings[headings > last].tolist():
        if numbers[heading]:  # it stands within others
            continue
        around = blocks.parents[homes[heading]]
        for at in range(heading + 1, len(homes)):
            is_next = features.headings[at] and tags[homes[at]] <= tags[homes[heading]]
            if chosen[at] or is_next or not around <= homes[at] < blocks.ends[around]:
                break
            numbers[at] = numbers[at] or len(areas) + heading
    inner = [at for at in range(int(chosen.argmax()), len(homes)) if numbers[at] > 0]
    for _, area in groupby(inner, numbers.__getitem__):
        found += _comment_texts(blocks, features, list(area))
    return "\n".join(found)


def _comment_areas(blocks: PageBlocks, holding: list[int]) -> list[int]:
    """Return the outermost container of comments around each, 0 or -1 for what holds none."""
    areas = [0]
    for at in range(1, len(holding)):
        area, own = areas[blocks.parents[at]], 0 if holding[at] else blocks.own[at]
        names = blocks.containers[at].attributes.items() if own & _COMMENT else ()
        unlike = _WITHIN if area > 0 else _RECENT if own & _COMMENT else _AROUND
        if own & unlike or any(_NOTE.search(one) for _, one in names):
            area = -1
        elif own & _COMMENT:
            area = area or at
        areas.append(area)
    return areas


def _comment_texts(blocks: PageBlocks, features: PageFeatures, area: list[int]) -> list[str]:
    """Return the comments of an area; notes that there is none have no name, day or body."""
    named, has_body = set[int](), False
    for at in area:
        home = blocks.homes[at]
        told = blocks.own[home], blocks.own[blocks.parents[home]], blocks.inline[at]
        if features.dated[at] or any(one & _NAMES for one in told):
            named.add(at)
        has_body |= blocks.tags[home] == "p" and any(one & _BODY == _BODY for one in told)
    # What else is nothing but links is a control.
    area = [at for at in area if at in named or blocks.linked[at] < len(blocks.texts[at])]
    titles = {at for at in area if features.comment_labels[at]}
    titles |= {at for at in area[:1] if features.headings[at]}
    known = titles | named
    others = (at for at in area if at not in known and features.sizes[at] > 1)
    if not (has_body or (named and any(others))):
        return []
    area = list(dropwhile(titles.__contains__, area))
    return [blocks.texts[at] for at in area if not (at in titles and features.headings[at])]


def even_out(odds: NDArray[np.float32], features: PageFeatures) -> Odds:
    """Return the odds of blocks, moved towards those of their group, weighted by words."""
    means = _means(odds, features.sizes, features.groups)
    return (1 - _GROUP_SHARE) * odds + _GROUP_SHARE * means


def choose(odds: Odds, sizes: NDArray[np.float64]) -> Chosen:
    """Return which blocks to take so that the expected F1 of the page is highest.

    The blocks that are most likely content are taken first. Where a page is hard to read the
    best choice takes blocks that are less likely than not; a fixed limit would leave it empty.
    """
    order = np.argsort(-odds, kind="stable")
    found = np.cumsum((odds * sizes)[order])
    expected = 2 * found / (np.cumsum(sizes[order]) + found[-1] + 1e-9)
    chosen: Chosen = odds >= odds[order[int(expected.argmax())]]
    return chosen


def _means(odds: NDArray[Any], sizes: NDArray[np.float64], groups: Units) -> Odds:
    """Return the mean of the odds in the group of each block, weighted by words."""
    weights = sizes + 0.5
    sums = np.bincount(groups, weights=weights * odds)
    # Numbers that no group has weigh nothing.
    means: Odds = sums / np.maximum(np.bincount(groups, weights=weights), 0.5)
    return means[groups]


def with_headings(chosen: Chosen, odds: Odds, headings: Chosen, titles: Chosen) -> Chosen:
    """Return the chosen blocks and the headings right above them, unless these are unlikely.

    A heading has few words, so that the expected F1 hardly tells whether it should be taken: what
    stands elsewhere on a page would decide it. Below that of the page may be an author or a day.
    """
    found = chosen.copy()
    likely = headings & (odds >= np.where(titles, _MIN_TITLE_ODDS, _MIN_HEADING_ODDS))
    for at in np.flatnonzero(likely & ~chosen)[::-1].tolist():
        found[at] = found[at + 1 : at + 2 + _MAX_BYLINES * titles[at]].any()
    return found


def with_code(chosen: Chosen, code: Chosen) -> Chosen:
    """Return the chosen blocks, the code below them, which the model doubts, and its labels.

    A label stands between the two, such as "Output:".
    """
    found = chosen.copy()
    for at in np.flatnonzero(code & ~chosen).tolist():
        above = at - 1
        while above >= max(at - _MAX_LABELS, 1) and not found[above]:
            above -= 1
        if found[above:at].any():
            found[above : at + 1] = True
    return found


def with_whole_units(chosen: Chosen, sizes: NDArray[np.float64], units: Units) -> Chosen:
    """Return the chosen blocks, of each table and list all or none, as most of its words are.

    Where nothing would be left of a page, each table or list with a chosen block is taken.
    """
    shares = _means(chosen, sizes, units)
    found: Chosen = np.where(units > 0, shares >= _MIN_CHOSEN, chosen)
    return found if found.any() else chosen | (shares > 0) & (units > 0)


def with_data(chosen: Chosen, units: Units, blocks: PageBlocks) -> Chosen:
    """Return the chosen blocks, and tables and definitions right below them that are no menus."""
    found = chosen.copy()
    for first, end in _data(blocks, units):
        limit = _MAX_LINKED if found[end : end + 1].any() else _MAX_LINKED_BELOW
        if found[first - 1 : first].any() and _linked_share(blocks, first, end) <= limit:
            found[first:end] = True
    return found


def with_enclosed(chosen: Chosen, odds: Odds, units: Units, blocks: PageBlocks) -> Chosen:
    """Return the chosen blocks with some between two of them that are no menus.

    Those are tables and lists, as the model often doubts cells whose text around is content; the
    parts of pictures and quotations; and a likely block, or one that is the title.

    Args:
        chosen: Which blocks are content.
        odds: How likely each block is content; a title is.
        units: Number of the table or list of each block, which is not taken alone.
        blocks: Blocks of the page.
    """
    found, tags, homes = chosen.copy(), blocks.tags, blocks.homes
    kinds = np.where(chosen, -1, units > 0)
    borders = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(units)]
    for first, end in pairwise(borders):
        if not (chosen[first - 1 : first].any() and chosen[end : end + 1].any()):
            continue
        if kinds[first] > 0:
            found[first:end] = _linked_share(blocks, first, end) <= _MAX_LINKED
        else:
            around = ({tags[home], tags[blocks.parents[home]]} for home in homes[first:end])
            is_part = not any(map(_WHOLE.isdisjoint, around))
            is_likely = end == first + 1 and odds[first] >= _MIN_ENCLOSED_ODDS
            found[first:end] = is_likely or (is_part and odds[first:end].max() >= _MIN_PART_ODDS)
    return found


def _linked_share(blocks: PageBlocks, first: int, end: int) -> float:
    """Return the share of the characters of blocks that are links."""
    return sum(blocks.linked[first:end]) / sum(map(len, blocks.texts[first:end]))


def _data(blocks: PageBlocks, units: Units) -> Iterator[tuple[int, int]]:
    """Yield the first block and the end of tables and definitions that do not lay out the page.

    Those that are no units are small: their cells reach over rows, or hold headings or tables.
    """
    homes, tags, covered, whole = np.array(blocks.homes), blocks.tags, 0, set(units.tolist())
    for at in [at for at, tag in enumerate(tags) if tag in _DATA]:
        end = blocks.ends[at]
        is_small = blocks.sizes[at] <= _MAX_SMALL and "h1" not in tags[at:end]
        if at < covered or not (at in whole or is_small):
            continue
        inner = np.flatnonzero((homes >= at) & (homes < end)).tolist()
        if inner and units[inner[0]] in {0, at}:
            covered = end
            yield inner[0], inner[-1] + 1


def without_repeats(
    chosen: Chosen, units: Units, sizes: NDArray[np.float64], blocks: PageBlocks
) -> Chosen:
    """Return the chosen blocks without long texts that stand above; code, lists and links stay.

    Pages say the same again for narrow screens, and posts quote those that they answer.
    """
    found, seen = chosen.copy(), set[str]()
    for at in np.flatnonzero(chosen & (units == 0) & (sizes >= _MIN_REPEATED_WORDS)).tolist():
        text, home = blocks.texts[at], blocks.homes[at]
        found[at] = text not in seen or blocks.links[at] > 0 or blocks.tags[home] == "pre"
        seen.add(text)
    return found


_UNIT, _ITEM, _LAYING_OUT = 1, 2, 4
_KINDS = {
    **dict.fromkeys(("ul", "ol", "dl"), _UNIT),
    **dict.fromkeys(("li", "dt", "dd", "td", "th"), _ITEM),
    **dict.fromkeys("h1 h2 h3 h4 h5 h6 form article section".split(), _LAYING_OUT),
    "table": _UNIT | _LAYING_OUT,
}
_CELLS = frozenset(["td", "th"])

# Posts and cards have more blocks for each of their items and cells.
_MAX_BLOCKS_AN_ITEM = 1.5
# A table of records has rows of several kinds; so many of the rows of others have as many cells.
_MIN_EQUAL_ROWS = 0.7


def block_units(blocks: PageBlocks) -> Units:
    """Return the number of the table or list that each block stands in, int64, (blocks,).

    Some tables and lists are left out: those that lay out a page, and those of records with much
    beside their text, such as posts with the names of their authors and buttons.

    It is the index of the outermost container that is whole or absent; 0 where there is none.

    Complexity: O(containers).
    """
    tags, ends = blocks.tags, blocks.ends
    homes = np.array(blocks.homes, np.int64)
    units = np.zeros(len(tags), np.int64)
    kinds = np.array([_KINDS.get(tag, 0) for tag in tags])
    found = np.flatnonzero(kinds & _UNIT).tolist()
    if found:
        texts = _sums_before(np.bincount(homes, minlength=len(tags)))
        items, layout = (_sums_before(kinds & kind > 0) for kind in (_ITEM, _LAYING_OUT))
        covered = 0
        for at in found:
            end = ends[at]
            if at < covered or layout[end] > layout[at + 1]:
                continue
            if texts[end] - texts[at] > _MAX_BLOCKS_AN_ITEM * (items[end] - items[at]) + 1:
                continue
            if tags[at] == "table" and not _has_equal_rows(blocks, at, end):
                continue
            units[at:end] = at
            covered = end
    return units[homes]


def _has_equal_rows(blocks: PageBlocks, at: int, end: int) -> bool:
    """Return whether the rows of a table have several columns, and most of them as many."""
    columns = Counter[int]()
    for cell in range(at, end):
        if blocks.tags[cell] in _CELLS:
            columns[blocks.parents[cell]] += whole_number(blocks.containers[cell].get("colspan"), 1)
    (size, rows), *_ = Counter(columns.values()).most_common(1) or [(0, 0)]
    return size > 1 and rows >= _MIN_EQUAL_ROWS * len(columns)


def _sums_before(counts: NDArray[Any]) -> list[int]:
    """Return the sums of what is before each container, and of all."""
    sums: list[int] = [0, *np.cumsum(counts).tolist()]
    return sums
