"""Properties of blocks equal those that are looked up and counted block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.block_features import PageFeatures, PageWords
from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.block_scoring import load_scorer
from crawler.reading.content.blocks import cut_blocks
from crawler.reading.content.kernels import ROWS_OF_FLAGS, ROWS_OF_TAGS, TAGS, BlockTable
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse

if TYPE_CHECKING:
    from crawler.reading.content.blocks import PageBlocks

# Features by their places.
_LEVEL, _SAME_TEXT = 10, 16
_PLACES, _NEIGHBOURS = ROWS_OF_TAGS - 8, ROWS_OF_TAGS + len(TAGS)
_SURROUNDINGS, _OF_GROUP = _NEIGHBOURS + 24, _NEIGHBOURS + 64
_OPENINGS = st.sampled_from(
    "p div ul li table td h1 h3 nav article div|class=price div|class=card div|id=comments".split()
)
_NODES = st.recursive(
    st.sampled_from(["lights", "Harbour lights, and more.", "<a href=/x>read more</a> here", ""]),
    lambda inner: st.builds(
        lambda opening, parts: (
            f"<{opening.replace('|', ' ')}>{''.join(parts)}</{opening.partition('|')[0]}>"
        ),
        _OPENINGS,
        st.lists(inner, max_size=4),
    ),
    max_leaves=25,
)


def table_of(html: str) -> tuple[PageBlocks, BlockTable]:
    blocks = cut_blocks(flatten(parse(html.encode())))
    return blocks, BlockTable(blocks, PageWords("", []))


def around(blocks: PageBlocks, at: int) -> list[int]:
    """Return the container of a block and all of its ancestors, the next one first."""
    found = [blocks.homes[at]]
    while found[-1]:
        found.append(blocks.parents[found[-1]])
    return found


class TestBlockTableProperties:
    @given(_NODES)
    def test_what_containers_hold_is_the_sum_of_the_blocks_that_have_them_around(
        self, html: str
    ) -> None:
        blocks, table = table_of(html)
        sizes, containers = (
            [*map(len, blocks.texts)],
            [around(blocks, at) for at in range(len(blocks.texts))],
        )
        for at, above in enumerate(containers):
            for row, level in enumerate((0, 1, 2, 3, 5)):
                place = (above + [0] * 6)[level]
                inner = [one for one, its in enumerate(containers) if place in its]
                chars, linked = (sum(by[one] for one in inner) for by in (sizes, blocks.linked))
                values = np.array([np.log1p(chars), linked / chars, chars / sum(sizes)], np.float32)
                first = _SURROUNDINGS + 8 * row
                assert table.features[first : first + 3, at].tolist() == values.tolist()
                assert table.features[first + 3, at] == np.float32(np.log1p(len(inner)))

    @given(_NODES)
    def test_blocks_of_one_path_are_a_group(self, html: str) -> None:
        blocks, table = table_of(html)
        paths = [blocks.paths[home] for home in blocks.homes]
        sizes = [paths.count(path) for path in paths]
        assert table.features[_OF_GROUP].tolist() == np.log1p(sizes).astype("f4").tolist()
        assert len(set(zip(table.groups.tolist(), paths, strict=True))) == len(set(paths))
        assert table.features[_SAME_TEXT].tolist() == [*map(blocks.texts.count, blocks.texts)]

    @given(_NODES)
    def test_neighbours_are_those_before_and_behind(self, html: str) -> None:
        _, table = table_of(html)
        count = table.features.shape[1]
        for offset, first in zip((-2, -1, 1, 2), range(_NEIGHBOURS, _SURROUNDINGS, 6), strict=True):
            for at in range(count):
                other = at + offset
                own = table.features[[0, 3, 9, _LEVEL], other] if 0 <= other < count else [-1] * 4
                assert table.features[first : first + 4, at].tolist() == list(own)

    @given(_NODES)
    def test_headings_are_the_last_ones_up_to_a_block(self, html: str) -> None:
        _, table = table_of(html)
        levels, sizes = table.levels.tolist(), table.texts[0].tolist()
        for at in range(len(levels)):
            last = max((one for one in range(at + 1) if levels[one]), default=-1)
            assert table.features[_PLACES + 3, at] == np.float32(np.log1p(at - last))
            assert table.features[_PLACES + 4, at] == (levels[last] if last >= 0 else 0)
            between = sum(sizes[max(last, 0) : at])
            assert table.features[_PLACES + 5, at] == np.float32(np.log1p(between))

    @given(_NODES)
    def test_tags_levels_and_flags_are_those_of_the_container(self, html: str) -> None:
        blocks, table = table_of(html)
        for at, home in enumerate(blocks.homes):
            tag = blocks.tags[home]
            near = tag if tag[1:].isdigit() else blocks.tags[blocks.parents[home]]
            level = int(near[1:]) if near[1:].isdigit() else 0
            assert table.levels[at] == table.features[_LEVEL, at] == level
            tags = table.features[ROWS_OF_TAGS : ROWS_OF_TAGS + len(TAGS), at]
            assert tags.tolist() == [tag == one for one in TAGS]
            up = around(blocks, at)[:3]
            near_flags = (
                blocks.own[up[0]] | blocks.own[up[min(1, len(up) - 1)]] | blocks.own[up[-1]]
            )
            for row, flags in enumerate((blocks.inherited[home], near_flags, blocks.inline[at])):
                first = ROWS_OF_FLAGS + row * len(FLAGS)
                bits = np.flatnonzero(table.features[first : first + len(FLAGS), at]).tolist()
                assert sum(1 << bit for bit in bits) == flags


class TestPageFeatures:
    def test_features_are_those_that_the_model_was_trained_on(self) -> None:
        model = load_scorer().model
        pages = len(model.page_mean) + len(model.type_weights)
        for html in (b"", b"<p>word", b"<title>a</title><ul><li>b<li>c"):
            root = parse(html)
            blocks = cut_blocks(flatten(root))
            features = PageFeatures(blocks, root)
            assert features.blocks.dtype == np.float32
            assert features.blocks.shape == (len(blocks.texts), len(model.row_mean) - pages)
            assert features.page.shape == model.page_mean.shape
            assert np.isfinite(features.blocks).all()

    def test_flags_are_the_last_features(self) -> None:
        root = parse(b"<nav class=comments><p>word")
        features = PageFeatures(cut_blocks(flatten(root)), root).blocks
        inherited = features[0, -3 * len(FLAGS) : -2 * len(FLAGS)]
        found = {FLAGS[at] for at in np.flatnonzero(inherited).tolist()}
        assert {"nav", "comment"} <= found
