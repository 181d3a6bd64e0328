"""Apply the trained model: how likely each block is content, and each type that of the page.

``benchmarks/train_content.py`` trains it. Trees and a small net score each block, and the mean of
both is the logarithm of the odds: they err on different blocks. The trees are symmetric, all nodes
of a level ask the same question, so that a leaf's number is the answers as bits: a page takes six
comparisons a tree and block, all in numpy, and one look into a table.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]

FILE = "content_model.npz"

# What the net's score counts beside that of the trees.
_NET_SHARE = 0.45
# Features are so many standard deviations from their mean at most.
_FARTHEST = 4
# Rows that are worked on at once: ten megabytes of answers.
_ROWS = 2048


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

    def content_odds(self, rows: Floats) -> Floats:
        """Return how likely each block is content, (blocks,), by rows of features.

        Args:
            rows: Features of blocks, then of the page, then its ``type_odds``; float32.
        """
        parts = [self._some(rows[at : at + _ROWS]) for at in range(0, len(rows), _ROWS)]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _some(self, rows: Floats) -> Floats:
        trees, depth = self.features.shape
        columns = np.ascontiguousarray(rows.T)
        above = columns[self.features.ravel()] > self.borders.reshape(-1, 1)
        answers = above.view(np.uint8).reshape(trees, depth, len(rows))
        numbers = answers[:, depth - 1].copy()
        for level in range(depth - 2, -1, -1):
            numbers <<= 1
            numbers |= answers[:, level]
        places = numbers + (np.arange(trees, dtype=np.int32) << depth)[:, None]
        of_trees = self.leaves.ravel().take(places).sum(axis=0) + self.bias
        scores = (1 - _NET_SHARE) * of_trees + _NET_SHARE * self._net(rows)
        odds: Floats = (1 / (1 + np.exp(-scores))).astype(np.float32)
        return odds

    def _net(self, rows: Floats) -> Floats:
        scaled = np.clip((rows - self.row_mean) / self.row_scale, -_FARTHEST, _FARTHEST)
        units = np.maximum(scaled @ self.hidden + self.hidden_bias, 0)
        scores: Floats = units @ self.output + self.output_bias
        return scores


@cache
def load_model() -> ContentModel:
    """Return the model that is shipped, read once a process."""
    with (
        resources.files("crawler.reading.content").joinpath(FILE).open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        model = ContentModel(*(stored[name] for name in ContentModel._fields))
        return model._replace(hidden=model.hidden.astype(np.float32))
