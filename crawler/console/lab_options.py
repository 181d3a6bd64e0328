"""Options of the commands of the lab: their sources, and parameters to try."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.console.command_line import CommandError, crawl_folder, refuse_urls
from crawler.suggestions import did_you_mean
from neardup.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from crawler.lab.judgement import Choice
    from neardup import Features, Parameters

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


def add_parameter_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options that change the parameters of a crawl for a trial."""
    for name in names:
        if name in _PARAMETERS:
            metavar, meaning = _PARAMETERS[name]
            parser.add_argument(f"--{name}", metavar=metavar, help=meaning)
        else:
            parser.add_argument(f"--no-{name}", action="store_true", help=_SWITCHED_OFF[name])


def add_method_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how pairs are found."""
    from crawler.lab.judgement import METHODS, SIMHASH

    parser.add_argument(
        "--method",
        metavar="M",
        default=SIMHASH,
        help=f"how pairs are found: {', '.join(METHODS)} (default {SIMHASH})",
    )


_PARAMETERS = {
    "features": (
        "F",
        "what fingerprints are made of, such as word-3-set, word-1-log_count, character-4-count",
    ),
    "max-distance": ("BITS", "largest distance of fingerprints that match, 0 to 8 bits"),
    "min-similarity": ("S", "least Jaccard similarity that confirms, 0 to 1"),
    "min-words": ("N", "texts of fewer words are duplicates only where they are equal"),
}
_SWITCHED_OFF = {
    "compare-names": "ignore names: near texts are duplicates though title, heading or identifiers "
    "differ",
    "ignore-boilerplate": "let boilerplate count: compare what a site repeats with the rest of a "
    "text",
}
_KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "max_distance": (int, "a whole number"),
    "min_words": (int, "a whole number"),
    "min_similarity": (float, "a number"),
}


def tried_parameters(opts: argparse.Namespace, running: Parameters) -> Parameters:
    """Return the parameters of a crawl, changed by options.

    Raises:
        CommandError: A value is out of range, or no number.
    """
    changes: dict[str, Any] = {}
    for name, (read, kind) in _KINDS.items():
        written = getattr(opts, name, None)
        if written is not None:
            try:
                changes[name] = read(written)
            except ValueError:
                raise CommandError(f"--{_dashed(name)} takes {kind}, got {written!r}") from None
    for name in (option.replace("-", "_") for option in _SWITCHED_OFF):
        if getattr(opts, f"no_{name}", False):
            changes[name] = False
    try:
        if getattr(opts, "features", None) is not None:
            changes["features"] = _features(opts.features)
        return replace(running, **changes)
    except ParameterError as error:
        name, _, rest = str(error).partition(" ")
        raise CommandError(f"--{_dashed(name)} {rest}") from None


def _features(written: str) -> Features:
    from neardup import Features

    try:
        return Features.parsed(written)
    except ParameterError as error:  # its weight, say, is no option of its own
        raise CommandError(f"--features {str(error).removeprefix('features ')}") from None


def tried_choice(opts: argparse.Namespace, running: Parameters) -> Choice:
    """Return the parameters and the method that options choose.

    Raises:
        CommandError: See ``tried_parameters``; there is no such method.
    """
    from crawler.lab.judgement import METHODS, SIMHASH, Choice

    method = getattr(opts, "method", SIMHASH)
    if method not in METHODS:
        hint = did_you_mean(method, METHODS) or f"; there are {', '.join(METHODS)}"
        raise CommandError(f"--method {method}: no such method{hint}")
    return Choice(tried_parameters(opts, running), method)


def distances_of(written: str, option: str) -> list[int]:
    """Return the distances of a text like ``3``, ``0..8`` or ``3,5``.

    Raises:
        CommandError: The text has another form, or a distance is not from 0 to 8.
    """
    found: set[int] = set()
    for part in written.split(","):
        low, dots, high = part.strip().partition("..")
        ends = (low, high) if dots else (low, low)
        if not all(end.isascii() and end.isdigit() and len(end) == 1 for end in ends):
            raise _no_distances(written, option)
        if int(ends[0]) > int(ends[1]):
            raise _wrong_order(low, high, option)
        found.update(range(int(ends[0]), int(ends[1]) + 1))
    if not found or max(found) > _FARTHEST:
        raise _no_distances(written, option)
    return sorted(found)


def similarities_of(written: str, option: str) -> list[float]:
    """Return the similarities of a text like ``0.8``, ``0.5..1`` or ``0.7,0.8``.

    A range goes in steps of a twentieth.

    Raises:
        CommandError: The text has another form, or a similarity is not from 0 to 1.
    """
    found: set[float] = set()
    for part in written.split(","):
        low, dots, high = part.partition("..")
        try:
            first, last = float(low), float(high if dots else low)
        except ValueError:
            raise _no_similarities(written, option) from None
        if first > last:
            raise _wrong_order(low, high, option)
        if not 0 <= first <= last <= 1:
            raise _no_similarities(written, option)
        steps = int((last - first) * _STEPS + _ROUNDING)
        found.update(round(first + step / _STEPS, 6) for step in range(steps + 1))
    return sorted(found)


def whole(written: str, option: str, least: int) -> int:
    """Return a whole number that is at least ``least``.

    Raises:
        CommandError: It is none.
    """
    if written.isascii() and written.isdigit() and len(written) < 10 and int(written) >= least:
        return int(written)
    raise CommandError(f"{option} takes a whole number of at least {least}, got {written!r}")


def one_of(opts: argparse.Namespace, names: Iterable[str]) -> str | None:
    """Return the given one of several options that exclude each other, or None.

    Raises:
        CommandError: More than one is given.
    """
    given = [name for name in names if getattr(opts, name) not in (None, False)]
    if len(given) > 1:
        raise CommandError(
            f"{' and '.join(f'--{_dashed(name)}' for name in given)} cannot be combined; "
            "give one of them"
        )
    return given[0] if given else None


def _wrong_order(low: str, high: str, option: str) -> CommandError:
    low, high = low.strip(), high.strip()
    return CommandError(f"{option} {low}..{high}: the smaller one comes first: {high}..{low}")


def _no_distances(written: str, option: str) -> CommandError:
    return CommandError(f"{option} takes bits from 0 to 8, like 3, 0..8 or 3,5, got {written!r}")


def _no_similarities(written: str, option: str) -> CommandError:
    return CommandError(
        f"{option} takes similarities from 0 to 1, like 0.8, 0.5..1 or 0.7,0.8, got {written!r}"
    )


def _dashed(name: str) -> str:
    return name.replace("_", "-")
