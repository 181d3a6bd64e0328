"""Types of the arguments of compiled loops."""

from typing import Any, TypeAlias

from numba import types

from neardup.evaluation.judging import Bounds, Columns, Containers, Near, Verdicts
from neardup.evaluation.near_arrays import Lists, Members, NearClasses
from neardup.evaluation.shingle_sets import SetArrays

Int: TypeAlias = Any
"""An integer of 64 bits, as numba infers it."""

_named: Any = types.NamedTuple


def _array(kind: Any) -> Any:
    """Return the type of an array of one dimension, in one piece."""
    return types.Array(kind, 1, "C")


BOOLS, BYTES = _array(types.boolean), _array(types.uint8)
INTS16, INTS32, INTS64 = _array(types.int16), _array(types.int32), _array(types.int64)
WORDS64 = _array(types.uint64)
FLOATS32, FLOATS64 = _array(types.float32), _array(types.float64)

SETS = _named((WORDS64, INTS64, INTS32, INTS64, INTS32), SetArrays)
LISTS = _named((INTS64, INTS32, BYTES, FLOATS64, BOOLS), Lists)
MEMBERS = _named(
    (INTS32, INTS32, INTS32, INTS32, FLOATS64, INTS32, INTS32, INTS32, INTS32), Members
)
NEAR_CLASSES = _named((INTS32, INTS64, INTS64, BYTES), NearClasses)
CONTAINERS = _named((INTS64, INTS32, BOOLS, FLOATS64), Containers)
NEAR = _named((MEMBERS, LISTS, LISTS, WORDS64, FLOATS64, FLOATS64, CONTAINERS), Near)
COLUMNS = _named((INTS32, INTS32, INTS32, BOOLS, BOOLS), Columns)
_SWITCHES = (types.boolean,) * 3
BOUNDS = _named((types.int64, types.int64, types.boolean, types.float64, *_SWITCHES), Bounds)
VERDICTS = _named((BOOLS, INTS64, INTS16, FLOATS32, BYTES, INTS64), Verdicts)
