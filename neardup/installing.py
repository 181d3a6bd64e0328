"""Say how what is missing is installed."""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires

DISTRIBUTION = "crawl-once"


def install_command(extra: str) -> str:
    """Return a command that installs what an extra needs.

    It names the packages themselves, and the Python that misses them, so that it works in a
    checkout, in an environment of ``pip`` and in one of ``pipx`` alike.

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
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])
