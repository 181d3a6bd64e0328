"""Components of pairs, against union-find."""

from __future__ import annotations

import itertools
import math
import random
from typing import TYPE_CHECKING

import pytest

from neardup import clusters
from neardup.batch.components import components

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.slow

PATH = 1_024


def roots(
    spark: SparkSession, folder: Path, pairs: list[tuple[int, int]], few: int
) -> tuple[dict[int, int], int]:
    """The root of each node, and the rounds that it took."""

    def keep(rows: DataFrame, name: str) -> DataFrame:
        rows.write.parquet(str(folder / name))
        return spark.read.schema(rows.schema).parquet(str(folder / name))

    found, rounds = components(
        spark, spark.createDataFrame(pairs, "first long, second long"), keep, few=few
    )
    rows = found.toArrow().to_pylist()
    by_node = {row["id"]: row["root"] for row in rows}
    assert len(by_node) == len(rows)
    return by_node, rounds


def expected(pairs: list[tuple[int, int]]) -> dict[int, int]:
    return {node: found.representative for found in clusters(pairs) for node in found.members}


def test_a_long_path_takes_a_logarithm_of_rounds(spark: SparkSession, tmp_path: Path) -> None:
    names = list(range(PATH))
    random.Random(3).shuffle(names)
    path = list(itertools.pairwise(names))
    found, rounds = roots(spark, tmp_path, path, few=0)
    assert found == dict.fromkeys(range(PATH), 0)
    assert 2 < rounds <= math.log2(PATH)


def test_components_are_those_of_union_find(spark: SparkSession, tmp_path: Path) -> None:
    source = random.Random(4)
    pairs = [(source.randrange(400), source.randrange(400)) for _ in range(220)]
    pairs = [(one, other) for one, other in pairs if one != other]
    by_rounds, rounds = roots(spark, tmp_path / "rounds", pairs, few=0)
    by_driver, none = roots(spark, tmp_path / "driver", pairs, few=1_000)
    assert by_rounds == by_driver == expected(pairs)
    assert (rounds > 1, none) == (True, 0)
