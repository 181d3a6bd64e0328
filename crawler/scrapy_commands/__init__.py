"""Define what ``scrapy`` has of our commands.

Those of this module are in every project where crawl-once is installed, by its entry points. The
modules beside it hold those of our own project, which ``COMMANDS_MODULE`` names.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING

from crawler.program import command_names, end_in_one_line, load_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.commands import ScrapyCommand


def prepare_scrapy(argv: Sequence[str]) -> None:
    """End in one line at Ctrl-C, and name the command that may have been meant.

    Programs of others that import a command are left alone.
    """
    program = PurePath(argv[0]) if argv else PurePath()
    if program.stem != "scrapy" and program.parts[-2:] != ("scrapy", "__main__.py"):
        return
    end_in_one_line("scrapy")
    name = next((word for word in argv[1:] if not word.startswith("-")), "")
    if name and name not in (known := frozenset(_commands())):
        from crawler.console.escaping import say
        from crawler.suggestions import did_you_mean

        if hint := did_you_mean(name, sorted(known)):
            say(f"scrapy {name}: no such command{hint}", to_stderr=True)


def _commands() -> Iterator[str]:
    """Yield the names of all commands without importing them."""
    from scrapy.utils.project import get_project_settings

    yield from (found.name for found in entry_points(group="scrapy.commands"))
    for package in ("scrapy.commands", get_project_settings()["COMMANDS_MODULE"]):
        spec = find_spec(package) if package else None
        if spec is not None and spec.submodule_search_locations is not None:
            for module in pkgutil.iter_modules(spec.submodule_search_locations):
                yield module.name


def __getattr__(name: str) -> type[ScrapyCommand]:
    """Return the command that an entry point names: ``Adopt`` is ``crawl-once adopt``."""
    if not name.istitle() or name.lower() not in command_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from crawler.console.scrapy_adapter import adapted

    return adapted(type(load_command(name.lower())))


prepare_scrapy(sys.argv)
