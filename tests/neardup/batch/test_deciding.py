"""Which texts are kept, against the definition and the cascade."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from neardup import Parameters, Verdict, analyse, clusters
from neardup.batch.run import _decide, dropped, originals, resembled, verdicts
from neardup.cascade import is_confirmed
from neardup.fingerprints.digest import text_digest
from neardup.names import Name
from tests.neardup.judged_crawls import (
    by_cascade,
    crawls,
    evidence_of,
    is_same,
    parameters_of_verdicts,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from neardup import Document
    from tests.neardup.storage.redis.judges import Page

pytestmark = pytest.mark.slow

edges = st.sets(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda pair: pair[0] < pair[1]),
    max_size=60,
)


def decided(pairs: set[tuple[int, int]], batch: int) -> set[int]:
    """What is dropped, from pairs as Spark sorts them."""
    roots = {node: one.representative for one in clusters(pairs) for node in one.members}
    rows = sorted((roots[second], second, first) for first, second in pairs)
    columns = [[row[place] for row in rows] for place in (0, 2, 1)]
    kinds = pa.schema([(name, pa.int64()) for name in ("root", "first", "second")])
    table = pa.table(dict(zip(kinds.names, columns, strict=True)), schema=kinds)
    found = _decide(iter(table.to_batches(max_chunksize=batch)))
    return {number for part in found for number in part["id"].to_pylist()}


class TestDecidingProperties:
    @given(edges, st.integers(1, 20))
    def test_exactly_what_repeats_a_kept_text_is_dropped(
        self, pairs: set[tuple[int, int]], batch: int
    ) -> None:
        gone = decided(pairs, batch)
        for text in range(31):
            near_kept = {first for first, second in pairs if second == text} - gone
            assert (text in gone) == bool(near_kept)

    @given(edges)
    def test_no_two_kept_texts_are_a_pair(self, pairs: set[tuple[int, int]]) -> None:
        gone = decided(pairs, 7)
        assert all({first, second} & gone for first, second in pairs)


PairRow = tuple[int, int, int, float | None]


class Rows(NamedTuple):
    """The tables from which Spark decides.

    Attributes:
        documents: ``id``, ``text_id``, ``words``.
        pairs: ``first``, ``second``, ``distance``, ``similarity``, of different near texts.
        others: The same of texts whose names differ.
    """

    documents: list[tuple[int, int, int]]
    pairs: list[PairRow]
    others: list[PairRow]


def rows_of(parameters: Parameters, crawl: list[Page], first: int) -> Rows:
    """Return what the steps before the decision find of a crawl; ids begin at ``first``."""
    firsts: dict[bytes, tuple[int, Document]] = {}
    documents = []
    for page in crawl:
        document = analyse(page.text, parameters, page.name)
        text_id, _ = firsts.setdefault(document.digest, (first + page.number, document))
        documents.append((first + page.number, text_id, document.words))
    pairs: list[PairRow] = []
    others: list[PairRow] = []
    different = sorted(firsts.values(), key=lambda one: one[0])
    for place, (second, document) in enumerate(different):
        before = dict(different[:place])
        for near in evidence_of(document, before, parameters).near:
            if is_confirmed(near, parameters):
                similarity = near.similarity if parameters.verify else None
                rows = others if near.is_other and parameters.compare_names else pairs
                rows.append((near.id, second, near.distance, similarity))
    return Rows(documents, pairs, others)


class TestBatch:
    """All crawls of an example are one corpus: a job of Spark takes seconds, so none is shrunk."""

    @settings(
        max_examples=2,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(parameters=parameters_of_verdicts, crawled=st.lists(crawls, min_size=15, max_size=20))
    def test_sql_decides_as_the_cascade_does(
        self, spark: SparkSession, parameters: Parameters, crawled: list[list[Page]]
    ) -> None:
        found, expected = Rows([], [], []), []
        for number, crawl in enumerate(crawled):
            first = 1000 * number
            plain = [page._replace(payload=None, name=name_of_text(page.text)) for page in crawl]
            more = rows_of(parameters, plain, first)
            found.documents.extend(more.documents)
            found.pairs.extend(more.pairs)
            found.others.extend(more.others)
            for verdict in by_cascade(parameters, plain):
                original, other = (
                    None if number is None else first + number
                    for number in (verdict.duplicate_of, verdict.resembles)
                )
                expected.append(replace(verdict, duplicate_of=original, resembles=other))
        told = spark_verdicts(spark, parameters, found)
        for row, wanted in zip(told, expected, strict=True):
            if wanted.kind == "text_duplicate" or row["verdict"] == "text_duplicate":
                # The first equal text is named, which is the kept one.
                assert row["duplicate_of"] == row["text_id"]
            found_verdict = Verdict(
                row["verdict"],
                row["duplicate_of"],
                row["distance"],
                row["similarity"],
                row["tier"],
                resembles=row["resembles"],
            )
            assert is_same(found_verdict, wanted), (row, wanted)


def name_of_text(text: str) -> Name:
    """One of two names; equal texts have the same."""
    return Name(title=("Red lamp", "Blue lamp")[text_digest(text)[0] % 4 == 0])


def spark_verdicts(spark: SparkSession, parameters: Parameters, rows: Rows) -> list[Any]:
    """Return the verdicts of a batch, in the order of ids."""
    documents = spark.createDataFrame(rows.documents, "id long, text_id long, words int")
    columns = "first long, second long, distance int, similarity double"
    pairs, others = (spark.createDataFrame(some, columns) for some in (rows.pairs, rows.others))
    joined = clusters((first, second) for first, second, _, _ in rows.pairs)
    roots = spark.createDataFrame(
        [(member, one.representative) for one in joined for member in one.members],
        "id long, root long",
    )
    gone = dropped(pairs, roots).cache()
    of_gone = documents.join(gone.selectExpr("id AS text_id"), "text_id", "left_semi")
    found = originals(pairs, gone, of_gone.select("id", "text_id"))
    return verdicts(documents, found, resembled(others, gone), parameters).orderBy("id").collect()
