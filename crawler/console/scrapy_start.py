"""Prepare the program ``scrapy`` when it looks for its commands, before these are imported.

Scrapy's own entry point starts it and has no hook for either of both: Ctrl-C while the commands are
imported, which takes half a second, and a command that there is not.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

_INTERRUPTED = 130


def prepare_scrapy(argv: Sequence[str]) -> None:
    """End in one line at Ctrl-C, and name the command that may have been meant.

    Programs of others that import a command are left alone.
    """
    program = PurePath(argv[0]) if argv else PurePath()
    if program.stem != "scrapy" and program.parts[-2:] != ("scrapy", "__main__.py"):
        return
    sys.excepthook = _end
    name = next((word for word in argv[1:] if not word.startswith("-")), "")
    if name and name not in (known := frozenset(_commands())):
        from crawler.console.escaping import say  # noqa: PLC0415
        from crawler.suggestions import did_you_mean  # noqa: PLC0415

        if hint := did_you_mean(name, sorted(known)):
            say(f"scrapy {name}: no such command{hint}", to_stderr=True)


def _end(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print what ended the program: of Ctrl-C one line, of an error its traceback."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    sys.stderr.write("scrapy: interrupted\n")
    sys.exit(_INTERRUPTED)


def _commands() -> Iterator[str]:
    """Yield the names of all commands without importing them."""
    from scrapy.utils.project import get_project_settings  # noqa: PLC0415

    yield from (found.name for found in entry_points(group="scrapy.commands"))
    for package in ("scrapy.commands", get_project_settings()["COMMANDS_MODULE"]):
        spec = find_spec(package) if package else None
        if spec is not None and spec.submodule_search_locations is not None:
            for module in pkgutil.iter_modules(spec.submodule_search_locations):
                yield module.name
