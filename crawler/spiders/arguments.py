"""Read and check the arguments of our spiders, before Scrapy is imported."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from crawler.downloading.cookies import read_cookies
from crawler.downloading.pace import Hours
from crawler.pages.visits import NO
from crawler.reading.link_kinds import followed_kinds
from crawler.spiders.argument_table import check_values
from crawler.spiders.file_pages import page_files
from crawler.url_rules.rule_files import RuleFileError, read_rules
from crawler.urls.scope import Scope
from crawler.urls.seeds import check_seed, split_seeds
from crawler.warc.sources import ArchiveError, find_sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.reading.link_kinds import Follow
    from crawler.spiders.argument_table import Argument
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.warc.sources import WarcFile

STANDARD_INPUT = "-"

AUTO: Final = "auto"
ALWAYS: Final = "always"


class RenderChoice(NamedTuple):
    """The arguments of a spider about rendering.

    Attributes:
        mode: ``no``, ``auto`` or ``always``; empty: auto where there is a browser.
        screenshots: Whether a picture of each page is kept.
        for_disk: Whether documents are written to be opened without scripts.
    """

    mode: str = ""
    screenshots: bool = False
    for_disk: bool = False


def check_arguments(arguments: Mapping[str, str], known: Mapping[str, Argument]) -> None:
    """Refuse a value that no spider with these arguments takes, and files that cannot be read.

    Raises:
        ValueError: The message names the argument and what is wrong with it.
    """
    check_values(arguments, known)
    render_choice(arguments)
    if "rules" in arguments:
        rules_of(arguments["rules"])
    if "cookies" in arguments:
        try:
            read_cookies(arguments["cookies"])
        except ValueError as error:
            raise ValueError(f"-a cookies: {error}") from None


def render_choice(arguments: Mapping[str, str]) -> RenderChoice:
    """Return what ``-a render`` and ``-a screenshots`` say.

    Raises:
        ValueError: They contradict each other.
    """
    mode = arguments.get("render", "")
    if arguments.get("screenshots", "no") == "no":
        return RenderChoice(mode)
    if mode == NO:
        raise ValueError(
            "-a screenshots=yes takes pictures in a browser, and -a render=no has none"
        )
    return RenderChoice(mode or ALWAYS, screenshots=True)


def rules_of(name: str) -> list[Proposal]:
    """Read the file of ``-a rules``.

    Raises:
        ValueError: It cannot be read, or has no rule; the message says why.
    """
    if not name:
        raise ValueError("-a rules: give a file, as crawl-once rules DIR --export FILE writes it")
    try:
        return read_rules(Path(name))
    except RuleFileError as error:
        raise ValueError(f"-a rules: {error}") from None


_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(i?))?b?", re.IGNORECASE)
_UNITS = " kmgt"
_DURATION = re.compile(
    r"(?:([0-9]{1,4})w)?(?:([0-9]{1,5})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,7})m)?(?:([0-9]{1,8})s)?"
)
_UNIT_SECS = (604_800, 86_400, 3_600, 60, 1)


def byte_count(written: str) -> int:
    """Return the bytes of a size such as ``500M``, ``1.5 GB``, ``2GiB`` or ``20000``.

    M and MB are a million, MiB 1,024 times 1,024.

    Raises:
        ValueError: It is no size, or 0.
    """
    found = _SIZE.fullmatch(written.strip())
    count = 0
    if found is not None:
        power = _UNITS.index((found[2] or " ").lower())
        count = int(float(found[1]) * (1024 if found[3] else 1000) ** power)
    if count <= 0:
        raise ValueError(f"a size such as 500M or 2G is wanted, got {written!r}")
    return count


def size_of(arguments: Mapping[str, str], name: str = "max_bytes") -> int | None:
    """Return the bytes of an argument, or None without it.

    Raises:
        ValueError: It is no size.
    """
    if not arguments.get(name):
        return None
    try:
        return byte_count(arguments[name])
    except ValueError as error:
        raise ValueError(f"-a {name}: {error}") from None


def hours_of(arguments: Mapping[str, str]) -> Hours | None:
    """Return the hours of ``hours``, or None without it.

    Raises:
        ValueError: There are no such hours.
    """
    if not arguments.get("hours"):
        return None
    try:
        return Hours.of(arguments["hours"])
    except ValueError as error:
        raise ValueError(f"-a hours: {error}") from None


def secs_of(arguments: Mapping[str, str]) -> float | None:
    """Return the seconds of ``max_time``, such as ``90s`` or ``1h30m``, or None without it.

    Raises:
        ValueError: It is no time, or none at all.
    """
    written = arguments.get("max_time", "")
    if not written:
        return None
    secs = duration_secs(f"{written}s" if written.strip()[-1:].isdigit() else written)
    if not secs:
        raise ValueError(f"-a max_time: a time such as 90s or 1h30m is wanted, got {written!r}")
    return secs


def duration_secs(written: str) -> float | None:
    """Return the seconds of a duration such as ``90s``, ``1h30m``, ``1d`` or ``2w``; None: none."""
    found = _DURATION.fullmatch(written.replace(" ", "").lower())
    if found is None or found.lastindex is None:
        return None
    parts = zip(found.groups("0"), _UNIT_SECS, strict=True)
    return float(sum(int(part) * unit for part, unit in parts))


def check_site(
    arguments: Mapping[str, str], known: Mapping[str, Argument], *, is_mirror: bool = False
) -> None:
    """Check the arguments of a crawl along links.

    Raises:
        ValueError: One of them is unknown, missing or bad; the message says which.
    """
    check_arguments(arguments, known)
    scope_of(seeds_of(arguments), arguments)
    secs_of(arguments)
    size_of(arguments)
    size_of(arguments, "max_rate")
    hours_of(arguments)
    kinds_of_links(arguments, is_mirror=is_mirror)


def seeds_of(arguments: Mapping[str, str]) -> list[str]:
    """Return the URLs to start from.

    Raises:
        ValueError: There is none, or one cannot be fetched.
    """
    urls = split_seeds(arguments.get("url", ""))
    if not urls:
        raise ValueError("where to start? give -a url=https://...")
    return [check_seed(url) for url in urls]


def scope_of(seeds: list[str], arguments: Mapping[str, str]) -> Scope:
    """Return which URLs belong to a crawl.

    Raises:
        ValueError: An expression, a pattern or the kind of scope is wrong.
    """
    return Scope(
        seeds,
        kind=arguments.get("scope", "prefix"),
        allow=arguments.get("allow"),
        deny=arguments.get("deny"),
        include=arguments.get("include"),
        exclude=arguments.get("exclude"),
    )


def kinds_of_links(arguments: Mapping[str, str], *, is_mirror: bool) -> dict[str, Follow]:
    """Return how links of each kind are followed.

    Raises:
        ValueError: One of them is no kind; the message names it.
    """
    try:
        return followed_kinds(arguments.get("links", ""), is_mirror=is_mirror)
    except ValueError as error:
        raise ValueError(f"-a links: {error}") from None


def check_list(arguments: Mapping[str, str], known: Mapping[str, Argument]) -> None:
    """Check the arguments of a crawl of a list of URLs.

    Raises:
        ValueError: One of them is unknown or bad, or the file cannot be read.
    """
    check_arguments(arguments, known)
    name = arguments.get("file", "")
    if not name:
        raise ValueError("which URLs? give -a file=FILE, or -a file=- for standard input")
    if name == STANDARD_INPUT:
        if sys.stdin is None:  # closed by whoever started the process
            raise ValueError("-a file=-: there is no standard input")
        return
    path = Path(name)
    if path.is_dir():
        raise ValueError(f"-a file: {name} is a directory")
    try:
        path.open("rb").close()
    except OSError as error:
        raise ValueError(f"-a file: {name}: {error.strerror}") from None


def check_archive(arguments: Mapping[str, str], known: Mapping[str, Argument]) -> None:
    """Check the arguments of a crawl of an archive.

    Raises:
        ValueError: One of them is unknown, or there is nothing to read.
    """
    check_arguments(arguments, known)
    if not page_files(arguments.get("warc", "")):
        sources_of(arguments)


def sources_of(arguments: Mapping[str, str]) -> list[WarcFile]:
    """Return the files of an archive.

    Raises:
        ValueError: There are none, or they cannot be read.
    """
    word = arguments.get("warc", "")
    if not word:
        raise ValueError("which archive? give -a warc=FILE, a folder of WARC files, or a WACZ")
    try:
        sources = find_sources(word)
    except ArchiveError as error:
        raise ValueError(f"-a warc: {error}") from None
    if not sources:
        raise ValueError(f"-a warc: no files in {word!r}")
    return sources
