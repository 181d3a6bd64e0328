"""Rules as files, from one crawl to another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawler.frontier.rule_store import restored, stored
from crawler.urls.learning.transforms import ANYTHING, DropArguments, ReplaceSegments

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.urls.learning.context import Context
    from crawler.urls.learning.proposals import Proposal
    from crawler.urls.learning.transforms import Transform

FORMAT = "crawl-once rules 1"
_ORDER = 100


class RuleFileError(ValueError):
    """It holds no rules; the message says why."""


def rules_text(rules: Iterable[Proposal]) -> str:
    """Rules as JSON, for ``-a rules=FILE``."""
    content = {"format": FORMAT, "rules": [stored(*rule) for rule in rules]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_rules(path: Path) -> list[Proposal]:
    """The rules of a file that ``rules_text`` made.

    Raises:
        RuleFileError: It cannot be read, or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RuleFileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise RuleFileError(f"{path}: not JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise RuleFileError(f"{path}: no rules as `scrapy rules DIR --export` writes them")
    try:
        return [restored(rule) for rule in content["rules"]]
    except (ValueError, KeyError, TypeError) as error:
        raise RuleFileError(f"{path}: {error}") from None


def discarder_text(rules: Iterable[Proposal]) -> tuple[str, list[Proposal]]:
    """Rules in the form that duplicate-url-discarder reads, and those that it cannot express.

    It knows the removal of arguments and of parts of a path, by URL pattern.
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
    if context.beside is not None or context.where is not None or "*" in (context.pattern or ""):
        return None
    place = context.host + (context.pattern or "")
    arguments: list[str] | list[int]
    if isinstance(transform, DropArguments):
        processor, arguments = "queryRemoval", list(transform.names)
    elif isinstance(transform, ReplaceSegments) and (index := _removed(transform)) is not None:
        processor, arguments = "subpathRemoval", [index]
        place = f"{context.host}/{transform.old[0]}"
    else:
        return None
    return {
        "args": arguments,
        "order": _ORDER,
        "processor": processor,
        "urlPattern": {"include": [place]},
    }


def _removed(transform: ReplaceSegments) -> int | None:
    """Which segment is taken out, where it is all that is done: ``/print/x``, ``/s/ID/x``."""
    if transform.at_end or transform.offset or not transform.old[0]:
        return None
    if len(transform.old) == 1 and not transform.new:
        return 0
    is_named = len(transform.old) == 2 and transform.old[1] is ANYTHING
    return 1 if is_named and transform.new[:1] == transform.old[:1] else None
