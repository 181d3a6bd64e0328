"""Decide which texts are kept: each that no kept text before it is near to.

As online, texts are taken in the order of their ids, so that every text that is dropped has a kept
one that it was compared with, and no chain of small differences ends far from what is kept. A
representative of each cluster would not do: in a chain of three the ends need not be alike.

A text is called what its first document is called. Near texts of other names are both kept; equal
texts are one, whatever they are called.

The decision on a text rests on all before it in its cluster, so each cluster is decided by one
task, in one pass over its sorted pairs.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from neardup.parameters import Parameters
from neardup.verdict import (
    CANDIDATE_TIER,
    NEAR_DUPLICATE,
    NEW,
    SAME_TEMPLATE,
    SIMHASH_TIER,
    TEXT_DUPLICATE,
    TEXT_TIER,
    TOO_SHORT,
)

_DROPPED = "id long"
_IDS = pa.schema([("id", pa.int64())])


def verdicts(
    documents: DataFrame, originals: DataFrame, resembled: DataFrame, parameters: Parameters
) -> DataFrame:
    """Return ``id``, ``text_id`` and what a ``neardup.Verdict`` says, each in a column.

    Args:
        documents: ``id``, ``text_id``, ``words``; ``text_id`` is null of an empty text.
        originals: The nearest kept text of each document whose text is dropped.
        resembled: The nearest kept text of another name of each text that is kept.
        parameters: ``min_words`` and ``max_distance`` count.
    """
    found = documents.join(originals.unionByName(resembled, allowMissingColumns=True), "id", "left")
    is_near, is_copy = "duplicate_of IS NOT NULL", "text_id <> id"
    is_measured = "duplicate_of IS NOT NULL OR resembles IS NOT NULL"
    short = f"words < {parameters.min_words}"
    near_tier = f"IF(distance <= {parameters.max_distance}, '{SIMHASH_TIER}', '{CANDIDATE_TIER}')"
    return found.selectExpr(
        "id",
        "text_id",
        f"CASE WHEN {is_near} THEN '{NEAR_DUPLICATE}' WHEN {is_copy} THEN '{TEXT_DUPLICATE}'"
        f" WHEN {short} THEN '{TOO_SHORT}' WHEN resembles IS NOT NULL THEN '{SAME_TEMPLATE}'"
        f" ELSE '{NEW}' END AS verdict",
        f"CASE WHEN {is_near} THEN duplicate_of WHEN {is_copy} THEN text_id END AS duplicate_of",
        f"CAST(CASE WHEN {is_measured} THEN distance WHEN {is_copy} THEN 0 END AS int) AS distance",
        f"CAST(CASE WHEN {is_measured} THEN similarity WHEN {is_copy} THEN 1 END AS double)"
        " AS similarity",
        f"CASE WHEN {is_near} THEN {near_tier} WHEN {is_copy} THEN '{TEXT_TIER}' END AS tier",
        "resembles",
    )


def is_kept() -> str:
    return f"verdict IN ('{NEW}', '{TOO_SHORT}', '{SAME_TEMPLATE}') AND text_id IS NOT NULL"


def dropped(pairs: DataFrame, roots: DataFrame) -> DataFrame:
    """Return the texts that repeat a kept text before them: ``id``.

    Args:
        pairs: ``first``, ``second`` of texts whose names do not differ, the smaller id first;
            every ``first`` that is not among the ``second`` is kept.
        roots: ``id``, ``root``: something that all texts of a cluster share.

    Complexity: O(pairs) after a sort; a task holds what is dropped of the cluster that it decides.
    """
    sides = pairs.select("first", "second").join(roots.selectExpr("id AS second", "root"), "second")
    sorted_pairs = sides.repartition("root").sortWithinPartitions("root", "second", "first")
    return sorted_pairs.select("root", "first", "second").mapInArrow(_decide, _DROPPED)


def dropped_by_driver(spark: SparkSession, pairs: DataFrame) -> DataFrame:
    """Return the same where the pairs are few, without moving them to where each is decided."""
    columns = ("second", "first")
    table = pairs.select(*columns).toArrow().sort_by([(name, "ascending") for name in columns])
    # Clusters have no text in common, so that all of them can be decided as one.
    table = table.append_column("root", pa.repeat(0, table.num_rows))
    return spark.createDataFrame(pa.Table.from_batches(_decide(iter(table.to_batches())), _IDS))


def _decide(batches: Iterator[Any]) -> Iterator[Any]:
    root: int | None = None
    gone: set[int] = set()
    for batch in batches:
        found: list[int] = []
        columns = (batch[name].to_pylist() for name in ("root", "first", "second"))
        for of, first, second in zip(*columns, strict=True):
            if of != root:
                root, gone = of, set()
            # In order of the second: what becomes of the first is known by now.
            if first not in gone and second not in gone:
                gone.add(second)
                found.append(second)
        yield pa.RecordBatch.from_pydict({"id": pa.array(found, pa.int64())})


def representatives(pairs: DataFrame, earlier: DataFrame, gone: DataFrame) -> DataFrame:
    """Return ``first``, ``second``: kept texts, and earlier ones for which a near one was dropped.

    Args:
        pairs: ``first``, ``second`` of texts whose names do not differ.
        earlier: The same of earlier runs.
        gone: ``id`` of the texts that are dropped.
    """
    of_dropped = gone.selectExpr("id AS text_id")
    opened = pairs.selectExpr("first AS text_id", "second").join(of_dropped, "text_id", "left_semi")
    opened = opened.join(gone.selectExpr("id AS second"), "second", "left_anti")
    every = pairs.select("first", "second").unionByName(earlier.select("first", "second"))
    kept = every.selectExpr("first", "second AS text_id")
    kept = kept.join(gone.selectExpr("id AS first"), "first", "left_anti")
    return opened.join(kept, "text_id").select("first", "second").distinct()


def originals(pairs: DataFrame, gone: DataFrame, kept_from: DataFrame) -> DataFrame:
    """Return for each text that is dropped, and each copy of it, the nearest kept one before it.

    As online, where a later copy of a dropped text may be nearer to what was kept since.

    Args:
        pairs: ``first``, ``second``, ``distance``, ``similarity``; their names do not differ.
        gone: ``id`` of the texts that are dropped.
        kept_from: ``id``, ``text_id``: documents, with the text that they have.

    Returns:
        ``id``, ``duplicate_of``, ``distance``, ``similarity``.
    """
    both = pairs.selectExpr("first AS text_id", "second AS other", "distance", "similarity")
    both = both.unionByName(
        pairs.selectExpr("second AS text_id", "first AS other", "distance", "similarity")
    )
    near = both.join(gone.selectExpr("id AS text_id"), "text_id", "left_semi")
    near = near.join(gone.selectExpr("id AS other"), "other", "left_anti")
    near = _ever_nearer(near)
    found = kept_from.join(near, "text_id").where("other < id")
    best = "min(struct(distance, other, similarity)) AS best"
    chosen = found.groupBy("id").agg(expr(best))
    return chosen.selectExpr(
        "id",
        "best.other AS duplicate_of",
        "best.distance AS distance",
        "best.similarity AS similarity",
    )


def resembled(pairs: DataFrame, gone: DataFrame) -> DataFrame:
    """Return for each kept text the nearest kept one before it whose name is another.

    Args:
        pairs: ``first``, ``second``, ``distance``, ``similarity``; their names differ.
        gone: ``id`` of the texts that are dropped.

    Returns:
        ``id``, ``resembles``, ``distance``, ``similarity``.
    """
    near = pairs.join(gone.selectExpr("id AS first"), "first", "left_anti")
    near = near.join(gone.selectExpr("id AS second"), "second", "left_anti")
    best = "min(struct(distance, first, similarity)) AS best"
    return (
        near.groupBy("second")
        .agg(expr(best))
        .selectExpr(
            "second AS id",
            "best.first AS resembles",
            "best.distance AS distance",
            "best.similarity AS similarity",
        )
    )


def _ever_nearer(near: DataFrame) -> DataFrame:
    """Leave out what is no nearer than a kept text before it: at most nine are left of a text."""
    before = (
        "min(distance) OVER (PARTITION BY text_id ORDER BY other "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before"
    )
    return near.selectExpr("*", before).where("before IS NULL OR distance < before").drop("before")
