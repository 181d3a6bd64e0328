"""Write transforms as JSON, and read them back."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from crawler.url_rules.learning.template import Template
from crawler.url_rules.learning.transforms import (
    DropArguments,
    LowerPath,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    Rewrite,
)

if TYPE_CHECKING:
    from crawler.url_rules.learning.transforms import Transform

_KINDS: dict[str, type[Any]] = {
    "drop arguments": DropArguments,
    "replace values": ReplaceValues,
    "replace segments": ReplaceSegments,
    "lower path": LowerPath,
    "replace host": ReplaceHost,
    "rewrite": Rewrite,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


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
