import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import HammingIndex
from neardup.clustering import Cluster, clusters

PAIRS = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), max_size=20)


def plain_clusters(pairs: list[tuple[int, int]]) -> list[set[int]]:
    """Merge sets until none of them touch."""
    groups: list[set[int]] = []
    for pair in pairs:
        touched = [group for group in groups if not group.isdisjoint(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(set(pair).union(*touched))
    return sorted(groups, key=min)


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        ([], []),
        ([(2, 1)], [Cluster(1, (1, 2))]),
        ([(1, 2), (3, 2)], [Cluster(1, (1, 2, 3))]),
        ([(9, 8), (1, 2), (8, 7)], [Cluster(1, (1, 2)), Cluster(7, (7, 8, 9))]),
        ([(1, 2), (2, 1), (1, 2)], [Cluster(1, (1, 2))]),
        ([(5, 5)], [Cluster(5, (5,))]),
        ([(1, 2), (3, 4), (2, 3)], [Cluster(1, (1, 2, 3, 4))]),
    ],
)
def test_pairs_are_joined(pairs: list[tuple[int, int]], found: list[Cluster[int]]) -> None:
    assert clusters(pairs) == found


def test_an_id_that_is_not_equal_to_itself_ends() -> None:
    nan = float("nan")
    (found,) = clusters([(nan, 1.0)])
    assert len(found.members) == 2


def test_ids_may_be_words() -> None:
    assert clusters([("/b", "/a"), ("/c", "/b")]) == [Cluster("/a", ("/a", "/b", "/c"))]


def test_the_order_chooses_the_representative_and_equal_keys_leave_it_to_the_id() -> None:
    lengths = {1: 10, 2: 30, 3: 30, 4: 5, 5: 50}
    found = clusters([(1, 3), (3, 2), (4, 5)], order=lambda member: -lengths[member])
    assert found == [Cluster(5, (5, 4)), Cluster(2, (2, 3, 1))]


def test_a_chain_of_a_hundred_thousand_is_one_cluster() -> None:
    chain = [(number, number + 1) for number in range(100_000)]
    random.Random(0).shuffle(chain)
    assert clusters(chain) == [Cluster(0, tuple(range(100_001)))]


def test_the_answers_of_an_index_are_pairs() -> None:
    index = HammingIndex(radius=1)
    fingerprints = [0b0, 0b1, 0b11, 0b1111 << 60]
    index.add_many(fingerprints, range(4))
    found = index.query_many(fingerprints)
    joined = clusters(zip(found.positions.tolist(), found.ids.tolist(), strict=True))
    assert joined == [Cluster(0, (0, 1, 2)), Cluster(3, (3,))]


class TestClustersProperties:
    @given(PAIRS)
    def test_they_equal_brute_force(self, pairs: list[tuple[int, int]]) -> None:
        found = clusters(pairs)
        assert [set(cluster.members) for cluster in found] == plain_clusters(pairs)
        assert all(cluster.members == tuple(sorted(cluster.members)) for cluster in found)

    @given(PAIRS, st.randoms(use_true_random=False))
    def test_neither_the_order_of_the_pairs_nor_that_within_one_counts(
        self, pairs: list[tuple[int, int]], source: random.Random
    ) -> None:
        turned = [pair[::-1] if source.random() < 0.5 else pair for pair in pairs]
        source.shuffle(turned)
        assert clusters(turned) == clusters(pairs)

    @given(PAIRS, st.dictionaries(st.integers(0, 15), st.integers(0, 3)))
    def test_the_representative_has_the_smallest_key(
        self, pairs: list[tuple[int, int]], keys: dict[int, int]
    ) -> None:
        for cluster in clusters(pairs, order=lambda member: keys.get(member, 9)):
            first = min(cluster.members, key=lambda member: (keys.get(member, 9), member))
            assert cluster.representative == cluster.members[0] == first
