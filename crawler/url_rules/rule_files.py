"""Write rules to files, and read them, to move them from one crawl to another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawler.url_rules.learning.transforms import ANYTHING, DropArguments, ReplaceSegments
from crawler.url_rules.rule_store import restored, stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

FORMAT = "crawl-once rules 1"
_ORDER = 100


class RuleFileError(ValueError):
    """The file holds no rules; the message says why."""


def rules_text(rules: Iterable[Proposal]) -> str:
    """Return rules as JSON, for ``-a rules=FILE``."""
    content = {"format": FORMAT, "rules": [stored(*rule) for rule in rules]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_rules(path: Path) -> list[Proposal]:
    """Read the rules of a file that ``rules_text`` made.

    Raises:
        RuleFileError: It cannot be read, or holds no rules.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RuleFileError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise RuleFileError(f"{path}: not JSON") from None
    rules = content.get("rules") if isinstance(content, dict) else None
    if not isinstance(rules, list) or content.get("format") != FORMAT:
        raise RuleFileError(f"{path}: no rules as `scrapy rules DIR --export FILE` writes them")
    return [_read(path, number, rule) for number, rule in enumerate(rules, 1)]


def _read(path: Path, number: int, rule: object) -> Proposal:
    try:
        return restored(rule)
    except ValueError as error:
        raise RuleFileError(f"{path}: rule {number}: {error}") from None


def discarder_text(rules: Iterable[Proposal]) -> tuple[str, list[Proposal]]:
    """Return rules in the format of duplicate-url-discarder, and those that it cannot express.

    The format knows the removal of arguments and of parts of a path, by URL pattern. It makes the
    same addresses one as the rules do, but for capital letters in a path and a
    ``www.`` before the host, which its patterns do not see.
    """
    entries, left = [], []
    for context, transform in rules:
        entry = _entry(context, transform)
        if entry is None:
            left.append((context, transform))
        else:
            entries.append(entry)
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n", left


def _entry(context: Context, transform: Transform) -> dict[str, Any] | None:
    if context.beside is not None or context.where is not None:
        return None
    if isinstance(transform, DropArguments):
        # Its asterisk matches a slash too.
        if "*" in (context.pattern or ""):
            return None
        # A path alone matches as a prefix, a host alone matches its subdomains.
        place = context.host + ("/" if context.pattern is None else f"{context.pattern}|")
        return _written("queryRemoval", transform.names, include=[place])
    if isinstance(transform, ReplaceSegments) and context.pattern is None:
        removed = _removed(transform)
        if removed is None:
            return None
        place = f"{context.host}/{transform.old[0]}/"
        # A segment that may be anything has to be there.
        exclude = [f"{place}|"] if ANYTHING in transform.old else []
        return _written("subpathRemoval", removed, include=[place], exclude=exclude)
    return None


def _written(
    processor: str, arguments: Sequence[str | int], **patterns: list[str]
) -> dict[str, Any]:
    return {
        "args": list(arguments),
        "order": _ORDER,
        "processor": processor,
        "urlPattern": {name: urls for name, urls in patterns.items() if urls},
    }


def _removed(transform: ReplaceSegments) -> list[int] | None:
    """Return the segments to remove if the rule does only that: ``/print/x``, ``/s/ID/x``."""
    if transform.at_end or transform.offset or not transform.old[0] or "*" in transform.old[0]:
        return None
    if transform.old[1:] not in {(), (ANYTHING,)}:
        return None
    if not transform.new:
        return list(range(len(transform.old)))
    return [1] if transform.new == transform.old[:1] and len(transform.old) == 2 else None
