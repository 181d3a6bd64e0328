"""Connected components of pairs, in few rounds whatever their shape, and the clusters they make.

Each round hangs what it can on the smallest neighbour: the large star of a node joins its larger
neighbours to the smallest of all, the small star its smaller ones. A path of n nodes takes
O(log n) rounds where passing on the smallest id takes n, and no node ever has to hold its cluster.

Reference: Kiveris et al., Connected Components in MapReduce and Beyond, SoCC 2014.
"""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from neardup.clustering import clusters

FEW = 1 << 19
"""The largest number of pairs that one machine joins sooner than a cluster begins."""


def components(
    spark: SparkSession,
    pairs: DataFrame,
    keep: Callable[[DataFrame, str], DataFrame],
    *,
    few: int = FEW,
) -> tuple[DataFrame, int]:
    """Return ``id``, ``root`` of each node that has a pair, and how many rounds that took.

    The root is the smallest id of the component, which has a row too.

    Args:
        spark: The session.
        pairs: ``first``, ``second``, in whatever order.
        keep: Writes rows under a name and reads them back, so that no round is done twice.
        few: The largest number of pairs that the driver joins by itself, in no round.
    """
    edges = keep(
        pairs.selectExpr("greatest(first, second) AS id", "least(first, second) AS root")
        .where("id <> root")
        .distinct(),
        "edges-0",
    )
    if edges.count() <= few:
        return _by_driver(spark, edges), 0
    state, rounds = _state(edges), 0
    while True:
        rounds += 1
        edges = keep(_small_star(_large_star(edges)), f"edges-{rounds}")
        before, state = state, _state(edges)
        if state == before:
            roots = edges.selectExpr("root AS id", "root").distinct()
            return edges.unionByName(roots), rounds


def _by_driver(spark: SparkSession, edges: DataFrame) -> DataFrame:
    table = edges.toArrow()
    pairs = zip(table["id"].to_pylist(), table["root"].to_pylist(), strict=True)
    rows = [(node, c.representative) for c in clusters(pairs) for node in c.members]
    columns = {"id": [node for node, _ in rows], "root": [root for _, root in rows]}
    kinds = pa.schema([("id", pa.int64()), ("root", pa.int64())])
    return spark.createDataFrame(pa.table(columns, schema=kinds))


def _large_star(edges: DataFrame) -> DataFrame:
    """Join the larger neighbours of each node to the smallest of it and its neighbours."""
    both = edges.selectExpr("id AS node", "root AS other").unionByName(
        edges.selectExpr("root AS node", "id AS other")
    )
    least = "least(node, min(other) OVER (PARTITION BY node)) AS root"
    found = both.selectExpr("node", "other", least).where("other > node")
    return found.selectExpr("other AS id", "root").distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    """Join each node and its smaller neighbours to the smallest of these."""
    least = "min(root) OVER (PARTITION BY id) AS least"
    found = edges.selectExpr("id", "root", least)
    others = found.where("root <> least").selectExpr("root AS id", "least AS root")
    return found.selectExpr("id", "least AS root").unionByName(others).distinct()


def _state(edges: DataFrame) -> tuple[int, int]:
    """Return the number and the checksum of edges, the same as before when nothing changed."""
    checksum = "CAST(sum(CAST(xxhash64(id, root) AS decimal(38, 0))) AS string) AS checksum"
    row = edges.selectExpr("count(*) AS edges", checksum).first()
    return (row["edges"], int(row["checksum"] or 0)) if row else (0, 0)


def contracted(pairs: DataFrame, clusters: DataFrame) -> DataFrame:
    """Return pairs in which an older ``first`` gives way to what represents its cluster."""
    sides = pairs.join(clusters.withColumnRenamed("id", "first"), "first", "left")
    return sides.selectExpr("coalesce(representative, first) AS first", "second")


def cluster_rows(documents: DataFrame, roots: DataFrame, earlier: DataFrame) -> DataFrame:
    """Return ``id``, ``representative`` of all documents in clusters that hold a new one.

    Args:
        documents: ``id``, ``text_id`` of the new documents.
        roots: The components of the contracted pairs.
        earlier: ``id``, ``representative``: the clusters before.
    """
    old = earlier.selectExpr("id AS text_id", "representative AS older")
    new = (
        documents.where("text_id IS NOT NULL")
        .join(old, "text_id", "left")
        .selectExpr("id", "coalesce(older, text_id) AS node")
    )
    node_roots = roots.selectExpr("id AS node", "root")
    placed = new.join(node_roots, "node", "left").selectExpr("id", "coalesce(root, node) AS root")
    # What stands for an earlier cluster, or is an earlier text without one: all that is no new
    # document's id.
    nodes = new.select("node").union(roots.selectExpr("id AS node")).distinct()
    older = nodes.join(documents.selectExpr("id AS node"), "node", "left_anti")
    older = older.join(node_roots, "node", "left").selectExpr(
        "node", "coalesce(root, node) AS root"
    )
    members = older.join(earlier.selectExpr("id", "representative AS node"), "node", "left")
    members = members.selectExpr("coalesce(id, node) AS id", "root")
    every = placed.unionByName(members)
    large = every.groupBy("root").agg(expr("count(*) AS size")).where("size > 1")
    return every.join(large, "root", "left_semi").selectExpr("id", "root AS representative")
