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
    parents: dict[Id, Id] = {}
    sizes: dict[Id, int] = {}
    for pair in pairs:
        small, large = sorted(
            (_root(parents, member) for member in pair), key=lambda root: sizes.get(root, 1)
        )
        if small != large:
            parents[small] = large
            sizes[large] = sizes.get(large, 1) + sizes.get(small, 1)
    groups: defaultdict[Id, list[Id]] = defaultdict(list)
    # Sorted once, as a whole: groups and their members then come in order by themselves.
    for member in _ordered(parents, order):
        groups[_root(parents, member)].append(member)
    return [Cluster(members[0], tuple(members)) for members in groups.values()]


def _root(parents: dict[Id, Id], member: Id) -> Id:
    """Return the member that stands for the whole set; an unknown one becomes a set of its own."""
    above = parents.setdefault(member, member)
    while above is not member and above != member:
        # Path halving: every second step leads to the grandparent from now on.
        parents[member] = member = parents[above]
        above = parents[member]
    return member


def _ordered(ids: Iterable[Any], order: Callable[[Any], Any] | None) -> list[Any]:
    by_id = sorted(ids)
    if order is not None:
        # Stable, so equal keys stay ordered by id.
        by_id.sort(key=order)
    return by_id
