"""Say by the trained model how likely each block of a page is content, and what type it has.

``benchmarks/train_content.py`` trains the model, which tells the type of the page too, by logistic
regression.

The trees are symmetric: all nodes of a level ask the same question, so that a leaf's number is the
answers as bits. Questions about the page have one answer for all of its blocks, and so has what the
net makes of the page: a block takes the other questions, a look into a table for each tree, and the
rest of the net, all in numpy.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawler.reading.content.kernels import score_leaves

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from crawler.reading.content.block_features import PageFeatures

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


# What the net's score counts beside that of the trees.
_NET_SHARE = 0.45
# Features are so many standard deviations from their mean at most.
_FARTHEST = 4
# Blocks that are scored at once: five megabytes of answers.
_BLOCKS = 2048


class BlockScorer:
    """Trees and a small net, whose mean is the logarithm of the odds: they err on other blocks."""

    def __init__(self, model: ContentModel) -> None:
        self.model = model
        of_page = len(model.page_mean) + len(model.type_weights)
        features = len(model.row_mean) - of_page
        self._trees = _Trees(model, features)
        self._net = _Net(model, features)

    def odds_of(self, features: PageFeatures) -> tuple[Floats, Floats]:
        """Return how likely each type of a page is, (types,), and each block content, (blocks,)."""
        types = self.model.type_odds(features.page)
        return types, self.content_odds(features.blocks, np.concatenate([features.page, types]))

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
        self._questions = asked, borders
        self._depths = (asked < features).sum(axis=1)
        self._tree, level = np.nonzero(asked >= features)
        self._bit = 1 << level
        self._asked = asked[self._tree, level] - features
        self._border = borders[self._tree, level]

    def of_page(self, page: Floats) -> Any:
        """Return the place of the first leaf of each tree that a page can reach, (trees,)."""
        places = self._first.copy()
        np.add.at(places, self._tree, self._bit * (page[self._asked] > self._border))
        return places

    def scores(self, columns: Floats, first: Any) -> Floats:
        """Return the sum of the leaves of each block, by its features, (features, blocks)."""
        found = score_leaves(columns, self._leaves, first, self._depths, *self._questions)
        scores: Floats = found + self._bias
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
    with (
        resources.files("crawler.reading.content").joinpath(FILE).open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        return BlockScorer(ContentModel(*(stored[name] for name in ContentModel._fields)))
