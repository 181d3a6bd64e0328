"""What all commands share: their groups in Scrapy's list, and errors in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

import crawler.commands
from crawler.console.command_line import GROUPS
from tests.crawler.commands.in_process import run

ALONE = {"crawl", "demo", "fleet", "mirror"}


def test_every_command_is_in_one_group_or_stands_alone() -> None:
    (folder,) = crawler.commands.__path__
    modules = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"}
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted([*grouped, *ALONE]) == sorted(modules)


def test_scrapys_list_names_the_group_of_each_command() -> None:
    lines = run().stdout.splitlines()
    for group, names in GROUPS.items():
        for name in names:
            (line,) = (line for line in lines if line.startswith(f"  {name} "))
            assert line.split(maxsplit=1)[1].startswith(f"[{group}] ")


def test_help_names_the_commands_of_the_same_group() -> None:
    told = " ".join(run("rejudge", "--help").stdout.split())
    assert f"Commands of the group crawl directory: {', '.join(GROUPS['crawl directory'])}." in told
    assert "[crawl directory]" not in told


@pytest.mark.parametrize("command", ["verify", "report", "merge", "adopt", "tune", "fleet"])
def test_an_unknown_option_is_refused_with_the_one_that_was_meant(command: str) -> None:
    done = run(command, "somewhere", "--loglevl=DEBUG")
    assert done.returncode == 2
    assert done.stderr.startswith(f"scrapy {command}: unknown option --loglevl=DEBUG")
    assert "--loglevel" in done.stderr
    assert done.stderr.count("\n") == 1
