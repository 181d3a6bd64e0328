import numpy as np
import pytest

from neardup.checks import checked_whole
from neardup.errors import ParameterError


@pytest.mark.parametrize("value", [0, 10, 1.5, True, None, "a", np.False_, np.array([1, 2])])
def test_a_setting_out_of_range_is_named(value: int) -> None:
    with pytest.raises(ParameterError) as caught:
        checked_whole("size", value, 1, 9)
    assert str(caught.value) == f"size must be 1..9, got {value!r}"


def test_a_number_of_numpy_becomes_an_int() -> None:
    found = checked_whole("size", np.int8(9), 1, 9)
    assert (found, type(found)) == (9, int)
