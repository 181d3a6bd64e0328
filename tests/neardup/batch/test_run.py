"""A corpus judged by Spark, beside the same corpus judged one text after the other."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from neardup import Verdict, clusters, hamming, jaccard, minhash
from neardup.batch.corpus_task import ReadingChoices
from neardup.batch.input_files import MAX_FILES, File, InputOptions
from neardup.batch.output_tables import About, Folder, new_folder
from neardup.batch.run import BatchRun, Task
from neardup.corpus.corpus_tables import read_about
from neardup.errors import InputError, ParameterError
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS
from neardup.names import difference
from neardup.parameters import DEFAULTS, Parameters
from tests.neardup.batch.corpus import (
    WORDS,
    Result,
    made,
    name_in_corpus,
    online,
    read_back,
    run,
    write_lines,
)
from tests.neardup.command_line.running import neardup
from tests.neardup.texts import changed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

TEXTS = 400
SIGN = 1 << 64


class Case:
    """A corpus, what Spark made of it, and what a deduplicator says."""

    def __init__(self, result: Result, texts: list[str]) -> None:
        self.result = result
        rows = sorted(result["documents"], key=lambda row: row["id"])
        self.rows = {row["id"]: row for row in rows}
        self.texts = dict(zip(self.rows, texts, strict=True))
        self.documents, self.verdicts = online(self.texts)
        self.plans: list[str] = []

    def pairs(self) -> set[tuple[int, int, int, float, bool]]:
        """All pairs of different texts that are alike, by comparing all with all."""
        firsts: dict[bytes, int] = {}
        for number, document in self.documents.items():
            firsts.setdefault(document.digest, number)
        found = set()
        for one, other in combinations(sorted(firsts.values()), 2):
            ours, theirs = self.documents[one].fingerprint, self.documents[other].fingerprint
            if ours is None or theirs is None:
                continue
            similarity = jaccard(self.texts[one], self.texts[other])
            if similarity >= DEFAULTS.min_similarity:
                names = (name_in_corpus(self.texts[number]) for number in (one, other))
                is_other = bool(difference(*names))
                found.add((one, other, hamming(ours, theirs), similarity, is_other))
        return found


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return made(1, TEXTS)


@pytest.fixture(scope="module")
def case(spark: SparkSession, texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("whole")
    write_lines(folder / "a.jsonl", texts[:250])
    write_lines(folder / "b.jsonl", texts[250:], first=250)
    before = len(plans(spark))
    case = Case(run(spark, folder, folder / "out"), texts)
    case.plans = plans(spark)[before:]
    return case


def plans(spark: SparkSession) -> list[str]:
    """How all was done that Spark did: the tree of each plan, and below it what each node takes."""
    session: Any = spark
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    done = session._jsparkSession.sharedState().statusStore().executionsList()
    return [done.apply(number).physicalPlanDescription() for number in range(done.size())]


def shuffles_of_texts(plan: str) -> int:
    """How often a plan shuffles rows with texts."""
    _, _, tree = plan.partition("== Final Plan ==")
    nodes = re.findall(r" Exchange \((\d+)\)", tree.partition("== Initial Plan ==")[0])
    taken = (re.search(rf"^\({node}\) Exchange\nInput .*$", plan, re.MULTILINE) for node in nodes)
    return sum("text#" in found[0] for found in taken if found)


def test_texts_are_shuffled_once(case: Case) -> None:
    """To where they are compared; what is written of them stays where it was read."""
    assert sum(map(shuffles_of_texts, case.plans)) == 1


def test_fingerprints_and_digests_are_those_of_online(case: Case) -> None:
    for number, document in case.documents.items():
        row = case.rows[number]
        fingerprint = None if row["fingerprint"] is None else row["fingerprint"] % SIGN
        found = (row["words"], row["digest"], fingerprint)
        assert found == (document.words, document.digest, document.fingerprint)


def test_signatures_are_those_of_the_verified_shingles(case: Case) -> None:
    signatures = {row["id"]: row["signature"] for row in case.result["signatures"]}
    worded = {number for number, document in case.documents.items() if document.words}
    assert signatures.keys() == worded
    for number in list(worded)[:20]:
        wanted = minhash(
            case.texts[number],
            permutations=CANDIDATE_PERMUTATIONS,
            shingle_size=DEFAULTS.verify_shingle_size,
        )
        assert signatures[number] == wanted.tobytes()


def test_pairs_are_all_that_are_alike(case: Case) -> None:
    names = ("first", "second", "distance", "similarity", "is_other")
    found = [tuple(row[name] for name in names) for row in case.result["pairs"]]
    assert len(found) == len(set(found)) > 100
    assert set(found) == case.pairs()


def test_verdicts_are_those_of_online(case: Case) -> None:
    kinds = set()
    for number, verdict in case.verdicts.items():
        row = case.rows[number]
        kinds.add(verdict.kind)
        found = Verdict(
            row["verdict"],
            row["duplicate_of"],
            row["distance"],
            row["similarity"],
            row["tier"],
            resembles=row["resembles"],
        )
        assert found == verdict
    assert kinds == {"new", "too_short", "text_duplicate", "near_duplicate", "same_template"}


def test_what_is_dropped_was_verified_against_what_is_kept(case: Case) -> None:
    kept = {row["id"]: row["text"] for row in case.result["kept"]}
    dropped = 0
    for number, row in case.rows.items():
        if number in kept or row["digest"] == EMPTY_DIGEST:
            continue
        dropped += 1
        assert row["duplicate_of"] in kept
        text = case.texts[number]
        assert jaccard(text, kept[row["duplicate_of"]]) >= DEFAULTS.min_similarity
    assert dropped > 100


def test_kept_pages_are_whole(case: Case) -> None:
    wanted = {
        number
        for number, verdict in case.verdicts.items()
        if not verdict.is_duplicate and case.documents[number].digest != EMPTY_DIGEST
    }
    rows = {row["id"]: row for row in case.result["kept"]}
    assert rows.keys() == wanted
    for number, row in rows.items():
        assert row["text"] == case.texts[number]
        assert row["name"] == case.rows[number]["name"]


def test_clusters_are_what_pairs_and_copies_connect(case: Case) -> None:
    edges = [(one, other) for one, other, *_, is_other in case.pairs() if not is_other]
    firsts: dict[bytes, int] = {}
    for number, document in case.documents.items():
        if document.digest != EMPTY_DIGEST:
            edges.append((firsts.setdefault(document.digest, number), number))
    wanted = {
        member: cluster.representative
        for cluster in clusters(edges)
        for member in cluster.members
        if len(cluster.members) > 1
    }
    found = {row["id"]: row["representative"] for row in case.result["clusters"]}
    assert len(case.result["clusters"]) == len(found)
    assert found == wanted


def test_going_on_from_an_earlier_run_is_as_good_as_one_run(
    spark: SparkSession, case: Case, texts: list[str], tmp_path: Path
) -> None:
    write_lines(tmp_path / "a.jsonl", texts[:250])
    write_lines(tmp_path / "b.jsonl", texts[250:], first=250)
    first = run(spark, tmp_path / "a.jsonl", tmp_path / "one")
    second = run(spark, tmp_path / "b.jsonl", tmp_path / "two", against=str(tmp_path / "one"))
    for table, names in {
        "documents": ("id", "verdict", "duplicate_of", "resembles", "distance", "similarity"),
        "pairs": ("first", "second", "distance", "similarity", "is_other"),
        "kept": ("id", "text"),
        "near_texts": ("id", "text", "title"),
    }.items():
        rows = [tuple(row[name] for name in names) for row in first[table] + second[table]]
        wanted = [tuple(row[name] for name in names) for row in case.result[table]]
        assert sorted(rows, key=str) == sorted(wanted, key=str)
    clustered = {row["id"]: row["representative"] for row in first["clusters"]}
    clustered |= {row["id"]: row["representative"] for row in second["clusters"]}
    whole = {row["id"]: row["representative"] for row in case.result["clusters"]}
    assert clustered == whole
    assert min(row["second"] for row in second["pairs"]) >= 1 << 41
    alone = tmp_path / "alone"
    assert neardup(tmp_path / "b.jsonl", alone, "--against", tmp_path / "one").status == 0
    on_one_machine = read_back(read_about(alone), alone)
    for table, name in (("documents", "verdict"), ("documents", "duplicate_of"), ("kept", "text")):
        rows, wanted = [
            sorted((row["id"], row[name]) for row in found[table])
            for found in (on_one_machine, second)
        ]
        assert rows == wanted
    with pytest.raises(InputError, match=r"min_words 50, now it is 20; use the same"):
        run(
            spark,
            tmp_path / "b.jsonl",
            tmp_path / "three",
            against=str(tmp_path / "one"),
            parameters=Parameters(min_words=20),
        )
    assert not (tmp_path / "three").exists()


@pytest.mark.parametrize("compare_names", [True, False])
def test_distance_alone_decides_by_blocks(
    spark: SparkSession, texts: list[str], tmp_path: Path, *, compare_names: bool
) -> None:
    parameters = Parameters(max_distance=8, verify=False, compare_names=compare_names)
    write_lines(tmp_path / "a.jsonl", texts[:150])
    result = run(spark, tmp_path / "a.jsonl", tmp_path / "out", parameters=parameters)
    rows = {row["id"]: row for row in result["documents"]}
    _, verdicts = online(dict(zip(sorted(rows), texts[:150], strict=True)), parameters)
    for number, verdict in verdicts.items():
        row = rows[number]
        assert (row["verdict"], row["duplicate_of"], row["resembles"], row["similarity"]) == (
            verdict.kind,
            verdict.duplicate_of,
            verdict.resembles,
            verdict.similarity,
        )
    kinds = {verdict.kind for verdict in verdicts.values()}
    assert "near_duplicate" in kinds
    assert ("same_template" in kinds) == compare_names


def on_templates() -> list[str]:
    """Near pages on one template, half-alike ones on another, and copies of some of these."""
    source = random.Random(5)
    template, other = (source.choices(WORDS, k=200) for _ in range(2))
    near = [changed(" ".join(template), seed, 1) for seed in range(120)]
    half = [" ".join(other + source.choices(WORDS, k=100)) for _ in range(120)]
    copies = [changed(text, seed, 1) for seed, text in enumerate(source.sample(half, 12))]
    return [*source.sample(near + half, 240), *copies]


def test_large_groups_are_settled_by_a_few_candidates_of_each_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    texts = on_templates()
    write_lines(tmp_path / "a.jsonl", texts)
    case = Case(run(spark, tmp_path / "a.jsonl", tmp_path / "out", few=0), texts)
    kinds = {"new", "same_template"}
    for number, verdict in case.verdicts.items():
        row = case.rows[number]
        # A page that another name tells apart resembles one of many.
        assert row["verdict"] == verdict.kind or {row["verdict"], verdict.kind} <= kinds
        original = row["duplicate_of"]
        if original is not None:
            assert not case.verdicts[original].is_duplicate
            assert jaccard(case.texts[number], case.texts[original]) >= DEFAULTS.min_similarity
    pairs = [(row["first"], row["second"]) for row in case.result["pairs"]]
    assert len(pairs) == len(set(pairs)) < len(case.pairs()) / 4
    assert case.result.about.counts["cut"] == 0


def test_what_a_run_goes_on_from_is_never_replaced_by_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It holds what the new one does not, and is whole."""
    about = About("one", "x", DEFAULTS, 0, MAX_FILES - 1, (), (), {})
    with new_folder(spark, str(tmp_path / "one"), overwrite=False) as folder:
        folder.write_about(about)
    with new_folder(spark, str(tmp_path / "two"), overwrite=False) as folder:
        folder.write_about(
            replace(about, run="two", against=(str(tmp_path / "one"),), runs=("one",))
        )
    german = Task("x", [], against=str(tmp_path / "two"), options=InputOptions(languages=("de",)))
    with (
        pytest.raises(InputError, match="made with --language any, now it is de"),
        new_folder(spark, str(tmp_path / "other"), overwrite=False) as folder,
    ):
        BatchRun(spark, german, folder, lambda _: None)
    for place in ("one", "two"):
        with (
            pytest.raises(InputError, match="is gone on from"),
            new_folder(spark, str(tmp_path / place), overwrite=True) as folder,
        ):
            BatchRun(spark, Task("x", [], against=str(tmp_path / "two")), folder, lambda _: None)
        assert Folder(spark, str(tmp_path / place)).read_about().run == place
    many = [File("x.jsonl", "jsonl", 1)] * 2
    with (
        pytest.raises(InputError, match="files in all runs"),
        new_folder(spark, str(tmp_path / "three"), overwrite=False) as folder,
    ):
        BatchRun(spark, Task("x", many, against=str(tmp_path / "two")), folder, lambda _: None)


def write_while_another_writes(folder: Folder, place: Path) -> None:
    folder.write_about(About("one", "x", DEFAULTS, 0, 1, (), (), {}))
    (place / "letter").write_text("mine")


def test_a_place_that_is_taken_is_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter").write_text("mine")
    with (
        pytest.raises(InputError, match="holds something else"),
        new_folder(spark, str(tmp_path / "taken"), overwrite=True),
    ):
        pass
    assert (tmp_path / "taken" / "letter").read_text() == "mine"
    late = tmp_path / "late"
    with (
        pytest.raises(InputError, match=r"something else.*the result is in .*late/run-"),
        new_folder(spark, str(late), overwrite=True) as folder,
    ):
        write_while_another_writes(folder, late)
    assert (late / "letter").read_text() == "mine"
    assert folder.read_about().run == "one"
    with pytest.raises(InputError, match="no such folder"):
        Folder(spark, str(tmp_path / "nothing")).read_about()


def test_runs_to_one_output_do_not_touch_each_other(spark: SparkSession, tmp_path: Path) -> None:
    """The one that ends first is the output; the other one is whole in its own folder."""
    place = str(tmp_path / "out")
    about = About("first", "x", DEFAULTS, 0, 1, (), (), {})

    def write_both(*, overwrite: bool, names: tuple[str, str]) -> None:
        with new_folder(spark, place, overwrite=overwrite) as slow:
            slow.write(spark.range(3), "kept")
            with new_folder(spark, place, overwrite=overwrite) as quick:
                quick.write(spark.range(5), "kept")
                quick.write_about(replace(about, run=names[0]))
            assert quick.other_runs() == [slow.path.rpartition("/")[2]]
            slow.write_about(replace(about, run=names[1]))

    for overwrite, names in ((False, ("one", "two")), (True, ("three", "four"))):
        said = r"(exists|meanwhile).*the result is in (.*/run-[0-9a-f]+)$"
        with pytest.raises(InputError, match=said) as told:
            write_both(overwrite=overwrite, names=names)
        output = Folder(spark, place)
        assert output.read_about().run == names[0]
        assert output.read("kept").count() == 5
        other = Folder(spark, str(told.value).rpartition("the result is in ")[2])
        assert other.read_about().run == names[1]
        assert other.read("kept").count() == 3
        other.remove()
    tables = Folder(spark, place).read_about().tables
    assert sorted(Folder(spark, place).names()) == ["about", tables]


def test_what_a_killed_run_left_is_no_obstacle(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "out" / "run-killed" / "kept").mkdir(parents=True)
    with new_folder(spark, str(tmp_path / "out"), overwrite=False) as folder:
        folder.write_about(About("one", "x", DEFAULTS, 0, 1, (), (), {}))
        assert folder.other_runs() == ["run-killed"]
    assert Folder(spark, str(tmp_path / "out")).read_about().run == "one"


def test_an_output_is_whole_or_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", ["a text of a few words"])
    english = InputOptions(languages=("en",))
    before = run(spark, tmp_path / "a.jsonl", tmp_path / "out", options=english).about
    assert before.reading == ReadingChoices(None, ("en",))
    with (
        pytest.raises(InputError, match="exists; --overwrite replaces it"),
        new_folder(spark, str(tmp_path / "out"), overwrite=False),
    ):
        pass

    def break_off() -> None:
        with new_folder(spark, str(tmp_path / "out"), overwrite=True) as folder:
            folder.write(spark.range(3), "documents")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    output = Folder(spark, str(tmp_path / "out"))
    assert output.read_about().run == before.run
    # A kill must not leave the checksum of the file before beside a new one, which none could read.
    checksum = tmp_path / "out" / ".about.crc"
    assert not checksum.exists()
    written = (tmp_path / "out" / "about").read_bytes()
    stale = output._system.create(output._inside("about"), True)
    stale.write(written)
    stale.close()
    assert checksum.exists()
    with new_folder(spark, str(tmp_path / "out"), overwrite=True) as folder:
        folder.write_about(replace(before, run="another"))
    assert output.read_about().run == "another"
    assert not checksum.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "out"]


def test_nothing_to_read_is_said(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "x"}\n')
    with pytest.raises(InputError, match="there are body; choose with --text-field"):
        run(spark, tmp_path / "a.jsonl", tmp_path / "out")


def test_parts_cannot_be_dropped() -> None:
    with pytest.raises(ParameterError, match="no parts are looked for in a corpus"):
        Task("x", [], Parameters(drop_contained=True))
