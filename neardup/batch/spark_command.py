"""Run the command from arguments to a status; errors of the user end in one line."""

import logging
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from types import FrameType
from typing import Any

from neardup.batch.input_files import FORMATS, find_files
from neardup.batch.output_tables import new_folder
from neardup.batch.parsing import Fields
from neardup.batch.run import AUTO, BANDS, JOINS, BatchRun, Task
from neardup.batch.spark_session import check_installed, session
from neardup.command_line.arguments import add_parameters, parameters_of, parser_of
from neardup.command_line.errors import InputError
from neardup.errors import NearDupError

_BAD_INPUT = 2
_INTERRUPTED = 128 + signal.SIGINT
_TERMINATED = 128 + signal.SIGTERM
_PROGRAM = "python -m neardup.spark"

_DESCRIPTION = """\
Find the near-duplicates of a corpus, on Spark, and write as parquet: documents with fingerprints
and verdicts, signatures, verified pairs, clusters, and the kept pages with their texts. INPUT is a
file, a folder, a pattern or a list of files (.paths.gz) of WARC or WET, jsonl or parquet. Texts are
judged in the order of the files, each against those kept before it."""

_MORE = """\
OUTPUT is written beside its place and moved there when it is whole. On one machine texts and
shuffled rows lie in temporary folders (SPARK_LOCAL_DIRS says where)."""


def main(arguments: Sequence[str]) -> int:
    """Run a corpus through.

    Returns:
        0; 2 for bad options and bad input, and where Spark gave up; 130 after Ctrl-C.
    """
    signal.signal(signal.SIGTERM, _leave)
    # The gateway to the JVM logs what was interrupted in it, with its trace.
    logging.disable(logging.CRITICAL)
    try:
        _run(_options(arguments))
    except (InputError, NearDupError) as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return _complain("interrupted; nothing is left of it", _INTERRUPTED)
    return 0


def _run(options: Namespace) -> None:
    parameters = parameters_of(options)
    if options.join == BANDS and not parameters.verify:
        raise InputError(
            "--join bands finds similar texts, and --no-verify asks for none; use blocks"
        )
    check_installed()
    files = find_files(options.input, options.format, options.prefix)
    names = Fields(options.text_field, options.id_field, options.title_field, options.date_field)
    task = Task(options.input, files, parameters, names, options.against, options.join)
    with (
        session(options.master, options.memory) as spark,
        _reported(),
        new_folder(spark, options.output, overwrite=options.overwrite) as folder,
    ):
        counts = BatchRun(spark, task, folder, _say)().counts
    _say(f"{options.output}: {counts['kept']:,} of {counts['documents']:,} kept")


def _reported() -> Any:
    from neardup.batch.spark_session import reported  # noqa: PLC0415  (needs PySpark)

    return reported()


def _options(arguments: Sequence[str]) -> Namespace:
    parser = parser_of(_PROGRAM, _DESCRIPTION, _MORE)
    add = parser.add_argument
    add("input", metavar="INPUT", help="file, folder, pattern or list of files")
    add("output", metavar="OUTPUT", help="folder, new or with --overwrite")
    add("--against", metavar="OLD", help="an earlier OUTPUT: compare with what it holds, too")
    add("--overwrite", action="store_true", help="replace what an earlier run wrote to OUTPUT")
    add("--format", choices=FORMATS, help="where the endings do not say it")
    add("--prefix", default="", metavar="P", help="of paths in a list, such as s3://commoncrawl/")
    for name, default in Fields()._asdict().items():
        option = "id" if name == "name" else name
        add(f"--{option}-field", default=default, metavar="NAME", help=f"({default})")
    add("--join", choices=JOINS, default=AUTO, help=f"by which keys texts meet ({AUTO})")
    add("--master", metavar="URL", help="of the cluster (spark-submit's, else local[*])")
    add("--memory", metavar="SIZE", help="of the JVM, such as 4g (a quarter of the machine's)")
    add_parameters(parser, with_distance=True)
    return parser.parsed(arguments)


def _complain(message: str, status: int = _BAD_INPUT) -> int:
    print(f"neardup.spark: {' '.join(message.split())}", file=sys.stderr)
    return status


def _say(words: str) -> None:
    print(f"neardup.spark: {words}", file=sys.stderr, flush=True)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(_TERMINATED)
