"""The clusters of a run: documents that equal texts and duplicates connect."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_Edges = NDArray[np.int64]


def cluster_table(documents: Iterable[Any], earlier: Iterable[Any], first_new: int) -> Any:
    """Return ``id``, ``representative`` of all documents in clusters that hold a new one.

    Args:
        documents: Tables of ``id``, ``text_id``, ``duplicate_of`` of the new documents.
        earlier: Tables of ``id``, ``representative``: the clusters before.
        first_new: The smallest id that a new document may have.

    Complexity: O(duplicates * log(duplicates)) for each round, of which there are few: a cluster is
    a star but where copies of one text repeat several.
    """
    found = [edges for table in documents for edges in _edges(table)]
    found += [_columns(table, "id", "representative") for table in earlier]
    edges = np.concatenate(found) if found else np.zeros((0, 2), np.int64)
    ids, places = np.unique(edges, return_inverse=True)
    roots = _roots(len(ids), places.reshape(edges.shape))
    is_new = np.zeros(len(ids), np.bool_)
    is_new[roots[ids >= first_new]] = True
    wanted = is_new[roots]
    return pa.table({"id": ids[wanted], "representative": ids[roots[wanted]]})


def _edges(documents: Any) -> Iterable[_Edges]:
    for name in ("text_id", "duplicate_of"):
        some = documents.filter(documents[name].is_valid())
        edges = _columns(some, "id", name)
        yield edges[edges[:, 0] != edges[:, 1]]


def _columns(table: Any, *names: str) -> _Edges:
    return np.stack([table[name].to_numpy() for name in names], axis=1)


def _roots(count: int, edges: _Edges) -> NDArray[np.int64]:
    """Return the smallest node that each node hangs together with."""
    roots = np.arange(count)
    while True:
        before = roots.copy()
        least = roots[edges].min(axis=1) if len(edges) else roots[:0]
        for side in range(2):
            np.minimum.at(roots, roots[edges[:, side]], least)
        while not np.array_equal(above := roots[roots], roots):
            roots = above
        if np.array_equal(roots, before):
            return roots
