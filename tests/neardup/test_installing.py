"""How what is missing is installed."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib

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
def test_the_command_names_this_python_and_the_packages_of_the_extra(extra: str) -> None:
    python, *words = shlex.split(install_command(extra))
    assert python == sys.executable
    assert words[:3] == ["-m", "pip", "install"]
    assert [_name(word) for word in words[3:]] == [_name(line) for line in extras()[extra]]


def _name(requirement: str) -> str:
    """Return the name of a package, since its bounds are stored in another order."""
    return re.split(r"[\[<>=]", requirement, maxsplit=1)[0]


def test_an_extra_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="has no extra 'nope'"):
        install_command("nope")
