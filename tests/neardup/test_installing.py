"""How what is missing is installed."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from neardup.installing import install_command
from tests.crawls.command import PROJECT


def extras() -> dict[str, list[str]]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    found: dict[str, list[str]] = project["optional-dependencies"]
    return found


@pytest.mark.parametrize(
    "extra", ["documents", "lab", "parquet", "plot", "redis", "render", "spark"]
)
@pytest.mark.parametrize("has_pip", [True, False])
def test_the_command_names_this_python_and_the_packages_of_the_extra(
    monkeypatch: pytest.MonkeyPatch, extra: str, has_pip: bool
) -> None:
    # Python's own way to say that there is no such module, as in an environment that uv made.
    monkeypatch.setitem(sys.modules, "pip", ModuleType("pip") if has_pip else None)
    if has_pip:
        sys.modules["pip"].__spec__ = ModuleSpec("pip", None)
    words = shlex.split(install_command(extra))
    with_pip = [sys.executable, "-m", "pip", "install"]
    begins = with_pip if has_pip else ["uv", "pip", "install", "--python", sys.executable]
    assert words[: len(begins)] == begins
    assert [_name(word) for word in words[len(begins) :]] == list(map(_name, extras()[extra]))


def _name(requirement: str) -> str:
    """Return the name of a package, since its bounds are stored in another order."""
    return re.split(r"[\[<>=]", requirement, maxsplit=1)[0]


def test_an_extra_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="has no extra 'nope'"):
        install_command("nope")
