"""The verdict on each document, in the words that a deduplicator has for it."""

from typing import TYPE_CHECKING

from neardup.parameters import Parameters
from neardup.verdict import (
    CANDIDATE_TIER,
    NEAR_DUPLICATE,
    NEW,
    SIMHASH_TIER,
    TEXT_DUPLICATE,
    TEXT_TIER,
    TOO_SHORT,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def verdicts(documents: "DataFrame", originals: "DataFrame", parameters: Parameters) -> "DataFrame":
    """Return ``id``, ``text_id`` and what a ``neardup.Verdict`` says, each in a column.

    Args:
        documents: ``id``, ``text_id``, ``words``; ``text_id`` is null of an empty text.
        originals: Of those whose text is near a kept one.
        parameters: Of these, ``min_words`` and ``max_distance`` count.
    """
    found = documents.join(originals, "id", "left")
    is_near, is_copy = "duplicate_of IS NOT NULL", "text_id <> id"
    short = f"words < {parameters.min_words}"
    near_tier = f"IF(distance <= {parameters.max_distance}, '{SIMHASH_TIER}', '{CANDIDATE_TIER}')"
    return found.selectExpr(
        "id",
        "text_id",
        f"CASE WHEN {is_near} THEN '{NEAR_DUPLICATE}' WHEN {is_copy} THEN '{TEXT_DUPLICATE}'"
        f" WHEN {short} THEN '{TOO_SHORT}' ELSE '{NEW}' END AS verdict",
        f"CASE WHEN {is_near} THEN duplicate_of WHEN {is_copy} THEN text_id END AS duplicate_of",
        f"CAST(CASE WHEN {is_near} THEN distance WHEN {is_copy} THEN 0 END AS int) AS distance",
        f"CAST(CASE WHEN {is_near} THEN similarity WHEN {is_copy} THEN 1 END AS double)"
        " AS similarity",
        f"CASE WHEN {is_near} THEN {near_tier} WHEN {is_copy} THEN '{TEXT_TIER}' END AS tier",
    )


def is_kept() -> str:
    """Return the condition of documents whose text is kept."""
    return f"verdict IN ('{NEW}', '{TOO_SHORT}') AND text_id IS NOT NULL"
