import numpy as np

from neardup.features.hashing import mix


def test_mix_keeps_values_apart() -> None:
    assert len(np.unique(mix(np.arange(100_000, dtype=np.uint64)))) == 100_000
