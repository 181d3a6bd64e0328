"""Name the arguments of the spiders: of ``-a`` in Scrapy, and options of ``crawl-once``.

It imports no Scrapy, so that ``--help`` and a misspelt value do not cost its start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping


class Argument(NamedTuple):
    """An argument of a spider.

    Attributes:
        metavar: What stands for its value in the help.
        meaning: What it does, with its default.
        choices: Its values, where there are few.
    """

    metavar: str
    meaning: str
    choices: tuple[str, ...] = ()

    @property
    def is_flag(self) -> bool:
        """Whether its option has no value: ``--text`` and ``--no-text``."""
        return self.choices == _YES_NO


_YES_NO = ("yes", "no")

PATTERNS = ("include", "exclude")
"""Arguments that are patterns, one a line: options that can be repeated, or come from a file."""

_MIN_NUMBERS = {"max_pages": 1, "max_depth": 0}
"""The least value of each argument that is a whole number."""

_SHARED = {
    "revisit": Argument(
        "WHICH",
        "no (default); yes: ask again for every page of a finished crawl; due: for those whose "
        "time has come; failed: for those that failed",
        ("no", "yes", "due", "failed"),
    ),
    "rules": Argument(
        "FILE",
        "URL rules of another crawl, as crawl-once rules DIR --export FILE writes them, to hold "
        "from the start; on other hosts fewer texts have to speak for the same",
    ),
}

_FETCHED = {
    "render": Argument(
        "WHICH",
        "show pages in a browser: no; auto: those that show more there; always: all with scripts "
        "(default auto with the extra render, else no; docs/rendering.md)",
        ("auto", "always", "no"),
    ),
    "screenshots": Argument(
        "yes|no",
        "keep a picture of each page (default no); shows all pages in the browser, unless "
        "--render auto says which",
        _YES_NO,
    ),
    "cookies": Argument(
        "FILE", "a Netscape cookie file, as curl and browsers' extensions write it"
    ),
}

SITE: Mapping[str, Argument] = {
    "url": Argument("URL", "where to start; several are separated by commas"),
    "scope": Argument(
        "KIND",
        "prefix (the folder of the URL, default), host or domain",
        ("prefix", "host", "domain"),
    ),
    "max_pages": Argument("N", "stop after N pages; the same command goes on"),
    "max_time": Argument(
        "TIME", "stop after TIME, such as 90s, 30m or 1h30m; the same command goes on"
    ),
    "max_bytes": Argument("SIZE", "stop when about SIZE bytes came, such as 500M"),
    "max_rate": Argument(
        "SIZE", "at most SIZE bytes per second over all connections, such as 500K"
    ),
    "hours": Argument(
        "FROM-TO", "requests at these hours of the day alone, local time, such as 22-6"
    ),
    "max_depth": Argument("N", "at most N links away from the URL"),
    "allow": Argument("REGEX", "only URLs that contain a match"),
    "deny": Argument("REGEX", "no URLs that contain a match"),
    "include": Argument(
        "PATTERN",
        "only pages that match a pattern as in gitignore, such as '/docs/**'; can be repeated",
    ),
    "exclude": Argument(
        "PATTERN",
        "nothing that matches, such as 'downloads/*.iso', '*.mp4' or 'cdn.example.org/'; can be "
        "repeated",
    ),
    "sitemaps": Argument(
        "yes|no", "take URLs from the sitemaps that robots.txt names (default yes)", _YES_NO
    ),
    "links": Argument(
        "KINDS",
        "kinds of links to follow beside the usual: +comment,-script, all or none (docs/links.md)",
    ),
    "check_fragments": Argument(
        "yes|no",
        "have crawl-once links tell links to places that are not there, page#name (default no)",
        _YES_NO,
    ),
    **_SHARED,
    **_FETCHED,
}

URLS: Mapping[str, Argument] = {
    "file": Argument(
        "FILE", "a file with one URL a line, or - for standard input; # begins a comment"
    ),
    **_SHARED,
    **_FETCHED,
}

REPLAY: Mapping[str, Argument] = {
    "warc": Argument(
        "WARC", "WARC, WACZ, HTML or .jsonl files, or folders of WARC or HTML, separated by commas"
    ),
}

MIRROR: Mapping[str, Argument] = {
    **SITE,
    "keep_versions": Argument(
        "yes|no",
        "keep the state before each update below DIR/.mirror/versions, and show what changed in "
        "DIR/versions.html (default no)",
        _YES_NO,
    ),
    "search": Argument(
        "yes|no",
        "write DIR/search.html, a search of pages that works from the disk (default no)",
        _YES_NO,
    ),
    "requisites": Argument(
        "FROM",
        "styles, images and the like: from the host of the site (default) or all",
        ("host", "all"),
    ),
    "accept": Argument(
        "NAMES", "files other than pages: only these, such as css,js,png or '*.min.*'"
    ),
    "reject": Argument("NAMES", "files and pages that are not fetched, such as zip,iso"),
    "text": Argument(
        "yes|no",
        "read the text of pages (default yes); without, a mirror takes a third of the CPU, and no "
        "URL rule is learned, so that a site whose URLs never end (session ids, calendars) needs "
        "--max-pages",
        _YES_NO,
    ),
    "gone": Argument(
        "KEEP",
        "files of URLs that are gone (404 or 410): keep (default) or remove, unless they are half "
        "of all or more",
        ("keep", "remove"),
    ),
    "max_bytes": Argument("SIZE", "stop when the mirror has SIZE bytes, such as 500M"),
}


def option_words(name: str, value: str) -> str:
    """Return an argument as it is typed: of several lines, an option for each."""
    option = name.replace("_", "-")
    if name in MIRROR and MIRROR[name].is_flag and value in _YES_NO:
        return f"--{option}" if value == "yes" else f"--no-{option}"
    return " ".join(f"--{option} {line}" for line in value.splitlines() or [value])


def check_values(arguments: Mapping[str, str], table: Mapping[str, Argument]) -> None:
    """Refuse what can be refused without the spider.

    Raises:
        ValueError: An argument is unknown, none of the values that there are, or no number.
    """
    for name, value in arguments.items():
        if name not in table:
            hint = did_you_mean(name, table) or f"; there are {', '.join(table)}"
            raise ValueError(f"unknown argument -a {name}{hint}")
        choices = table[name].choices
        if choices and value not in choices:
            among = f"{', '.join(choices[:-1])} or {choices[-1]}"
            hint = did_you_mean(value, choices)
            raise ValueError(f"-a {name} must be {among}, got {value!r}{hint}")
        if name in _MIN_NUMBERS and not (value.isdecimal() and int(value) >= _MIN_NUMBERS[name]):
            least = "of at least 0" if not _MIN_NUMBERS[name] else "above 0"
            raise ValueError(f"-a {name} must be a whole number {least}, got {value!r}")
