import doctest
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import neardup
from neardup import errors

PAGE = (Path(__file__).parents[2] / "docs" / "neardup.md").read_text(encoding="utf-8")
DOCUMENTED = [
    *(("neardup", name) for name in neardup.__all__),
    *(
        (module, name)
        for module, names in re.findall(r"^\| `(neardup[.\w]+)` \| (.*) \|$", PAGE, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    ),
]


@pytest.mark.parametrize(("module", "name"), DOCUMENTED)
def test_every_documented_name_is_explained_with_its_public_methods(module: str, name: str) -> None:
    value = getattr(import_module(module), name)
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


def test_the_page_of_names_has_all_errors_and_the_names_of_the_package() -> None:
    raised = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert raised <= {name for _, name in DOCUMENTED}
    assert set(neardup.__all__) <= set(re.findall(r"`(\w+)`", PAGE))


def test_the_examples_of_the_page_print_what_they_say() -> None:
    blocks = re.findall(r"```\w*\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 12
    for source, printed in zip(blocks[::2], blocks[1::2], strict=True):
        done = subprocess.run(
            [sys.executable, "-c", source], capture_output=True, text=True, check=True
        )
        assert done.stdout == printed


def test_importing_the_package_loads_nothing_else() -> None:
    program = "import sys, neardup; assert 'numpy' not in sys.modules; neardup.tokens('a b')"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "name", sorted(name for name, value in vars(errors).items() if inspect.isclass(value))
)
def test_every_error_stands_in_the_drawn_tree(name: str) -> None:
    assert issubclass(getattr(errors, name), errors.NearDupError)
    assert f"{name} " in f"{errors.__doc__}".replace("\n", " ")


def test_the_example_of_the_package_is_true() -> None:
    assert doctest.testmod(neardup).attempted > 0
    assert doctest.testmod(neardup).failed == 0
