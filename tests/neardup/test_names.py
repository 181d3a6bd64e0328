"""The names of the package, loaded when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import neardup


def test_every_public_name_is_there_and_no_other() -> None:
    for name in neardup.__all__:
        assert getattr(neardup, name) is not None
    assert set(neardup.__all__) <= set(dir(neardup))
    with pytest.raises(AttributeError, match="module 'neardup' has no attribute 'nonsense'"):
        _ = neardup.nonsense  # type: ignore[attr-defined]


def test_importing_the_package_loads_nothing_else() -> None:
    program = "import sys, neardup; assert 'numpy' not in sys.modules; neardup.tokens('a b')"
    subprocess.run([sys.executable, "-c", program], check=True)
