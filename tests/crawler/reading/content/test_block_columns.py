"""Properties of blocks equal those that are looked up and counted block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.block_columns import TAGS, BlockColumns
from crawler.reading.content.block_features import PageFeatures
from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.block_scoring import load_scorer
from crawler.reading.content.blocks import cut_blocks
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse

if TYPE_CHECKING:
    from crawler.reading.content.blocks import PageBlocks

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


def columns_of(html: str) -> tuple[PageBlocks, BlockColumns]:
    blocks = cut_blocks(flatten(parse(html.encode())))
    return blocks, BlockColumns(blocks, "")


def around(blocks: PageBlocks, at: int) -> list[int]:
    """Return the container of a block and all of its ancestors, the next one first."""
    found = [blocks.homes[at]]
    while found[-1]:
        found.append(blocks.parents[found[-1]])
    return found


class TestBlockColumnsProperties:
    @given(_NODES)
    def test_sums_below_are_those_of_all_blocks_that_have_the_container_around(
        self, html: str
    ) -> None:
        blocks, columns = columns_of(html)
        weights = [columns.chars, np.arange(len(blocks.texts))]
        sums = np.zeros((2, len(blocks.parents)))
        for at in range(len(blocks.texts)):
            sums[:, around(blocks, at)] += [[weight[at]] for weight in weights]
        assert columns.sums_below(weights).tolist() == sums.tolist()

    @given(_NODES)
    def test_blocks_of_one_path_are_a_group(self, html: str) -> None:
        blocks, columns = columns_of(html)
        paths = [blocks.paths[home] for home in blocks.homes]
        (sums,) = columns.sums_of_groups([np.ones(len(paths))])
        assert sums[columns.groups].tolist() == [paths.count(path) for path in paths]
        assert columns.same_text.tolist() == [blocks.texts.count(text) for text in blocks.texts]

    @given(_NODES)
    def test_tags_levels_and_flags_are_those_of_the_container(self, html: str) -> None:
        blocks, columns = columns_of(html)
        for at, home in enumerate(blocks.homes):
            tag = blocks.tags[home]
            near = tag if tag[1:].isdigit() else blocks.tags[blocks.parents[home]]
            level = int(near[1:]) if near[1:].isdigit() else 0
            assert columns.heading[at] == level
            assert columns.tags[:, at].tolist() == [tag == one for one in TAGS]
            flags = sum(1 << bit for bit in np.flatnonzero(columns.flags[:, at]).tolist())
            assert flags == blocks.inherited[home]
            ancestors = (around(blocks, at) + [0] * 6)[:6]
            assert [places[at] for places in columns.around] == [
                ancestors[one] for one in (0, 1, 2, 3, 5)
            ]


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
