"""Read the sources of the commands of the lab, and the options for parameters to try."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.console.command_line import USAGE_ERROR, crawl_folder, refuse_urls
from crawler.console.escaping import say
from crawler.console.options import CommandError, among, dashed, flag, option
from neardup.errors import ParameterError
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

    from crawler.lab.judgement import Choice
    from neardup import Features, Parameters

Number = TypeVar("Number", int, float)

_SOURCES = (
    "a crawl directory, also of a crawl that is running, or what crawl-once replay takes: a .jsonl "
    "file, WARC files or a folder of HTML files"
)
_FARTHEST = 8

_STEPS = 20
"""The number of equal steps from similarity 0 to 1."""

_ROUNDING = 1e-9
"""The largest error of a difference of two similarities, so that a last step is not lost."""


def paths_of(args: Sequence[str]) -> list[Path]:
    """Return the sources that a command is given.

    Raises:
        CommandError: Nothing is named, or a URL, or something twice.
    """
    if not args:
        raise CommandError(f"nothing to look at is named: give {_SOURCES}")
    refuse_urls(args)
    paths = [crawl_folder(Path(word)) for word in args]
    for word, path in zip(args, paths, strict=True):
        if not path.exists():
            raise CommandError(f"{word}: no such file or directory")
    known = {path.resolve() for path in paths}
    if len(known) < len(paths):
        raise CommandError("the same source is named twice")
    return paths


_REPLAY_SETTINGS = ("FEEDS={}", "WARC_ENABLED=False", "METRICS_PORT=", "FLEET_ENABLED=False")
"""Settings of a temporary crawl, whatever a configuration gives each crawl."""


@contextmanager
def crawls_of(paths: Sequence[Path]) -> Iterator[Mapping[Path, Path]]:
    """Make a crawl of each path that is no crawl directory; it exists while the block lasts.

    Yields:
        The crawl directories of these paths.

    Raises:
        CommandError: There are no pages in one of them that could be read.
    """
    from crawler.lab.crawl_source import directory_of

    with ExitStack() as stack:
        made = {}
        for path in paths:
            if directory_of(path) is None:
                place = stack.enter_context(TemporaryDirectory(prefix="crawl-once-"))
                for number in (signal.SIGTERM, signal.SIGHUP):
                    if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one
                        signal.signal(number, _leave)  # so that the directory goes
                made[path] = _replayed(path, Path(place) / "crawl")
        yield made


def _leave(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


def _replayed(path: Path, folder: Path) -> Path:
    from crawler.spiders.file_pages import page_files
    from crawler.storage.database import FILE_NAME
    from neardup.installing import start_python

    try:
        is_of_lines = bool(page_files(str(path))) and path.is_file()
    except ValueError as error:
        raise CommandError(f"{str(error).removeprefix('-a warc: ')}; no crawl either") from None
    say(f"{path}: no crawl directory, so that a temporary crawl is made of it", to_stderr=True)
    settings = (*_REPLAY_SETTINGS, f"PROGRESS_ENABLED={sys.stderr.isatty()}")
    options = [word for setting in settings for word in ("-s", setting)]
    with start_python(
        ["-m", "crawler.api.crawl_child", "replay", str(path), str(folder), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches it by this process alone
    ) as process:
        try:
            status = process.wait()
        except BaseException:
            process.kill()
            raise
    # Of a damaged archive the rest is of use, a file of lines is to be mended.
    if status == USAGE_ERROR or (status and is_of_lines) or not (folder / FILE_NAME).exists():
        raise CommandError(f"{path}: no crawl could be made of it, see above")
    _tell_texts(path, folder)
    return folder


def _tell_texts(path: Path, folder: Path) -> None:
    """Say how many pages of a temporary crawl have a text, and what the others are."""
    from crawler.maintenance.tally import make_tally
    from crawler.pages.verdicts import OF_TEXTS
    from crawler.storage.database import open_for_reading

    with closing(open_for_reading(folder)) as connection:
        verdicts = make_tally(connection, visit=1).verdicts
    left_out = [
        f"{count:,} {verdict}"
        for verdict, count in verdicts.items()
        if count and verdict not in OF_TEXTS
    ]
    without = f", left out: {', '.join(left_out)}" if left_out else ""
    count = sum(verdicts[verdict] for verdict in OF_TEXTS)
    say(f"{path}: {many(count, 'page')} with a text{without}", to_stderr=True)


_PARAMETERS = {
    "features": (
        "F",
        "what fingerprints are made of, such as word-3-set, word-1-log_count, character-4-count",
    ),
    "max_distance": ("BITS", "largest distance of fingerprints that match, 0 to 8 bits"),
    "min_similarity": ("S", "least Jaccard similarity that confirms, 0 to 1"),
    "min_words": ("N", "texts of fewer words are duplicates only where they are equal"),
}
_SWITCHED_OFF = {
    "compare_names": "ignore names: near texts are duplicates though title, heading or identifiers "
    "differ",
    "ignore_boilerplate": "let boilerplate count: compare what a site repeats with the rest of a "
    "text",
}


def parameter(name: str) -> Any:
    """Declare the option that changes a parameter of a crawl for a trial."""
    return option(*_PARAMETERS[name])


def switched_off(name: str) -> Any:
    """Declare the option that switches a parameter of a crawl off for a trial."""
    return flag(_SWITCHED_OFF[name])


def method_option() -> Any:
    """Declare the option that says how pairs are found."""
    usual, other = _METHODS
    meaning = f"how pairs are found: {usual}, {other} (default {usual})"
    return option("M", meaning, usual, read=among(lambda: _METHODS, "method"))


_METHODS = "simhash", "exact"
"""Those of ``crawler.lab.judgement``, which takes a while to import."""

_NUMBERS: dict[str, type[int | float]] = {
    "max_distance": int,
    "min_words": int,
    "min_similarity": float,
}
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parameter_value(name: str, written: str) -> float | bool:
    """Return the value of a parameter: a number, or True or False.

    Raises:
        ParameterError: It is neither, or not what the parameter takes.
    """
    read = _NUMBERS.get(name)
    if read is None:
        if written.lower() not in _WORDS:
            raise ParameterError(f"{name} must be True or False, got {written!r}")
        return _WORDS[written.lower()]
    try:
        return read(written)
    except ValueError:
        kind = "a whole number" if read is int else "a number"
        raise ParameterError(f"{name} must be {kind}, got {written!r}") from None


def tried_parameters(opts: object, running: Parameters) -> Parameters:
    """Return the parameters of a crawl, changed by options.

    Raises:
        CommandError: A value is out of range, or no number.
    """
    given = {name: getattr(opts, name, None) for name in _NUMBERS}
    changes: dict[str, Any] = {}
    for name in _SWITCHED_OFF:
        if getattr(opts, f"no_{name}", False):
            changes[name] = False
    try:
        for name, written in given.items():
            if written is not None:
                changes[name] = parameter_value(name, written)
        if (features := getattr(opts, "features", None)) is not None:
            changes["features"] = _features(features)
        return replace(running, **changes)
    except ParameterError as error:
        name, _, rest = str(error).partition(" ")
        raise CommandError(f"{dashed(name)} {rest}") from None


def _features(written: str) -> Features:
    from neardup import Features

    try:
        return Features.parsed(written)
    except ParameterError as error:  # its weight, say, is no option of its own
        raise CommandError(f"--features {str(error).removeprefix('features ')}") from None


def tried_choice(opts: object, running: Parameters) -> Choice:
    """Return the parameters and the method that options choose.

    Raises:
        CommandError: See ``tried_parameters``.
    """
    from crawler.lab.judgement import Choice

    return Choice(tried_parameters(opts, running), getattr(opts, "method", _METHODS[0]))


def distances_of(written: str, option: str) -> list[int]:
    """Return the distances of a text like ``3``, ``0..8`` or ``3,5``.

    Raises:
        CommandError: The text has another form, or a distance is not from 0 to 8.
    """
    taken = f"{option} takes bits from 0 to {_FARTHEST}, like 3, 0..8 or 3,5, got {written!r}"
    return _values(written, int, option, taken, most=_FARTHEST)


def similarities_of(written: str, option: str) -> list[float]:
    """Return the similarities of a text like ``0.8``, ``0.5..1`` or ``0.7,0.8``.

    A range goes in steps of a twentieth.

    Raises:
        CommandError: The text has another form, or a similarity is not from 0 to 1.
    """
    taken = f"{option} takes similarities from 0 to 1, like 0.8, 0.5..1 or 0.7,0.8, got {written!r}"
    return _values(written, float, option, taken, most=1, steps=_STEPS)


def _values(
    written: str,
    kind: type[Number],
    option: str,
    taken: str,
    *,
    most: int,
    steps: int = 1,
) -> list[Number]:
    """Return the values of numbers and of ranges like ``3..5``, in equal steps from 0 to 1."""
    found: set[Number] = set()
    for part in written.split(","):
        low, dots, high = part.partition("..")
        try:
            first, last = kind(low), kind(high if dots else low)
        except ValueError:
            raise CommandError(taken) from None
        if first > last:
            low, high = low.strip(), high.strip()
            raise CommandError(
                f"{option} {low}..{high}: the smaller one comes first: {high}..{low}"
            )
        if not 0 <= first <= last <= most:  # nor nan
            raise CommandError(taken)
        count = int((last - first) * steps + _ROUNDING)
        found.update(kind(round(first + step / steps, 6)) for step in range(count + 1))
    return sorted(found)
