from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.app.pairs_tab import PairWalk
from crawler.lab.near_pairs import NearPair


def pair(number: int) -> NearPair:
    return NearPair(number, number + 100, 3, 0.8, None, "")


PAIRS = [pair(number) for number in range(5)]


def walk_from(at: int, count: int = 5) -> PairWalk:
    return PairWalk(PAIRS[:count], at)


def test_walk_begins_where_nothing_is_labelled() -> None:
    walk = PairWalk()
    walk.begin(PAIRS, lambda one: one.first < 2)
    assert walk.current == PAIRS[2]
    walk.begin(PAIRS, lambda _: True)
    assert walk.current == PAIRS[0]
    walk.begin([], lambda _: False)
    assert walk.current is None


def test_steps_through_nothing_go_nowhere() -> None:
    walk = PairWalk()
    assert not walk.step(1)
    assert not walk.step(-1)
    assert not walk.go_on(lambda _: False)
    assert walk.current is None


def test_next_unlabelled_is_looked_for_round_past_the_end() -> None:
    walk = walk_from(3)
    assert walk.go_on(lambda one: one.first in (3, 4, 0))
    assert walk.at == 1


def test_pairs_are_added_once() -> None:
    walk = walk_from(1, count=3)
    assert walk.add(PAIRS) == 2
    assert walk.pairs == PAIRS
    assert walk.at == 1


def test_pair_is_found_by_its_places() -> None:
    walk = walk_from(0)
    assert walk.go_to(4, 104)
    assert walk.at == 4
    assert not walk.go_to(4, 105)
    assert walk.at == 4


class TestWalkProperties:
    @given(st.sets(st.integers(0, 4)), st.integers(0, 4))
    def test_every_unlabelled_pair_is_met_once(self, labelled: set[int], at: int) -> None:
        walk, said, met = walk_from(at), set(labelled), []
        while walk.go_on(lambda one: one.first in said):
            met.append(walk.at)
            said.add(walk.at)
        wanted = set(range(5)) - labelled
        # What is looked at comes again when the others are done, if there are others.
        assert sorted(met) == ([] if wanted == {at} else sorted(wanted))
