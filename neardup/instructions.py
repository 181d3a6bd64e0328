"""Instructions that numba lacks: memory by its address, sixteen rows at once, long products.

They are of use inside functions that ``from neardup.compiled import compiled`` compiles, and only
there. LLVM turns them into what the processor has, AVX-512 or plain loops. The addresses come from
arrays that the caller must keep alive: numba would take 0.1 microseconds to unpack each of a
hundred arrays, at every call.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

P = ParamSpec("P")
R = TypeVar("R")

_function: Any = cgutils.get_or_insert_function

LANES = 16
"""The number of rows that are compared at once; arrays end with this many rows to spare."""


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function as a part of the compiled functions that call it, and of them only.

    Parts are not cached one by one: to load each would take 20 milliseconds. Nor has a part what
    Python or C would need to call it, a fifth of the time to compile it.
    """
    options: Any = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("Callable[P, R]", numba.njit(**options)(function))


def _loader(bits: int, result: Any) -> Any:
    """Return ``load(address, index)``, which reads an element of ``bits`` bits."""

    def load(_typing: Any, _address: Any, _index: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            base = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
            value = builder.load(builder.gep(base, [arguments[1]]), align=1)
            return value if bits == 64 else builder.zext(value, ir.IntType(64))

        return result(types.int64, types.int64), generate

    return intrinsic(load)


def _storer(bits: int) -> Any:
    """Return ``store(address, index, value)``, which writes an element of ``bits`` bits."""

    def store(_typing: Any, _address: Any, _index: Any, _value: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            number = ir.IntType(bits)
            base = builder.inttoptr(arguments[0], number.as_pointer())
            value = arguments[2] if bits == 64 else builder.trunc(arguments[2], number)
            builder.store(value, builder.gep(base, [arguments[1]]), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), generate

    return intrinsic(store)


def _comparer(bits: int) -> Any:
    """Return ``near(address, value, radius)``: which of 16 elements are near, a bit each."""

    def near(_typing: Any, _address: Any, _value: Any, _radius: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            address, value, radius = arguments
            return _near_bits(builder, _distances(builder, address, value, bits), radius)

        return types.int64(types.int64, types.uint64, types.int64), generate

    return intrinsic(near)


def _comparer_of_halves() -> Any:
    """Return ``near(high, low, value, radius)``, where an element is 32 bits and 16 elsewhere."""

    def near(_typing: Any, _high: Any, _low: Any, _value: Any, _radius: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            high, low, value, radius = arguments
            upper = _distances(builder, high, builder.lshr(value, ir.IntType(64)(16)), 32)
            lower = builder.zext(_distances(builder, low, value, 16), upper.type)
            return _near_bits(builder, builder.add(upper, lower), radius)

        return types.int64(types.int64, types.int64, types.uint64, types.int64), generate

    return intrinsic(near)


def _distances(builder: Any, address: Any, value: Any, bits: int) -> Any:
    """Return a vector of the distances of 16 elements of memory from a value."""
    vector = ir.VectorType(ir.IntType(bits), LANES)
    rows = builder.load(builder.inttoptr(address, vector.as_pointer()), align=1)
    kind = ir.FunctionType(vector, [vector])
    count = _function(builder.module, kind, f"llvm.ctpop.v{LANES}i{bits}")
    return builder.call(count, [builder.xor(rows, _repeated(builder, value, vector))])


def _near_bits(builder: Any, distances: Any, radius: Any) -> Any:
    hits = builder.icmp_signed("<=", distances, _repeated(builder, radius, distances.type))
    return builder.zext(builder.bitcast(hits, ir.IntType(LANES)), ir.IntType(64))


def _repeated(builder: Any, value: Any, vector: Any) -> Any:
    if vector.element.width < 64:
        value = builder.trunc(value, vector.element)
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.IntType(32)(0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, places)


def _prefetch(_typing: Any, _address: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number = ir.IntType(32)
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        fetch = _function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def _set_bits(_typing: Any, _value: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _high_half(_typing: Any, _first: Any, _second: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        first, second = (builder.zext(one, wide) for one in arguments)
        product = builder.lshr(builder.mul(first, second), wide(64))
        return builder.trunc(product, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


def _lowest_bit(_typing: Any, _value: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.int64(types.int64), generate


load_u8 = _loader(8, types.int64)
load_u16 = _loader(16, types.uint64)
load_u32 = _loader(32, types.uint64)
load_u64 = _loader(64, types.uint64)
load_i64 = _loader(64, types.int64)
load_place = _loader(32, types.int64)
store_u8 = _storer(8)
store_i64 = _storer(64)
near_u32 = _comparer(32)
near_u64 = _comparer(64)
near_u48 = _comparer_of_halves()
prefetch: Any = intrinsic(_prefetch)
set_bits: Any = intrinsic(_set_bits)
high_half: Any = intrinsic(_high_half)
lowest_bit: Any = intrinsic(_lowest_bit)
