"""A whole run: from files to tables; each text is kept that no kept text before it is near to.

As online, texts are taken in the order of their ids, so that every text that is dropped has a kept
one that it was compared with, and no chain of small differences ends far from what is kept. A
representative of each cluster would not do: in a chain of three the ends need not be alike.

A text is called what its first document is called. Near texts of other names are both kept; equal
texts are one, whatever they are called.

The decision on a text rests on all before it in its cluster, so each cluster is decided by one
task, in one pass over its sorted pairs.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from neardup.batch.analysing import POSITION_BITS, analysed
from neardup.batch.components import FEW, cluster_rows, components, contracted
from neardup.batch.corpus_task import CorpusTask, no_text
from neardup.batch.input_files import check_count, parts_of
from neardup.batch.joining import FIRST_ROUND, LATER_ROUND, candidates, verified, with_distance
from neardup.batch.output_tables import KEPT_COLUMNS, OF_VERDICT, About, Earlier, Folder
from neardup.batch.rows import DAMAGED
from neardup.batch.schemes import WORDS, scheme_of
from neardup.batch.spark_session import held
from neardup.errors import InputError
from neardup.fingerprints.digest import EMPTY_DIGEST
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


_WORK = "_work"
_REASONS = 10
_MAX_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Task(CorpusTask):
    """The task of a run.

    Attributes:
        against: The run that this one goes on from, if any.
        few: As of ``components``.
    """

    against: str | None = None
    few: int = FEW


@dataclass(frozen=True, slots=True)
class _Judged:
    """The tables when all texts were compared."""

    documents: DataFrame
    pairs: DataFrame
    roots: DataFrame
    verdicts: DataFrame


class BatchRun:
    """Writes the tables of a task into a folder; each step is written, so none is done twice.

    ``say`` is called with a few words for what was done.
    """

    def __init__(
        self, spark: SparkSession, task: Task, folder: Folder, say: Callable[[str], object]
    ) -> None:
        self._spark, self._task, self._folder, self._say = spark, task, folder, say
        self._earlier = Earlier(spark, task.against, task)
        if folder.final_path in self._earlier.paths:
            # It holds what the new run does not.
            raise InputError(
                f"{folder.final_path}: is gone on from; choose another folder for the new"
            )
        check_count(self._earlier.end_file + len(task.files))
        self._parts = list(parts_of(task.files, self._earlier.end_file))
        self._counts: dict[str, int] = {}
        self._began = time.monotonic()

    def __call__(self) -> About:
        read = self._read()
        documents = self._name_texts(read)
        judged = self._judge(documents, *self._join(read, documents))
        self._write(read, judged)
        about = About(
            run=uuid.uuid4().hex,
            input=self._task.input,
            parameters=self._task.parameters,
            first_file=self._earlier.end_file,
            end_file=self._earlier.end_file + len(self._task.files),
            against=self._earlier.paths,
            runs=self._earlier.runs,
            counts=self._counts,
            reading=self._task.reading.after(self._earlier.reading),
        )
        self._folder.remove(_WORK)
        self._folder.write_about(about)
        return about

    def _read(self) -> DataFrame:
        task = self._task
        rows = self._keep(analysed(self._spark, self._parts, task.options, task.parameters), "read")
        left_out = rows.where("left_out IS NOT NULL")
        self._folder.write(left_out.select("source", "left_out", "count").coalesce(1), "left_out")
        reasons = left_out.groupBy("left_out").agg(expr("sum(count) AS count"))
        found = [(row["left_out"], row["count"]) for row in reasons.orderBy("left_out").collect()]
        documents = rows.where("left_out IS NULL")
        self._count("documents", documents.count(), f"texts in {len(task.files):,} files")
        for reason, count in found[:_REASONS]:
            self._say(f"left out: {count:,}: {reason}")
        self._counts["left_out"] = sum(count for _, count in found)
        self._counts[DAMAGED] = sum(n for reason, n in found if reason.startswith(DAMAGED))
        if not self._counts["documents"]:
            raise no_text(task, found[0][0] if found else None)
        return documents

    def _name_texts(self, read: DataFrame) -> DataFrame:
        """Give each document the first one that has its very text, of whatever run."""
        firsts = read.groupBy("digest").agg(expr("min(id) AS first"))
        older = self._earlier.texts().selectExpr("digest", "id AS older")
        firsts = firsts.where(f"digest <> X'{EMPTY_DIGEST.hex()}'").join(older, "digest", "left")
        firsts = firsts.selectExpr("digest", "coalesce(older, first) AS text_id")
        named = read.select("id", "digest", "words").join(firsts, "digest", "left").drop("digest")
        documents = self._keep(named, "documents")
        self._count("texts", documents.where("id = text_id").count(), "different texts")
        return documents

    def _join(self, read: DataFrame, documents: DataFrame) -> tuple[DataFrame, DataFrame]:
        parameters = self._task.parameters
        columns = ["id", "fingerprint", *WORDS, "signature"]
        firsts = documents.where("id = text_id").select("id")
        texts = read.select(columns).join(firsts, "id")
        older = self._earlier.texts().join(self._earlier.signatures(), "id").select(columns)
        texts = texts.unionByName(older).where("fingerprint IS NOT NULL")
        scheme = scheme_of(parameters, texts.count())
        first_new = self._parts[0].number << POSITION_BITS
        near = self._keep(candidates(texts, scheme, parameters, first_new), "candidates")
        told = near.selectExpr(
            "count_if(first < second) AS candidates",
            "count_if(first = second) AS cut",
            f"count_if(round = {FIRST_ROUND} AND first < second) AS now",
            f"count_if(round = {LATER_ROUND}) AS later",
        ).first()
        assert told is not None
        self._count("candidates", told["candidates"], f"candidates, by {scheme}")
        self._counts["cut"] = told["cut"]
        if told["cut"]:
            self._say(
                f"{told['cut']:,} texts are not compared with all their keys; see docs/corpora.md"
            )
        return self._confirmed(near.where("first < second"), read, told["now"], told["later"])

    def _confirmed(
        self, near: DataFrame, read: DataFrame, now: int, later: int
    ) -> tuple[DataFrame, DataFrame]:
        """Compare texts in rounds, until each repeats a kept one or has no candidate left.

        Where those that a text is near to are all dropped, it is compared with what they were
        dropped for. What is dropped is not settled for good: what it was dropped for may be dropped
        in a later round. Then it is compared with its other candidates. Returned are the pairs, and
        what is dropped for them.
        """
        contents = read.select("id", "text", "title").unionByName(self._earlier.contents())
        numbers = read.select("id", "fingerprint")
        numbers = numbers.unionByName(self._earlier.texts().select("id", "fingerprint"))
        asked, ready = near.select("first", "second"), near.where(f"round = {FIRST_ROUND}")
        left = near.where(f"round = {LATER_ROUND}")
        pairs, rounds = None, 0
        while True:
            rounds += 1
            found = verified(ready, contents, self._task.parameters, now)
            found = found if pairs is None else pairs.unionByName(found)
            pairs = self._keep(found, f"pairs-{rounds}")
            same = pairs.where("NOT is_other")
            gone = self._dropped(same, f"gone-{rounds}")
            if not later or rounds > _MAX_ROUNDS:
                break
            ready = left
            for side in ("first", "second"):
                ready = ready.join(gone.selectExpr(f"id AS {side}"), side, "left_anti")
            older = self._earlier.pairs().where("NOT is_other")
            more = representatives(same, older, gone)
            more = more.join(asked, ["first", "second"], "left_anti")
            ready = ready.drop("round").unionByName(with_distance(more, numbers))
            ready = self._keep(ready, f"ready-{rounds}")
            now = ready.count()
            if not now:
                break
            asked_now = ready.select("first", "second")
            left = left.join(held(asked_now, now), ["first", "second"], "left_anti")
            asked = asked.unionByName(asked_now)
        pairs = self._folder.write(pairs, "pairs")
        self._count("pairs", pairs.count(), f"of them confirmed, in {rounds} rounds")
        return pairs, gone

    def _dropped(self, same: DataFrame, name: str) -> DataFrame:
        """Return what is dropped for pairs, and what earlier runs dropped."""
        old = self._earlier.texts().where(f"verdict = '{NEAR_DUPLICATE}'").select("id")
        open_pairs = same.join(old.selectExpr("id AS first"), "first", "left_anti")
        if same.count() <= self._task.few:
            gone = dropped_by_driver(self._spark, open_pairs)
        else:
            gone = self._keep(dropped(open_pairs, self._roots(same, f"{name}-roots")), name)
        gone = gone.unionByName(old)
        return held(gone, gone.count())

    def _roots(self, same: DataFrame, name: str) -> DataFrame:
        merged = contracted(same, self._earlier.clusters())
        roots, rounds = components(self._spark, merged, self._keep, few=self._task.few)
        self._counts["rounds"] = rounds
        return self._keep(roots, name)

    def _judge(self, documents: DataFrame, pairs: DataFrame, gone: DataFrame) -> _Judged:
        same, others = pairs.where("NOT is_other"), pairs.where("is_other")
        of_gone = documents.join(gone.selectExpr("id AS text_id"), "text_id", "left_semi")
        every = same.unionByName(self._earlier.pairs().where("NOT is_other"))
        found = originals(every, gone, of_gone.select("id", "text_id"))
        resembling = resembled(others, gone)
        told = verdicts(documents, found, resembling, self._task.parameters)
        told = self._keep(told, "verdicts")
        return _Judged(documents, pairs, self._roots(same, "roots"), told)

    def _write(self, read: DataFrame, judged: _Judged) -> None:
        write = self._folder.write
        told = judged.verdicts
        dropped_columns = ("signature", "text", "left_out", "count")
        documents = write(read.drop(*dropped_columns).join(told, "id"), "documents")
        for row in documents.groupBy("verdict").count().orderBy("verdict").collect():
            self._count(row["verdict"], row["count"], row["verdict"])
        signed = read.select("id", "signature").where("signature IS NOT NULL")
        write(signed, "signatures")
        count = self._counts["documents"]
        said = told.where(is_kept()).select("id", *OF_VERDICT)
        kept = read.join(held(said, count, columns=5), "id").select(*KEPT_COLUMNS)
        self._count("kept", write(kept, "kept").count(), "kept")
        near = told.where(f"verdict = '{NEAR_DUPLICATE}' AND id = text_id").select("id")
        write(read.select("id", "text", "title").join(held(near, count), "id"), "near_texts")
        found = cluster_rows(judged.documents, judged.roots, self._earlier.clusters())
        found = write(found, "clusters")
        count = found.where("id = representative").count()
        self._count("clusters", count, "clusters of two and more")

    def _keep(self, rows: DataFrame, name: str) -> DataFrame:
        return self._folder.write(rows, f"{_WORK}/{name}")

    def _count(self, name: str, count: int, words: str) -> None:
        self._counts[name] = count
        self._say(f"{count:,} {words}, after {time.monotonic() - self._began:.1f} s")
