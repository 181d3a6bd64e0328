"""Whether a value has the type that an annotation promises: for what was read from a file."""

from __future__ import annotations

from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def has_shape(value: object, shape: Any) -> bool:
    """Whether a value is of a type: a plain one, a union, tuple or frozen set, a dataclass.

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
    """The fields of a dataclass that hold something of another type."""
    hints = get_type_hints(type(instance))
    return [name for name, hint in hints.items() if not has_shape(getattr(instance, name), hint)]


def _has_items(values: tuple[object, ...], shapes: tuple[Any, ...]) -> bool:
    if len(shapes) == 2 and shapes[1] is Ellipsis:
        return all(has_shape(value, shapes[0]) for value in values)
    return len(values) == len(shapes) and all(map(has_shape, values, shapes))
