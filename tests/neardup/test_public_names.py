import doctest
import inspect
import subprocess
import sys

import pytest

import neardup
from neardup import errors


@pytest.mark.parametrize("name", neardup.__all__)
def test_every_public_name_is_explained_with_its_public_methods(name: str) -> None:
    value = getattr(neardup, name)
    assert inspect.getdoc(value)
    unexplained = [
        method
        for method, function in inspect.getmembers(value, inspect.isfunction)
        if not method.startswith("_") and not inspect.getdoc(function)
    ]
    assert unexplained == []


def test_the_names_are_sorted_and_whole() -> None:
    assert neardup.__all__ == sorted(neardup.__all__)
    assert set(neardup.__all__) <= set(dir(neardup))
    with pytest.raises(AttributeError, match="module 'neardup' has no attribute 'nonsense'"):
        _ = neardup.nonsense  # type: ignore[attr-defined]
    raised = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert raised <= set(neardup.__all__)


def test_importing_the_package_loads_nothing_else() -> None:
    program = "import sys, neardup; assert 'numpy' not in sys.modules; neardup.tokens('a b')"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", sorted(vars(errors).keys() & set(neardup.__all__)))
def test_every_error_stands_in_the_drawn_tree(name: str) -> None:
    assert issubclass(getattr(errors, name), errors.NearDupError)
    assert f"{name} " in f"{errors.__doc__}".replace("\n", " ")


def test_the_example_of_the_package_is_true() -> None:
    assert doctest.testmod(neardup).attempted > 0
    assert doctest.testmod(neardup).failed == 0
