from hypothesis import given
from hypothesis import strategies as st

from neardup import hamming
from neardup.evaluation.metrics import near_pairs

FINGERPRINTS = st.dictionaries(st.integers(0, 99), st.integers(0, 2**12 - 1), max_size=25)


@given(FINGERPRINTS, st.integers(0, 8))
def test_every_near_pair_is_found_once_and_in_order(
    fingerprints: dict[int, int], radius: int
) -> None:
    values = list(fingerprints.values())
    expected = sorted(
        (later, distance, earlier)
        for later in range(len(values))
        for earlier in range(later)
        if (distance := hamming(values[later], values[earlier])) <= radius
    )
    found = near_pairs(fingerprints, radius)
    rows = zip(found.later.tolist(), found.distances.tolist(), found.earlier.tolist(), strict=True)
    assert list(rows) == expected
