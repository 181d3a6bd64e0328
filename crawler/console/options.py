"""Declare the options of commands as dataclasses, read them once; among them those of pages."""

from __future__ import annotations

import argparse
import re
import time
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.suggestions import UserError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawler.pages.export import PageSelection

Value = TypeVar("Value")


class CommandError(UserError):
    """An argument or an option is wrong; the message says how it is right."""


JSON = "print one JSON object"
"""The meaning of ``--json``."""

_NAMED_LIKE_IT = ("",)


def option(
    metavar: str,
    meaning: str | Callable[[], str],
    default: Any = None,
    *,
    read: Callable[[str, str], Any] | None = None,
    names: Sequence[str] = _NAMED_LIKE_IT,
    group: str = "",
) -> Any:
    """Declare an option, as a field of the dataclass of a command's options.

    Args:
        metavar: The word for its value.
        meaning: The text of --help, or what returns it where that needs an import.
        default: Its value where it is not given. With an empty tuple it may be given several times.
        read: Returns the value, given the text that is written and the name of the option.
        names: Its names; an empty one is that of the field.
        group: The heading of --help below which it stands.
    """
    given = {"metavar": metavar, **({"action": "append"} if default == () else {})}
    about = {"meaning": meaning, "read": read, "names": names, "group": group}
    return field(default=default, metadata={**about, "argparse": given})


def flag(meaning: str, *, group: str = "", is_switch: bool = False) -> Any:
    """Declare an option without a value.

    Args:
        meaning: The text of --help.
        group: The heading of --help below which it stands.
        is_switch: Whether ``--no-...`` is an option too, so that it may be None: neither is given.
    """
    action = argparse.BooleanOptionalAction if is_switch else "store_true"
    about = {"meaning": meaning, "read": None, "names": _NAMED_LIKE_IT, "group": group}
    default = None if is_switch else False
    return field(default=default, metadata={**about, "argparse": {"action": action}})


def number(least: int) -> Callable[[str, str], int]:
    """Return what reads a whole number that is at least ``least``."""

    def read(written: str, name: str) -> int:
        if written.isascii() and written.isdigit() and len(written) < 10 and int(written) >= least:
            return int(written)
        raise CommandError(f"{name} takes a whole number of at least {least}, got {written!r}")

    return read


def among(choices: Callable[[], Sequence[str]], kind: str) -> Callable[[str, str], str]:
    """Return what reads one of some words.

    Args:
        choices: Returns these words, which may need an import.
        kind: The word for one of them.
    """

    def read(written: str, name: str) -> str:
        known = choices()
        if written not in known:
            hint = did_you_mean(written, known) or f"; there are {', '.join(known)}"
            raise CommandError(f"{name} {written}: no such {kind}{hint}")
        return written

    return read


def byte_size(written: str, name: str) -> int:
    """Read a size such as 32MiB, in bytes."""
    from crawler.spiders.arguments import byte_count

    return read_by(byte_count, written, name)


@dataclass(frozen=True)
class NoOptions:
    """The options of a command that has none."""


def dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def declare(parser: argparse.ArgumentParser, declared: type[Any]) -> None:
    """Add the options that are declared as fields of a dataclass."""
    groups: dict[str, Any] = {"": parser}
    for each in fields(declared):
        if not (about := each.metadata):
            continue
        if (heading := about["group"]) not in groups:
            groups[heading] = parser.add_argument_group(heading)
        names = [name or dashed(each.name) for name in about["names"]]
        meaning = about["meaning"] if isinstance(about["meaning"], str) else about["meaning"]()
        default = None if about["argparse"].get("action") == "append" else each.default
        groups[heading].add_argument(
            *names, dest=each.name, default=default, help=meaning, **about["argparse"]
        )


def read_options(declared: type[Value], given: argparse.Namespace) -> Value:
    """Return the options of a command line, each read once.

    Raises:
        CommandError: One of them is empty, or cannot be read.
    """
    values = {}
    for each in fields(declared):  # type: ignore[arg-type]
        value = getattr(given, each.name, None)
        value = each.default if value is None else value
        name = each.metadata.get("names", ("",))[-1] or dashed(each.name)
        if value == "" and each.default != "":  # as of a variable of a script that is not set
            raise CommandError(f"{name} takes a value, got an empty one")
        if isinstance(value, str) and (read := each.metadata.get("read")):
            value = read(value, name)
        values[each.name] = value
    return declared(**values)


def refuse_options(args: list[str], known: Iterable[str] = ()) -> None:
    """Refuse an argument that looks like an option and was not recognised as one.

    Args:
        args: The arguments that argparse left.
        known: Options that may have been meant.

    Raises:
        CommandError: There is such an argument.
    """
    for argument in args:
        if argument.startswith("-") and argument != "-":
            hint = did_you_mean(argument.partition("=")[0], known) or "; see --help"
            raise CommandError(f"unknown option {argument}{hint}")


def read_by(read: Callable[[str], Value], written: str, option: str) -> Value:
    """Return the value of an option.

    Raises:
        CommandError: It cannot be read; the message names the option.
    """
    try:
        return read(written)
    except ValueError as error:
        raise CommandError(f"{option}: {error}") from None


def one_of(opts: object, names: Iterable[str]) -> str | None:
    """Return the given one of several options that exclude each other, or None.

    Raises:
        CommandError: More than one is given.
    """
    given = [name for name in names if getattr(opts, name) not in (None, False)]
    if len(given) > 1:
        named = " and ".join(map(dashed, given))
        raise CommandError(f"{named} cannot be combined; give one of them")
    return given[0] if given else None


_STATUS = re.compile(r"([1-5][0-9][0-9])|([1-5])xx")


def page_types() -> tuple[str, ...]:
    """Return the values of ``--type``."""
    from crawler.reading.content.content_xml import DOCUMENT, PAGE_TYPES

    return (*PAGE_TYPES, DOCUMENT)


def _of_pages(name: str, metavar: str, meaning: str | Callable[[], str], **more: Any) -> Any:
    return option(metavar, meaning, names=(f"--{name}",), group="which pages", **more)


@dataclass(frozen=True)
class PageOptions:
    """The options that choose pages."""

    pages_under: str | None = _of_pages(
        "under", "URL", "only the page at this URL and those below it"
    )
    pages_host: str | None = _of_pages(
        "host", "H", "only pages of this host, at any port, or of HOST:PORT"
    )
    pages_since: str | None = _of_pages(
        "since", "WHEN", "only pages fetched since: 2026-11-27, 2026-11-27T08:30 (UTC), 36h, 7d"
    )
    pages_status: str | None = _of_pages(
        "status", "S", "only pages with one of these HTTP statuses: 200, 404,410, 4xx"
    )
    pages_type: str | None = _of_pages(
        "type",
        "TYPE",
        lambda: f"only pages of this type: {', '.join(page_types())}",
        read=among(page_types, "type of page"),
    )


def page_selection(opts: PageOptions) -> PageSelection:
    """Return the pages that the options choose.

    Raises:
        CommandError: A value is bad; the message says what is taken.
    """
    from crawler.pages.export import PageSelection

    under, host, since = opts.pages_under, opts.pages_host, opts.pages_since
    status = opts.pages_status
    return PageSelection(
        "" if under is None else read_by(_url, under, "--under"),
        "" if host is None else _host(host),
        None if since is None else moment(since, time.time()),
        () if status is None else statuses(status),
        opts.pages_type,
    )


def selection_words(opts: PageOptions) -> str:
    """Return the options that choose pages as they were given; empty: none."""
    given = [(each.metadata["names"][0], getattr(opts, each.name)) for each in fields(PageOptions)]
    return " ".join(f"{name} {value}" for name, value in given if value is not None)


def moment(written: str, now: float) -> float:
    """Return the seconds since 1970 of a date, a time, or a duration before now.

    Raises:
        CommandError: It is none of them.
    """
    from crawler.spiders.arguments import duration_secs  # reads WARC files too

    if (secs := duration_secs(written)) is not None:
        return now - secs
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        taken = "a date (2026-11-27), a time (2026-11-27T08:30) or a duration (30m, 36h, 7d, 2w)"
        raise CommandError(f"--since takes {taken}, got {written!r}") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def statuses(written: str) -> tuple[tuple[int, int], ...]:
    """Return the ranges of a text like ``200``, ``404,410`` or ``4xx``.

    Raises:
        CommandError: It has another form.
    """
    found = [_STATUS.fullmatch(part.strip().lower()) for part in written.split(",")]
    if not all(found):
        raise CommandError(f"--status takes 200, 404,410, 4xx and the like, got {written!r}")
    return tuple(
        (int(match[1]), int(match[1]))
        if match[1]
        else (int(match[2]) * 100, int(match[2]) * 100 + 99)
        for match in found
        if match
    )


def _url(written: str) -> str:
    from crawler.pages.export import url_ranges
    from crawler.urls.seeds import check_seed

    url = check_seed(written)
    url_ranges(url)
    return url


def _host(written: str) -> str:
    from crawler.pages.export import host_ranges

    if "/" in written:
        raise CommandError(
            f"--host takes a host such as docs.python.org, got {written!r}; --under takes a URL"
        )
    read_by(host_ranges, written, f"--host {written}")
    return written
