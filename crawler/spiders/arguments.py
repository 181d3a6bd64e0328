"""Read and check the ``-a`` arguments that our spiders share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.downloading.cookie_files import read_cookies
from crawler.pages.visits import NO, REVISITS
from crawler.render_choice import render_choice
from crawler.suggestions import did_you_mean
from crawler.url_rules.rule_files import RuleFileError, read_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.spiders.argument_table import Argument
    from crawler.url_rules.learning.proposals import Proposal


def check_cookies(arguments: Mapping[str, str]) -> None:
    """Check the file of ``-a cookies=FILE``.

    Raises:
        ValueError: It cannot be read; the message names it.
    """
    if "cookies" in arguments:
        try:
            read_cookies(arguments["cookies"])
        except ValueError as error:
            raise ValueError(f"-a cookies: {error}") from None


def check_arguments(arguments: Mapping[str, str], known: Mapping[str, Argument]) -> None:
    """Refuse an argument that a spider does not know, a bad ``revisit``, ``render`` or ``rules``.

    Raises:
        ValueError: The message names the argument and what is wrong with it.
    """
    for name in arguments:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise ValueError(f"unknown argument -a {name}{hint}")
    revisit = arguments.get("revisit", NO)
    if revisit not in REVISITS:
        hint = did_you_mean(revisit, REVISITS)
        raise ValueError(f"-a revisit must be no, yes, due or failed, got {revisit!r}{hint}")
    render_choice(arguments)
    if "rules" in arguments:
        rules_of(arguments["rules"])


def rules_of(name: str) -> list[Proposal]:
    """Read the file of ``-a rules``.

    Raises:
        ValueError: It cannot be read, or has no rule; the message says why.
    """
    if not name:
        raise ValueError("-a rules: give a file, as scrapy rules DIR --export FILE writes it")
    try:
        return read_rules(Path(name))
    except RuleFileError as error:
        raise ValueError(f"-a rules: {error}") from None


def whole_number(name: str, value: str) -> int | None:
    if not value:
        return None
    if not value.isdecimal() or (name == "max_pages" and int(value) == 0):
        least = " above 0" if name == "max_pages" else ""
        raise ValueError(f"-a {name} must be a whole number{least}, got {value!r}")
    return int(value)


def yes_or_no(name: str, value: str) -> bool:
    if value not in {"yes", "no"}:
        raise ValueError(f"-a {name} must be yes or no, got {value!r}")
    return value == "yes"
