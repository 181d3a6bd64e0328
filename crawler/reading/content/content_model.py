"""The trained model: how likely each block is content, and each type that of the page.

``benchmarks/train_content.py`` trains it. Trees and a small net score each block
(``block_scoring``); the type of the page is told by logistic regression.
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
