"""The score of blocks equals what trees and net say when each question is asked of each block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.block_scoring import BlockScorer, ContentModel, load_scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


def plain_odds(model: ContentModel, row: Floats) -> float:
    """Return the odds of one block by its features, those of its page, and its type odds."""
    trees = float(model.bias)
    for features, borders, leaves in zip(model.features, model.borders, model.leaves, strict=True):
        answers = enumerate(row[features] > borders)
        trees += float(leaves[sum(1 << level for level, answer in answers if answer)])
    scaled = np.clip((row.astype(np.float64) - model.row_mean) / model.row_scale, -4, 4)
    units = np.maximum(scaled @ model.hidden.astype(np.float64) + model.hidden_bias, 0)
    net = float(units @ model.output + model.output_bias)
    return 1 / (1 + math.exp(-(0.55 * trees + 0.45 * net)))


def plain(model: ContentModel, blocks: Floats, page: Floats) -> list[float]:
    return [plain_odds(model, np.concatenate([row, page])) for row in blocks]


def drawn_model(random: np.random.Generator, features: int, depth: int) -> ContentModel:
    """Return a model of 3 features of pages and 2 types that asks blocks and pages at random."""
    count, trees, units = features + 5, 7, 4

    def numbers(*shape: int) -> Floats:
        return random.normal(size=shape).astype(np.float32)

    return ContentModel(
        features=random.integers(0, count, (trees, depth)).astype(np.int16),
        borders=numbers(trees, depth),
        leaves=numbers(trees, 1 << depth),
        bias=np.float32(0.1),
        row_mean=numbers(count),
        row_scale=np.abs(numbers(count)) + np.float32(0.1),
        hidden=numbers(count, units).astype(np.float16),
        hidden_bias=numbers(units),
        output=numbers(units),
        output_bias=np.float32(-0.2),
        page_mean=numbers(3),
        page_scale=np.abs(numbers(3)) + 1,
        type_weights=numbers(2, 4),
    )


class TestBlockScorerProperties:
    @given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 8), st.integers(0, 5))
    def test_odds_equal_those_of_each_block_by_itself(
        self, seed: int, features: int, depth: int, count: int
    ) -> None:
        random = np.random.default_rng(seed)
        model = drawn_model(random, features, depth)
        blocks = (random.normal(size=(count, features)) * 9).astype(np.float32)
        page = random.normal(size=5).astype(np.float32)
        odds = BlockScorer(model).content_odds(blocks, page)
        assert odds.dtype == np.float32
        assert odds.tolist() == pytest.approx(plain(model, blocks, page), abs=1e-5)


class TestLoadScorer:
    def test_odds_of_many_blocks_equal_those_of_each_block_by_itself(self) -> None:
        model, random = load_scorer().model, np.random.default_rng(5)
        pages = len(model.page_mean) + len(model.type_weights)
        drawn = random.normal(size=(5000, len(model.row_mean))) * model.row_scale + model.row_mean
        rows = drawn.astype(np.float32)
        blocks, page = rows[:, :-pages], rows[0, -pages:]
        odds = load_scorer().content_odds(blocks, page)
        at = [0, 1, 2047, 2048, 4095, 4096, 4999]
        assert odds[at].tolist() == pytest.approx(plain(model, blocks[at], page), abs=1e-5)

    def test_a_page_without_blocks_has_no_odds(self) -> None:
        model = load_scorer().model
        pages = len(model.page_mean) + len(model.type_weights)
        blocks = np.zeros((0, len(model.row_mean) - pages), np.float32)
        assert load_scorer().content_odds(blocks, np.zeros(pages, np.float32)).shape == (0,)
