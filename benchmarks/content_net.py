"""Train the small nets of the content model: one layer of hidden units, several seeds.

Their scores are averaged, so that together they are one net of as many hidden units.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

UNITS = 32
NETS = 4
EPOCHS = 6
PENALTY = 3.0
FARTHEST = 4
"""Features are this many standard deviations from their mean at most."""


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
