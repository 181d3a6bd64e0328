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

from crawler.commands.adopt import AdoptCommand
from crawler.commands.compare import CompareCommand
from crawler.commands.fleet import FleetCommand
from crawler.commands.lab import ServeLabCommand
from crawler.commands.links import LinksCommand
from crawler.commands.merge import MergeCommand
from crawler.commands.pages import PagesCommand
from crawler.commands.pairs import PairsCommand
from crawler.commands.rejudge import RejudgeCommand
from crawler.commands.report import ReportCommand
from crawler.commands.rules import RulesCommand
from crawler.commands.sweep import SweepCommand
from crawler.commands.tune import TuneCommand
from crawler.commands.verify import VerifyCommand
from crawler.commands.watch import WatchCommand
from crawler.console.command_line import end_in_one_line
from crawler.console.scrapy_adapter import adapted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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


Adopt = adapted(AdoptCommand)
Compare = adapted(CompareCommand)
Fleet = adapted(FleetCommand)
Lab = adapted(ServeLabCommand)
Links = adapted(LinksCommand)
Merge = adapted(MergeCommand)
Pages = adapted(PagesCommand)
Pairs = adapted(PairsCommand)
Rejudge = adapted(RejudgeCommand)
Report = adapted(ReportCommand)
Rules = adapted(RulesCommand)
Sweep = adapted(SweepCommand)
Tune = adapted(TuneCommand)
Verify = adapted(VerifyCommand)
Watch = adapted(WatchCommand)

prepare_scrapy(sys.argv)
