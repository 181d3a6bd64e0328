"""Clusters: what hangs together through pairs."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Cluster(Generic[Id]):
    """Ids that pairs connect, directly or through others.

    Attributes:
        representative: The first of its members by the stated order.
        members: All of them, the representative first, in that order.
    """

    representative: Id
    members: tuple[Id, ...]


def clusters(
    pairs: Iterable[tuple[Id, Id]], *, order: Callable[[Id], Any] | None = None
) -> list[Cluster[Id]]:
    """Join pairs into clusters, the same ones for every order of the pairs.

    A chain is one cluster: where a resembles b and b resembles c, all three are in it, however
    little a and c share. Verdicts of a deduplicator, which names originals, make no chains.

    Args:
        pairs: Ids that belong together, in either order, repeated or not; an id paired with
            itself is in a cluster, if need be of its own. Ids are of one type that has an order.
        order: A key as ``sorted`` takes it; the member with the smallest represents its cluster,
            and of equal keys the smallest id. None: the smallest id.

    Returns:
        The clusters, ordered as their representatives are.

    Complexity: O(pairs * a) to join, where a, the inverse of Ackermann's function, is below 5,
    and O(n log n) to put n ids in order.
    Reference: Tarjan, van Leeuwen, Worst-case analysis of set union algorithms, JACM 1984 (union
    by size, path halving).
    """
    numbers: dict[Id, int] = {}
    forest = _Forest()
    for first, second in pairs:
        forest.join(_number(numbers, first, forest), _number(numbers, second, forest))
    groups: defaultdict[int, list[Id]] = defaultdict(list)
    # Sorted once, as a whole: groups and their members then come in order by themselves.
    for member in _ordered(numbers, order):
        groups[forest.root(numbers[member])].append(member)
    return [Cluster(members[0], tuple(members)) for members in groups.values()]


def _number(numbers: dict[Id, int], member: Id, forest: "_Forest") -> int:
    number = numbers.get(member)
    if number is None:
        number = numbers[member] = forest.grow()
    return number


def _ordered(ids: Iterable[Any], order: Callable[[Any], Any] | None) -> list[Any]:
    by_id = sorted(ids)
    if order is not None:
        # Stable, so equal keys stay ordered by id.
        by_id.sort(key=order)
    return by_id


class _Forest:
    """Disjoint sets of 0, 1, 2, ... as trees."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._sizes: list[int] = []

    def grow(self) -> int:
        """Add a set of one and return its number."""
        self._parents.append(len(self._parents))
        self._sizes.append(1)
        return len(self._parents) - 1

    def root(self, number: int) -> int:
        """Return the number that stands for the whole set."""
        parents = self._parents
        while parents[number] != number:
            # Path halving: every second step leads to the grandparent from now on.
            parents[number] = number = parents[parents[number]]
        return number

    def join(self, first: int, second: int) -> None:
        """Make one set of two, the smaller below the larger."""
        small, large = sorted((self.root(first), self.root(second)), key=self._sizes.__getitem__)
        if small != large:
            self._parents[small] = large
            self._sizes[large] += self._sizes[small]
