"""Near-duplicates of a corpus on Spark: ``python -m neardup.spark INPUT OUTPUT``, spark-submit too.

    python -m neardup.spark crawl.warc.gz OUT            # on all cores of this machine
    spark-submit --master yarn neardup/spark.py s3://commoncrawl/... hdfs:///OUT

Written are, as parquet: ``documents`` (what each text is made of, and its verdict), ``signatures``,
``pairs``, ``clusters``, ``kept``, ``near_texts``, ``left_out`` and ``about`` (``docs/formats.md``).
"""

import logging
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # spark-submit puts this file's own folder first, whose modules are no top-level ones.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from neardup.batch.corpus_task import input_options_of
from neardup.batch.input_files import find_files, passed_over
from neardup.batch.output_tables import new_folder
from neardup.batch.rows import DAMAGED
from neardup.batch.spark_session import check_installed, reported, session
from neardup.command_line.arguments import Parser, add_input, add_parameters, parameters_of
from neardup.command_line.main import status_of
from neardup.errors import BadInputError
from neardup.plurals import many

_PROGRAM = "python -m neardup.spark"

_DESCRIPTION = """\
Find the near-duplicates of a corpus, on Spark, and write as parquet: documents with fingerprints
and verdicts, signatures, verified pairs, clusters, and the kept pages with their texts. INPUT is a
file, a folder, a pattern or a list of files (.paths.gz) of WARC or WET, jsonl or parquet. Texts are
judged in the order of the files, each against those kept before it."""

_MORE = """\
OUTPUT/about names the folder of the tables, and is written when these are whole. On one machine
texts and shuffled rows lie in temporary folders (SPARK_LOCAL_DIRS says where)."""


def main(arguments: Sequence[str]) -> int:
    """Run a corpus through, and return the status of ``status_of``; 2 also where Spark gave up."""
    # The gateway to the JVM logs what was interrupted in it, with its trace.
    logging.disable(logging.CRITICAL)
    interrupted = "interrupted; nothing is left of it"
    return status_of("neardup.spark", lambda: _run(_options(arguments)), interrupted=interrupted)


def _run(options: Namespace) -> None:
    parameters = parameters_of(options)
    check_installed()
    from neardup.batch.run import BatchRun, Task  # noqa: PLC0415  (needs PySpark)

    others: list[str] = []
    files = find_files(options.input, options.format, options.prefix, others.append)
    if others:
        _say(passed_over(others))
    task = Task(options.input, files, parameters, input_options_of(options), options.against)
    with (
        session(options.master, options.memory) as spark,
        reported(),
        new_folder(spark, options.output, overwrite=options.overwrite) as folder,
    ):
        counts = BatchRun(spark, task, folder, _say)().counts
        kept = f"{folder.path}/kept"
        others = folder.other_runs()
    _say(f"{kept}: {counts['kept']:,} of {counts['documents']:,} kept")
    if others:
        _say(
            f"{', '.join(others)} in {options.output}: under way or killed; remove what is not used"
        )
    if counts[DAMAGED]:
        raise BadInputError(
            f"{many(counts[DAMAGED], 'file or record', 'files or records')} could not be read; the "
            "table left_out says why"
        )


def _options(arguments: Sequence[str]) -> Namespace:
    parser = Parser(_PROGRAM, _DESCRIPTION, _MORE)
    add = parser.add_argument
    add("input", metavar="INPUT", help="file, folder, pattern or list of files")
    add("output", metavar="OUTPUT", help="folder, new or with --overwrite")
    add("--against", metavar="OLD", help="an earlier OUTPUT: compare with what it holds, too")
    add("--overwrite", action="store_true", help="replace what an earlier run wrote to OUTPUT")
    add_input(parser)
    add("--master", metavar="URL", help="of the cluster (spark-submit's, else local[*])")
    add("--memory", metavar="SIZE", help="of the JVM, such as 4g (a quarter of the machine's)")
    add_parameters(parser, with_distance=True)
    return parser.parsed(arguments)


def _say(words: str) -> None:
    print(f"neardup.spark: {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
