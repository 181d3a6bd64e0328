"""The options of every command, and the streams that commands read and write."""

import difflib
import json
import re
import shutil
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NoReturn

from neardup.batch.input_files import FORMATS, JSON_LINES, PACKINGS, ROW_FORMATS, USUAL, Fields
from neardup.errors import InputError
from neardup.features.features import Features
from neardup.files.durable import new_file
from neardup.parameters import DEFAULTS, Parameters

STANDARD_INPUT = "-"


def read_bytes(path: str) -> bytes:
    """Return what a file holds, or for ``-`` standard input."""
    return _standard_input().read() if path == STANDARD_INPUT else Path(path).read_bytes()


@contextmanager
def named_input(path: str, format_name: str | None) -> Iterator[str]:
    """Give the path of an input; for ``-`` that of a temporary copy of standard input."""
    if path != STANDARD_INPUT:
        yield path
        return
    source = _standard_input()
    start = source.peek(8)
    packing = next((ending for ending, magic in PACKINGS.items() if start.startswith(magic)), "")
    with TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, f"stdin.{format_name or JSON_LINES}{packing}")
        with new_file(copy) as file:
            shutil.copyfileobj(source, file)
        yield str(copy)


def _standard_input() -> BufferedReader:
    # Python has None in its place where a shell closed it.
    buffer = getattr(sys.stdin, "buffer", None)
    if not isinstance(buffer, BufferedReader):
        raise InputError("standard input is closed")
    return buffer


def print_json(value: Any) -> None:
    """Print a value as a line of JSON to standard output, in UTF-8."""
    # Half of a surrogate pair has no UTF-8; backslashreplace happens to write JSON's own escape.
    print_text(json.dumps(value, ensure_ascii=False))


def print_text(text: str) -> None:
    """Print to standard output in UTF-8, whatever the text holds."""
    # Python has None in its place where a shell closed it.
    buffer: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        raise InputError("standard output is closed")
    buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")


_PROGRAM = "python -m neardup"

FIND = """\
Find the near-duplicates among texts, which are judged in their order, each against those kept
before it. INPUT is a file, a folder, a pattern or a list of files (.paths.gz) of WARC or WET,
jsonl, lists of JSON, csv, parquet or arrow, which is read on all cores. With a folder OUT parquet
tables are written: documents with their verdicts, signatures, pairs, clusters, and the kept texts.
A run that was interrupted goes on when it is started again. Without OUT each text that others
repeat becomes a line:
{"kept": ID, "duplicates": [{"id", "verdict", "tier", "distance", "similarity"}]}.
A text that is kept for its other name comes with the kept one that it "resembles"."""

_FIND_MORE = """\
other commands:
  python -m neardup compare A B             what two texts share, and where they differ
  python -m neardup evaluate TEXTS PAIRS    how good each distance is on labelled texts
A file with such a name is ./compare or ./evaluate. While it works, kept texts lie beside OUT, or
without OUT in a temporary folder (TMPDIR says where). A kept text takes up to 420 bytes of memory.
The status is 1 where not all of the input could be read, and 2 where nothing was done."""

_COMPARE = "Print what two texts share, the verdict on the second, and where they differ."

_EVALUATE = """\
Print what happens to labelled texts, judged in the order of the file: texts dropped, of them
wrongly (no kept text resembles it), texts missed (kept although a kept one resembles it), precision
and recall. A line for each distance from 0 to 8 bits where it decides alone, over all pairs. The
last line is what a deduplicator does, over its verdicts: it finds candidates by bands of their
signatures, confirms them by --min-similarity, and keeps those that differ in name ("names")."""


class Parser(ArgumentParser):
    """Raises where argparse would print its usage and leave."""

    def __init__(self, program: str, description: str, more: str = "") -> None:
        super().__init__(
            prog=program,
            description=description,
            epilog=more,
            formatter_class=RawDescriptionHelpFormatter,
            # An abbreviation means something else as soon as there is a new option.
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; {self.prog} --help lists the options")

    def parsed(self, arguments: Sequence[str]) -> Namespace:
        """Return the options, or raise an InputError, which proposes what a typo may mean."""
        options, rest = self.parse_known_args(arguments)
        if rest:
            # The option, where there is one: the words behind it may be its value.
            self.error(self._about(next((word for word in rest if word.startswith("-")), rest[0])))
        return options

    def _about(self, word: str) -> str:
        known = re.findall(r"--[a-z-]+", self.format_usage())
        # Behind "--" an option is none.
        if not word.startswith("-") or word in known:
            return f'one argument too many: "{word}"'
        close = difflib.get_close_matches(word.partition("=")[0], known, n=1)
        return f"unknown option {word}" + (f", is it {close[0]}?" if close else "")


def find_options(arguments: Sequence[str]) -> Namespace:
    parser = Parser(_PROGRAM, FIND, _FIND_MORE)
    add_find_options(parser)
    options = parser.parsed(arguments)
    check_find_options(options)
    return options


def add_find_options(parser: ArgumentParser) -> None:
    """Add the options for finding near-duplicates, which ``crawl-once corpus`` has too."""
    parser.add_argument("file", metavar="INPUT", help="what to read; - is standard input")
    parser.add_argument("folder", metavar="OUT", nargs="?", help="a folder for tables")
    parser.add_argument("--all", action="store_true", help="also texts that nothing repeats")
    add_input(parser)
    add = parser.add_argument
    add("--against", metavar="OLD", help="an earlier OUT: compare with what it keeps, too")
    meaning = (
        "write the rows of the input that are kept there, whole: jsonl, csv or parquet as it is"
    )
    add("--filter", metavar="FILE", help=meaning)
    add("--overwrite", action="store_true", help="replace what an earlier run wrote to OUT")
    add("--processes", type=int, metavar="N", help="that read and analyse (one for each core)")
    meaning = "of the process that judges, such as 8G (three quarters of the machine's)"
    add("--memory", metavar="SIZE", help=meaning)
    add_parameters(parser, with_distance=True)


def check_find_options(options: Namespace) -> None:
    """Raise an InputError where options do not go together."""
    for name, wanted in (("all", False), ("against", True), ("overwrite", True)):
        is_filtered = name == "overwrite" and options.filter is not None
        if getattr(options, name) and (options.folder is not None) != wanted and not is_filtered:
            raise InputError(f"--{name} {'needs' if wanted else 'is of no use with'} OUT")
    if options.processes is not None and options.processes < 1:
        raise InputError(f"--processes must be at least 1, got {options.processes}")


def add_input(parser: ArgumentParser) -> None:
    """Add the options that say what is read of a corpus, and how."""
    add = parser.add_argument
    add("--format", choices=FORMATS, help="where the endings do not say it")
    add("--prefix", default="", metavar="P", help="of paths in a list, such as s3://commoncrawl/")
    for name, usual in zip(Fields._fields, USUAL, strict=True):
        option = "id" if name == "name" else name
        meaning = f"field of rows ({', or else '.join(usual)}); a dot leads into an object"
        add(f"--{option}-field", metavar="NAME", help=meaning)
    add(
        "--language",
        metavar="CODES",
        help="only documents that declare one of these languages, such as en,de (en is en-GB too), "
        "or none: HTML as its lang says, WET as its records say, rows by --language-field; with "
        "the extra languages the text tells it where they declare none",
    )
    add(
        "--extractor",
        metavar="NAME",
        help="what finds the main text of HTML in WARC files: blocks (as a crawl judges it, and "
        "cheaper) or trafilatura (blocks)",
    )


def compare_options(arguments: Sequence[str]) -> Namespace:
    parser = Parser(f"{_PROGRAM} compare", _COMPARE)
    parser.add_argument("first", metavar="A", help="a file of text, - is stdin")
    parser.add_argument("second", metavar="B", help="another one")
    parser.add_argument("--text", action="store_true", help="A and B are the texts themselves")
    parser.add_argument(
        "--context", type=int, default=10, metavar="N", help="equal words around changes (10)"
    )
    add_parameters(parser, with_distance=True)
    options = parser.parsed(arguments)
    if options.context < 0:
        parser.error(f"--context must be at least 0, got {options.context}")
    return options


def evaluate_options(arguments: Sequence[str]) -> Namespace:
    parser = Parser(f"{_PROGRAM} evaluate", _EVALUATE)
    add = parser.add_argument
    add("texts", metavar="TEXTS", help="jsonl, csv, parquet or arrow; - is standard input")
    add("pairs", metavar="PAIRS", help="csv with columns a, b and the measure")
    add("--format", choices=ROW_FORMATS, help="where the ending does not say it")
    add("--text-field", metavar="NAME", help="field of the text (text)")
    add("--id-field", default="g", metavar="NAME", help="field of the id (g)")
    meaning = "field of the title; near texts of other titles are kept (first lines tell the names)"
    add("--title-field", metavar="NAME", help=meaning)
    add("--measure", default="j5", metavar="NAME", help="column of PAIRS (j5)")
    add_parameters(parser, with_distance=False)
    return parser.parsed(arguments)


def parameters_of(options: Namespace) -> Parameters:
    """Return the parameters of a command, or raise where options contradict each other."""
    given = vars(options)
    verify = not given.get("no_verify", False)
    if not verify and options.min_similarity is not None:
        raise InputError("--no-verify and --min-similarity contradict each other; leave one out")
    similarity = options.min_similarity
    return Parameters(
        features=None if options.features is None else Features.parsed(options.features),
        max_distance=given.get("max_distance", DEFAULTS.max_distance),
        min_words=options.min_words,
        verify=verify,
        min_similarity=DEFAULTS.min_similarity if similarity is None else similarity,
        compare_names=not given.get("no_compare_names", False),
    )


def add_parameters(parser: ArgumentParser, *, with_distance: bool) -> None:
    """Add the options that ``parameters_of`` reads."""

    def add(name: str, kind: type, default: object, meaning: str) -> None:
        parser.add_argument(name, type=kind, default=default, metavar="N", help=meaning)

    if with_distance:
        bits = DEFAULTS.max_distance
        add("--max-distance", int, bits, f"bits between fingerprints that match, 0 to 8 ({bits})")
        meaning = "let --max-distance decide alone, without comparing texts"
        parser.add_argument("--no-verify", action="store_true", help=meaning)
    meaning = "drop near texts even where titles or first lines tell that they are other things"
    parser.add_argument("--no-compare-names", action="store_true", help=meaning)
    share = f"Jaccard that confirms a candidate, 0 to 1 ({DEFAULTS.min_similarity})"
    add("--min-similarity", float, None, share)
    words = f"shorter texts are compared by equality alone ({DEFAULTS.min_words})"
    add("--min-words", int, DEFAULTS.min_words, words)
    confirmed, alone = DEFAULTS.fingerprint_features, replace(DEFAULTS, verify=False)
    parser.add_argument(
        "--features",
        metavar="UNIT-N-WEIGHT",
        help="what fingerprints are made of: word or character, how many in a row, set, count or "
        f"log_count ({confirmed}; {alone.fingerprint_features} with --no-verify)",
    )
