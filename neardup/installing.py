"""Start the Python that runs, and say how what it misses is installed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

DISTRIBUTION = "crawl-once"


def install_command(extra: str) -> str:
    """Return a command that installs what an extra needs.

    It names the packages themselves, and the Python that misses them, so that it works in a
    checkout, in an environment of ``pip``, ``pipx`` or ``uv`` alike.

    Raises:
        ValueError: There is no such extra.
    """
    try:
        listed = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # a copy of the files, installed by nothing
        return f"pip install '{DISTRIBUTION}[{extra}]'"
    parted = (line.partition(";") for line in listed)
    packages = [name.strip() for name, _, marker in parted if f'extra == "{extra}"' in marker]
    if not packages:
        raise ValueError(f"{DISTRIBUTION} has no extra {extra!r}")
    if find_spec("pip") is None:  # as in the environments that uv makes
        return shlex.join(["uv", "pip", "install", "--python", sys.executable, *packages])
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])


def start_python(words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start this Python in a process that finds the modules that this one finds.

    All processes of ours are started here, since Python by itself takes modules from the working
    folder first, which may be anybody's.

    Args:
        words: The arguments, such as ``-m`` and a module.
        options: Those of ``subprocess.Popen``.
    """
    known = os.pathsep.join(filter(None, sys.path))  # an empty entry is the working folder
    safe = {"PYTHONSAFEPATH": "1", "PYTHONPATH": known}
    env = {**os.environ, **options.pop("env", {}), **safe}
    return subprocess.Popen([sys.executable, "-P", *words], env=env, **options)  # noqa: S603
