"""Learn which blocks of pages are content, and the types of pages: trees, small nets, a regression.

The scores of the nets are averaged, so that together they are one net of as many hidden units.
"""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import catboost
import numpy as np
from rapidfuzz.distance import LCSseq
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from crawler.reading.content.block_scoring import ContentModel
from crawler.reading.content.content_xml import PAGE_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.reading.content.block_features import PageFeatures
    from crawler.reading.content.blocks import PageBlocks

FOLDS = 5
TREES = 320
DEPTH = 6
SEED = 1
UNITS = 32
NETS = 4
EPOCHS = 6
PENALTY = 3.0
FARTHEST = 4
"""Features are this many standard deviations from their mean at most."""

_WORD = re.compile(r"\w+")
_RUN = 5


@dataclass
class Labelled:
    """A page to learn from.

    Attributes:
        is_more: Whether it tells nothing of the types of pages, nor how frequent these are.
    """

    kind: str
    is_more: bool
    site: str
    root: Any
    blocks: PageBlocks
    features: PageFeatures
    labels: Any
    peer: str
    truth: list[str]
    wanted: list[str]
    unwanted: list[str]


def words_of(text: str | None) -> list[str]:
    return _WORD.findall((text or "").lower())


def labels_of(texts: Sequence[str], truth: str) -> Any:
    """Return the share of each block's words that are content, (blocks,).

    Long blocks count by the runs of five words that they share with the truth, wherever it has
    them; short ones by the longest common subsequence, or where they are a line of the truth.
    """
    blocks = [words_of(text) for text in texts]
    numbers: dict[str, int] = {}
    flat = [numbers.setdefault(word, len(numbers)) for block in blocks for word in block]
    true = [numbers.setdefault(word, len(numbers)) for word in words_of(truth)]
    common = np.zeros(len(flat), bool)
    for step in LCSseq.opcodes(flat, true):
        if step.tag == "equal":
            common[step.src_start : step.src_end] = True
    runs = set(zip(*(true[at:] for at in range(_RUN)), strict=False))
    lines = {" ".join(words_of(line)) for line in truth.split("\n")}
    labels, at = [], 0
    for block in blocks:
        end = at + len(block)
        labels.append(_label(block, flat[at:end], common[at:end], runs, lines))
        at = end
    return np.array(labels)


def _label(
    words: list[str], numbers: list[int], common: Any, runs: set[Any], lines: set[str]
) -> float:
    if not words:
        return 0.0
    share = float(common.mean())
    if len(words) >= 8:
        covered = np.zeros(len(words), bool)
        for at in range(len(words) - _RUN + 1):
            if tuple(numbers[at : at + _RUN]) in runs:
                covered[at : at + _RUN] = True
        if covered.any():
            return float(covered.mean())
        return share if share > 0.9 else share * 0.3
    if share < 1 and " ".join(words) in lines:
        return 1.0
    return share if len(words) > 3 or share == 1 else 0.0


def weights_of(page: Labelled) -> Any:
    """Return what each block counts: its share of the page, and a little for each page's blocks."""
    counts = np.array([len(words_of(text)) for text in page.blocks.texts], dtype=float)
    most = 3 * max(len(page.truth), 1)
    return counts / max(min(counts.sum(), most), 1) + 0.3 / max(len(counts), 1)


class Typing:
    """The part of the model that tells the type of a page: logistic regression."""

    def __init__(self, pages: Sequence[Labelled]) -> None:
        pages = [page for page in pages if not page.is_more]
        rows = np.array([page.features.page for page in pages], dtype=np.float64)
        self.mean, scale = rows.mean(axis=0), rows.std(axis=0)
        self.scale = np.where(scale > 0, scale, 1.0)
        scaled = np.clip((rows - self.mean) / self.scale, -5, 5)
        kinds = [PAGE_TYPES.index(page.kind) for page in pages]
        learned = LogisticRegression(C=0.05, max_iter=5000).fit(scaled, kinds)
        self.weights = np.concatenate([learned.coef_, learned.intercept_[:, None]], axis=1)

    def part(self) -> dict[str, Any]:
        """Return the fields of ``ContentModel``."""
        named = {"page_mean": self.mean, "page_scale": self.scale, "type_weights": self.weights}
        return {name: np.asarray(value, np.float32) for name, value in named.items()}


def train(pages: Sequence[Labelled], odds: Sequence[Any]) -> ContentModel:
    """Train a model on pages.

    Args:
        pages: Pages to learn from.
        odds: Their ``type_odds`` by models that did not see them.
    """
    rows = np.concatenate(
        [rows_of(page, of_types) for page, of_types in zip(pages, odds, strict=True)]
    )
    labels = np.concatenate([page.labels for page in pages])
    weights = np.concatenate([weights_of(page) for page in pages])
    weights = np.minimum(weights, np.quantile(weights, 0.999))
    learner = catboost.CatBoost(
        {
            "loss_function": "CrossEntropy",
            "iterations": TREES,
            "depth": DEPTH,
            "learning_rate": 0.08,
            "l2_leaf_reg": 5,
            "rsm": 0.1,
            "bootstrap_type": "Bernoulli",
            "subsample": 0.7,
            "border_count": 64,
            "boosting_type": "Plain",
            "random_seed": SEED,
            "thread_count": 1,
            "allow_writing_files": False,
            "verbose": 0,
        }
    )
    weights /= weights.mean()
    learner.fit(catboost.Pool(rows, labels, weight=weights))
    nets = train_nets(rows, labels, weights)
    return ContentModel(**trees_of(learner), **nets, **Typing(pages).part())


def trees_of(learner: Any) -> dict[str, Any]:
    """Return the trees of a learner as the fields of ``ContentModel``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.json")
        learner.save_model(str(file), format="json")
        stored = json.loads(file.read_text())
    trees = stored["oblivious_trees"]
    features = np.zeros((len(trees), DEPTH), np.int16)
    borders = np.full((len(trees), DEPTH), np.inf, np.float32)
    leaves = np.zeros((len(trees), 1 << DEPTH), np.float32)
    for at, tree in enumerate(trees):
        splits = tree["splits"] or []
        for level, split in enumerate(splits):
            features[at, level] = split["float_feature_index"]
            borders[at, level] = split["border"]
        leaves[at, : len(tree["leaf_values"])] = tree["leaf_values"]
    scale, (bias,) = stored["scale_and_bias"]
    return {
        "features": features,
        "borders": borders,
        "leaves": (leaves * scale).astype(np.float32),
        "bias": np.float32(bias),
    }


def rows_of(page: Labelled, odds: Any) -> Any:
    """Return the rows of a page's blocks, with its page's features and type odds."""
    blocks = page.features.blocks
    whole = np.concatenate([page.features.page, odds])
    return np.concatenate([blocks, np.broadcast_to(whole, (len(blocks), len(whole)))], axis=1)


def folds_of(pages: Sequence[Labelled]) -> Any:
    """Return the number of each page's fold; pages of a site are in one.

    Sites that only further pages have are drawn by themselves, so that they change no other fold.
    """
    sites = {page.site for page in pages if not page.is_more}
    further = {page.site for page in pages} - sites
    number = {
        site: fold
        for some in (sorted(sites), sorted(further))
        for site, fold in zip(some, _drawn(len(some)), strict=True)
    }
    return np.array([number[page.site] for page in pages])


def _drawn(count: int) -> Any:
    return np.random.RandomState(0).permutation(count) % FOLDS


def type_odds(pages: Sequence[Labelled], folds: Any) -> list[Any]:
    """Return each page's type odds by a model that was trained on the other folds."""
    found: list[Any] = [None] * len(pages)
    empty = dict.fromkeys(ContentModel._fields, np.zeros((0, 1), np.float32))
    for fold in range(FOLDS):
        part = Typing([page for page, its in zip(pages, folds, strict=True) if its != fold]).part()
        model = ContentModel(**{**empty, **part})
        for at in np.flatnonzero(folds == fold).tolist():
            found[at] = model.type_odds(pages[at].features.page)
    return found


def train_nets(rows: Any, labels: Any, weights: Any) -> dict[str, Any]:
    """Return the nets that learn from rows of features as the fields of ``ContentModel``."""
    mean, scale = rows.mean(axis=0, dtype=np.float64), rows.std(axis=0, dtype=np.float64)
    mean, scale = mean.astype(np.float32), np.where(scale > 0, scale, 1.0).astype(np.float32)
    scaled = np.clip((rows - mean) / scale, -FARTHEST, FARTHEST)
    nets = [_train_net(scaled, labels > 0.5, weights, seed) for seed in range(NETS)]
    return {
        "row_mean": mean,
        "row_scale": scale,
        "hidden": np.concatenate([net.coefs_[0] for net in nets], axis=1).astype(np.float16),
        "hidden_bias": np.concatenate([net.intercepts_[0] for net in nets]).astype(np.float32),
        "output": (np.concatenate([net.coefs_[1][:, 0] for net in nets]) / NETS).astype(np.float32),
        "output_bias": np.float32(np.mean([net.intercepts_[1][0] for net in nets])),
    }


def _train_net(rows: Any, labels: Any, weights: Any, seed: int) -> Any:
    net = MLPClassifier((UNITS,), alpha=PENALTY, batch_size=512, max_iter=EPOCHS, random_state=seed)
    with warnings.catch_warnings():
        # So few epochs are what keeps it from learning sites by heart.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(rows, labels.astype(np.int64), sample_weight=weights)
