"""Write rules as JSON and read them: for ``crawl.db``, for other crawls and for other tools."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.template import Template
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    DropArguments,
    LowerPath,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    Rewrite,
    SortSegments,
    Standard,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

_KINDS: dict[str, type[Any]] = {
    "drop arguments": DropArguments,
    "replace values": ReplaceValues,
    "replace segments": ReplaceSegments,
    "lower path": LowerPath,
    "sort segments": SortSegments,
    "replace host": ReplaceHost,
    "rewrite": Rewrite,
    "standard": Standard,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}

FORMAT = "crawl-once rules 1"
_ORDER = 100


def has_shape(value: object, shape: Any) -> bool:
    """Return whether a value is of a type: a plain one, a union, tuple or frozen set, a dataclass.

    >>> has_shape(("a", None), tuple[str | None, ...]), has_shape(True, int)
    (True, False)

    Complexity: linear in the size of the value.
    """
    origin = get_origin(shape)
    if origin in (Union, UnionType):
        return any(has_shape(value, one) for one in get_args(shape))
    if origin is frozenset:
        return isinstance(value, frozenset) and _has_items(tuple(value), (*get_args(shape), ...))
    if origin is tuple:
        return isinstance(value, tuple) and _has_items(value, get_args(shape))
    if is_dataclass(shape):
        return type(value) is shape and not wrong_fields(value)
    return type(value) is shape


def wrong_fields(instance: Any) -> list[str]:
    """Return the names of the fields of a dataclass that hold a value of another type."""
    hints = get_type_hints(type(instance))
    return [name for name, hint in hints.items() if not has_shape(getattr(instance, name), hint)]


def _has_items(values: tuple[object, ...], shapes: tuple[Any, ...]) -> bool:
    if len(shapes) == 2 and shapes[1] is Ellipsis:
        return all(has_shape(value, shapes[0]) for value in values)
    return len(values) == len(shapes) and all(map(has_shape, values, shapes))


def to_json(transform: Transform) -> dict[str, Any]:
    """Return a transform as a dict for JSON; the inverse of ``from_json``."""
    return {"kind": _NAMES[type(transform)], **asdict(transform)}


def from_json(stored: dict[str, Any]) -> Transform:
    """Return the transform that ``to_json`` made into a dict.

    Raises:
        ValueError: It is no transform.
    """
    fields = dict(stored)
    name = fields.pop("kind", None)
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"no kind of rule: {stored.get('kind')!r}; there are {', '.join(_KINDS)}")
    try:
        transform: Transform = kind(**{field: _part(value) for field, value in fields.items()})
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"not a rule of kind {name!r}: {error}") from None
    wrong = ", ".join(_wrong(transform))
    if wrong:
        raise ValueError(f"not a rule of kind {name!r}: {wrong} cannot be that")
    return transform


def _wrong(transform: Transform) -> list[str]:
    """Return the names of the fields of a transform that hold impossible values."""
    wrong = wrong_fields(transform)
    if wrong:
        return wrong
    if isinstance(transform, Rewrite) and transform.target.variables - transform.source.variables:
        return ["target"]
    if isinstance(transform, ReplaceSegments) and (transform.offset < 0 or not transform.old):
        return ["offset" if transform.offset < 0 else "old"]
    return ["names"] if isinstance(transform, DropArguments) and not transform.names else []


def _part(value: Any) -> Any:
    if isinstance(value, dict):
        return Template(**{name: _part(inner) for name, inner in value.items()})
    return tuple(map(_part, value)) if isinstance(value, list) else value


_PARTS = {"context", "transform"}
_PLACES = {"host", "pattern", "beside", "where", "apart_from"}
_MAX_SHOWN = 200


class RuleFileError(ValueError):
    """The file holds no rules; the message says why."""


def stored(context: Context, transform: Transform) -> dict[str, Any]:
    return {"context": _place(context), "transform": to_json(transform)}


def _place(context: Context) -> dict[str, Any]:
    return {
        "host": context.host,
        "pattern": context.pattern,
        "beside": None if context.beside is None else sorted(context.beside),
        "where": None if context.where is None else list(context.where),
        "apart_from": list(map(_place, context.apart_from)),
    }


def restored(rule: Any) -> Proposal:
    """Return the rule of a dict; the inverse of ``stored``.

    Raises:
        ValueError: It is no rule; the message says what is wrong.
    """
    try:
        context, transform = _context(rule["context"]), from_json(rule["transform"])
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"no rule: {error!r} in {_shown(rule)}") from None
    wrong = wrong_fields(context) or sorted(rule.keys() - _PARTS)
    if wrong:
        raise ValueError(f"no rule: {', '.join(wrong)} cannot be that in {_shown(rule)}")
    # Half a surrogate pair could be neither shown nor written: UnicodeEncodeError is a ValueError.
    json.dumps(stored(context, transform), ensure_ascii=False).encode()
    return context, transform


def _context(place: Any, *, is_exception: bool = False) -> Context:
    """Return a context of the given parts; an exception has no exceptions of its own."""
    beside, at, apart_from = place.get("beside"), place.get("where"), place.get("apart_from", [])
    strange = sorted(place.keys() - _PLACES)
    if strange or not isinstance(apart_from, list) or (apart_from and is_exception):
        wrong = ", ".join(strange) or "apart_from"
        raise ValueError(f"no rule: {wrong} cannot be that in {_shown(place)}")
    return Context(
        place["host"],
        place.get("pattern"),
        frozenset(beside) if isinstance(beside, list) else beside,
        tuple(at) if isinstance(at, list) else at,
        tuple(_context(other, is_exception=True) for other in apart_from),
    )


def _shown(rule: object) -> str:
    try:
        return str(rule)[:_MAX_SHOWN]
    except RecursionError:
        return "what is nested too deeply"


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
        raise RuleFileError(f"{path}: no rules as `crawl-once rules DIR --export FILE` writes them")
    return [_read(path, number, rule) for number, rule in enumerate(rules, 1)]


def _read(path: Path, number: int, rule: object) -> Proposal:
    try:
        found = restored(rule)
    except ValueError as error:
        raise RuleFileError(f"{path}: rule {number}: {error}") from None
    if isinstance(found[1], Standard):
        raise RuleFileError(f"{path}: rule {number}: a standard one, which each crawl tries anyway")
    return found


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
        if "*" in (context.pattern or "") or any(name.startswith(";") for name in transform.names):
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
