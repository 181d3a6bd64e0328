"""A corpus with every relation that texts can have, and what a deduplicator says of it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup import Deduplicator, Document, Verdict, analyse
from neardup.batch.input_files import find_files
from neardup.batch.output_tables import About, Folder, new_folder
from neardup.batch.run import BatchRun, Task
from neardup.fingerprints.digest import text_digest
from neardup.names import Name, name_of
from neardup.parameters import DEFAULTS, Parameters
from tests.neardup.verdicts import without_parts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

QUICK_JAVA = {
    "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    " -Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
}
"""A JVM that lives for a minute takes half the time where it optimises and compiles nothing."""

WORDS = [f"word{number}" for number in range(2_000)]


def made(seed: int, texts: int) -> list[str]:
    """Texts that are new, copies, near, chains of near ones, short or empty, in mixed order."""
    source = random.Random(seed)
    found: list[str] = []
    while len(found) < texts:
        words = source.choices(WORDS, k=source.choice([8, 60, 200, 400]))
        found.append(" ".join(words))
        for _ in range(source.choice([0, 0, 1, 3, 8])):
            # Each differs from the one before, so that the ends of a chain need not be alike.
            if source.random() < 0.8:
                for _ in range(source.randrange(0, 1 + len(words) // 40)):
                    words[source.randrange(len(words))] = source.choice(WORDS)
            found.append(" ".join(words).upper() if source.random() < 0.2 else " ".join(words))
    found += ["", "  ", "\u200b"]
    source.shuffle(found)
    return found


def title_of(text: str) -> str:
    """The title of a text: one of three, or none; equal texts have the same."""
    return ("Red lamp", "Blue lamp", "Green lamp", "")[text_digest(text)[0] % 4]


def name_in_corpus(text: str) -> Name:
    """What a text is called."""
    return name_of(text, title=title_of(text))


def write_lines(path: Path, texts: Sequence[str], first: int = 0) -> None:
    """Write texts as JSON lines with URLs."""
    rows = [
        {"url": f"http://example.org/{first + number}", "text": text, "title": title_of(text)}
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@dataclass(frozen=True)
class Result:
    """The tables of a run, each as rows."""

    about: About
    tables: dict[str, list[dict[str, Any]]]

    def __getitem__(self, table: str) -> list[dict[str, Any]]:
        return self.tables[table]


def run(spark: SparkSession, source: Path, output: Path, **task: Any) -> Result:
    """Run files through, and read back what was written."""
    files = find_files(str(source))
    with new_folder(spark, str(output), overwrite=False) as folder:
        BatchRun(spark, Task(str(source), files, **task), folder, lambda _: None)()
    return read_back(Folder(spark, str(output)).read_about(), output)


def read_back(about: About, output: Path) -> Result:
    """The tables of a folder."""
    import pyarrow.dataset as ds

    names = ("documents", "signatures", "pairs", "clusters", "kept", "near_texts", "left_out")
    tables = {}
    for name in names:
        files = [str(file) for file in (output / about.tables / name).glob("*.parquet")]
        tables[name] = ds.dataset(files).to_table().to_pylist() if files else []
    return Result(about, tables)


def online(
    texts: dict[int, str], parameters: Parameters = DEFAULTS
) -> tuple[dict[int, Document], dict[int, Verdict]]:
    """What each text is, and the verdicts on them one after the other."""
    documents = {
        number: analyse(text, parameters, name_in_corpus(text))
        for number, text in sorted(texts.items())
    }
    with Deduplicator(parameters) as deduplicator:
        verdicts = {
            number: without_parts(deduplicator.judge_document(number, document))
            for number, document in documents.items()
        }
    return documents, verdicts
