"""Find the comments of readers that stand below the content of a page, and are no part of it."""

from __future__ import annotations

import re
from itertools import dropwhile, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from crawler.reading.content.block_flags import FLAGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawler.reading.content.block_features import PageFeatures
    from crawler.reading.content.blocks import PageBlocks

# Of a forum comments are the content, and pages that list others have numbers of their comments.
_WITHOUT = frozenset(["forum", "listing", "collection"])
_MIN_PARAGRAPH_WORDS = 8


def _bits(kinds: str) -> int:
    return sum(1 << FLAGS.index(kind) for kind in kinds.split())


_COMMENT, _NAMES, _BODY = _bits("comment"), _bits("byline account"), _bits("comment content")
# What is left out around comments, as a container of them, and within.
_AROUND = _bits("nav sidebar footer form share ad")
_AS_WHOLE, _WITHIN = _bits("related"), _bits("nav form pager control share ad noscript")
_NOTE = re.compile(r"\b(?:respond|reply-title|no-?comments|comments?-closed|must-log-in)\b")


def readers_comments(
    blocks: PageBlocks, features: PageFeatures, chosen: NDArray[np.bool_], kind: str | None
) -> str:
    """Return the texts of comments, a line for each block; nothing for a page without any.

    They stand in a container whose classes say so and that holds no content; or behind the content
    below a heading that says so, until the end of its container or a heading of its level. Each
    has a name or a day, or is called the body of one: notes that there is none are not.

    Args:
        blocks: Blocks of the page.
        features: Their features.
        chosen: Which blocks are content.
        kind: Type of the page, or None.

    Complexity: O(blocks + containers).
    """
    labels = features.comment_labels
    if kind in _WITHOUT or not (chosen.any() and (features.commented | labels).any()):
        return ""
    areas, left_out = _container_areas(blocks, blocks.sizes_of(np.flatnonzero(chosen).tolist()))
    numbers = [areas[home] for home in blocks.homes]
    _add_headed(numbers, blocks, features, chosen)
    found, first = list[str](), int(chosen.argmax())
    for number, area in groupby(range(first, len(numbers)), numbers.__getitem__):
        inner = [at for at in area if number and not left_out[blocks.homes[at]]]
        named = {at for at in inner if features.dated[at] or _is_named(blocks, at)}
        # What else is nothing but links is a control.
        inner = [at for at in inner if at in named or blocks.linked[at] < len(blocks.texts[at])]
        titles = {at for at in inner if labels[at] or (at == inner[0] and features.levels[at])}
        others = named | titles
        said = (at for at in inner if at not in others and features.sizes[at] > 1)
        if (named and any(said)) or any(_is_body(blocks, at, number) for at in inner):
            shown = dropwhile(titles.__contains__, inner)
            found += [blocks.texts[at] for at in shown if not (labels[at] and features.levels[at])]
    return "\n".join(found)


def _container_areas(blocks: PageBlocks, holding: list[int]) -> tuple[list[int], list[bool]]:
    """Return the outermost container of comments around each, or 0; and whether it has none.

    Args:
        blocks: Blocks of the page.
        holding: Number of characters of content in each container.
    """
    areas, left_out = [0], [False]
    for at in range(1, len(holding)):
        own, parent, tag = blocks.own[at], blocks.parents[at], blocks.containers[at]
        is_marked = own & _COMMENT and not holding[at]
        areas.append(areas[parent] or at * bool(is_marked))
        is_note = is_marked and any(_NOTE.search(said) for _, said in tag.items())
        unlike = _WITHIN if areas[parent] else _AS_WHOLE if is_marked else _AROUND
        is_unlike = own & unlike and not holding[at]
        left_out.append(left_out[parent] or bool(is_note or is_unlike))
    return areas, left_out


def _add_headed(
    numbers: list[int], blocks: PageBlocks, features: PageFeatures, chosen: Any
) -> None:
    """Number what stands below headings that say comments, behind the last paragraph of content."""
    homes, levels = blocks.homes, features.levels
    content = np.flatnonzero(chosen & (features.sizes >= _MIN_PARAGRAPH_WORDS))
    last = int(content[-1]) if len(content) else len(homes)
    for heading in np.flatnonzero(features.comment_labels & (levels > 0) & ~chosen).tolist():
        if heading < last or numbers[heading] or heading + 1 == len(homes):
            continue
        around = blocks.parents[homes[heading]]
        if homes[heading + 1] >= blocks.ends[around]:  # it has a container of its own
            around = blocks.parents[around]
        for at in range(heading + 1, len(homes)):
            is_within = around <= homes[at] < blocks.ends[around]
            if chosen[at] or not is_within or 0 < levels[at] <= levels[heading]:
                break
            numbers[at] = numbers[at] or -heading


def _is_named(blocks: PageBlocks, at: int) -> bool:
    """Return whether classes say that a block has a name or a day."""
    home = blocks.homes[at]
    told = blocks.own[home] | blocks.own[blocks.parents[home]] | blocks.inline[at]
    return bool(told & _NAMES)


def _is_body(blocks: PageBlocks, at: int, area: int) -> bool:
    """Return whether a block is a paragraph of what is called the body of one comment."""
    home = blocks.homes[at]
    near = {home, blocks.parents[home]} - {area}
    return blocks.tags[home] == "p" and any(blocks.own[one] & _BODY == _BODY for one in near)
