"""A whole run: from files to tables."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from neardup.batch.analysing import POSITION_BITS, analysed
from neardup.batch.components import FEW, cluster_rows, components, contracted
from neardup.batch.corpus_task import CorpusTask, no_text
from neardup.batch.deciding import (
    dropped,
    dropped_by_driver,
    is_kept,
    originals,
    representatives,
    resembled,
    verdicts,
)
from neardup.batch.input_files import check_count, parts_of
from neardup.batch.joining import FIRST_ROUND, LATER_ROUND, candidates, with_distance
from neardup.batch.output_tables import KEPT_COLUMNS, OF_VERDICT, About, Earlier, Folder
from neardup.batch.rows import DAMAGED
from neardup.batch.schemes import scheme_of
from neardup.batch.sketches import WORDS
from neardup.batch.spark_session import held
from neardup.batch.verifying import verified
from neardup.errors import InputError
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.verdict import NEAR_DUPLICATE

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
            raise no_text(task.input, found[0][0] if found else None)
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
                f"{told['cut']:,} texts are not compared with all of their keys; see docs/scale.md"
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
