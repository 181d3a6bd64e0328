"""An array that grows."""

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


class Column(Generic[T]):
    """Values in one piece of memory; behind ``count`` of them ``room`` is free to be written.

    Args:
        dtype: The type of the values.
        shape: The shape of each, where it is an array itself.
    """

    def __init__(self, dtype: type[T], *shape: int) -> None:
        self.count = 0
        self.room: NDArray[T] = np.empty((0, *shape), dtype)

    @property
    def values(self) -> NDArray[T]:
        """The values, as a view that the next growth may leave behind."""
        return self.room[: self.count]

    def provide(self, more: int) -> None:
        """Provide room for ``more`` further values; amortised O(1) for each."""
        wanted = self.count + more
        if wanted > len(self.room):
            length = max(wanted, len(self.room) * 3 // 2, 1024)
            grown = np.empty((length, *self.room.shape[1:]), self.room.dtype)
            grown[: self.count] = self.values
            self.room = grown

    def extend(self, values: Any) -> None:
        self.provide(len(values))
        self.room[self.count : self.count + len(values)] = values
        self.count += len(values)

    def fill(self, count: int, value: Any) -> None:
        """Hold ``count`` values, those that are new all the same."""
        if count > self.count:
            self.provide(count - self.count)
            self.room[self.count : count] = value
            self.count = count


def column_bytes(holder: object) -> int:
    """Return the bytes of memory that an object's columns set aside."""
    columns = (value for value in vars(holder).values() if isinstance(value, Column))
    return sum(column.room.nbytes for column in columns)
