"""The clusters that a run makes or touches, and what represents each: its first document."""

from typing import TYPE_CHECKING

from neardup.batch.expressions import expr

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def contracted(pairs: "DataFrame", clusters: "DataFrame") -> "DataFrame":
    """Return pairs in which an older document gives way to what represents its cluster.

    Args:
        pairs: ``first``, ``second``; only the first may be of an earlier run.
        clusters: ``id``, ``representative`` of earlier runs.
    """
    sides = pairs.join(clusters.withColumnRenamed("id", "first"), "first", "left")
    return sides.selectExpr("coalesce(representative, first) AS first", "second")


def clusters(documents: "DataFrame", roots: "DataFrame", earlier: "DataFrame") -> "DataFrame":
    """Return ``id``, ``representative`` of all documents in clusters that hold a new one.

    Args:
        documents: ``id``, ``text_id`` of the new documents.
        roots: ``id``, ``root``: the components of the contracted pairs.
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
