"""What all commands share: their groups in Scrapy's list, and errors in one line."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise

import pytest
from scrapy.cmdline import ScrapyArgumentParser, _get_commands_dict
from scrapy.commands import ScrapyHelpFormatter
from scrapy.utils.project import get_project_settings

from crawler.console.command_line import GROUPS, Command
from crawler.program import CrawlOnce, command_names
from tests.crawler.commands.in_process import run
from tests.crawls.command import PROJECT

OWN_ALONE = {"corpus", "crawl", "urls", "replay", "config", "completion"}
"""Commands that ``scrapy`` has in another form, or not."""


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == command_names()


def test_scrapys_list_names_the_group_of_each_command() -> None:
    lines = run().stdout.splitlines()
    for group, names in GROUPS.items():
        for name in set(names) - OWN_ALONE:
            (line,) = (line for line in lines if line.startswith(f"  {name} "))
            assert line.split(maxsplit=1)[1].startswith(f"[{group}] ")


def test_help_names_the_commands_of_the_same_group() -> None:
    told = " ".join(run("rejudge", "--help").stdout.split())
    assert f"Commands of the group crawl directory: {', '.join(GROUPS['crawl directory'])}." in told
    assert "[crawl directory]" not in told


_WORDS = (
    "crawler crawler.console crawler.console.command_line crawler.commands.crawl"
    " crawler.console.escaping crawler.console.lab_options crawler.console.options neardup.plurals"
    " crawler.console.profile crawler.program crawler.console.progress"
    " crawler.console.scrapy_adapter"
    " crawler.scrapy_commands crawler.commands.crawl"
    " crawler.frontier crawler.frontier.redis crawler.mirror crawler.mirror.errors"
    " crawler.spiders crawler.spiders.argument_table"
    " crawler.storage crawler.storage.errors crawler.suggestions"
    " neardup neardup.errors neardup.installing"
).split()
"""Modules of ours that the list of commands needs: the words of each, and its errors."""

_LATER = (
    "filelock matplotlib nicegui numpy pandas pyarrow redis requests rich sqlite3 tldextract"
    " trafilatura warcio zstandard"
).split()
"""Modules that the list of commands does without."""


def modules_of(*words: str) -> set[str]:
    """Return the modules that are imported when a command has ended."""
    program = (
        "import sys; from scrapy.cmdline import execute\n"
        f"try: execute(['scrapy', *{words!r}])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_the_list_of_commands_imports_no_more_than_their_words() -> None:
    loaded = modules_of()
    ours = {name for name in loaded if name.partition(".")[0] in {"crawler", "neardup"}}
    assert "crawler.commands.sweep" in ours
    commands = ("crawler.commands", "crawler.scrapy_commands")
    assert {name for name in ours if not name.startswith(commands)} <= set(_WORDS)
    assert not loaded & set(_LATER)


def modules_of_our_program(*words: str) -> set[str]:
    """Return the modules that are imported when a command of ``crawl-once`` has ended."""
    program = (
        "import sys; from crawler.program import main\n"
        f"try: main({words!r})\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["crawl", "--help"],
        ["mirror", "--help"],
        ["reprot"],
        ["report", "nope"],
        ["https://example.com/", "--scope", "hots"],
        ["https://example.com/", "--max-pages", "many"],
        ["https://example.com/", "--nonsense"],
        ["ftp://example.com/"],
        ["https://example.com/", "--cookies", "absent"],
        ["https://example.com/", "--deny", "("],
        ["urls", "absent"],
        ["replay", "absent"],
        ["verify", "absent"],
        ["rejudge", "absent"],
        ["merge", "absent"],
        ["adopt", "absent"],
        ["compare", "absent"],
        ["watch"],
        ["watch", "absent"],
        ["watch", "tests", "--every", "soon"],
    ],
)
def test_help_and_errors_of_our_program_do_not_wait_for_scrapy(words: list[str]) -> None:
    loaded = modules_of_our_program(*words)
    assert "crawler.program" in loaded
    assert not loaded & {"scrapy", "twisted", *_LATER} - {"sqlite3", "zstandard"}


@pytest.mark.parametrize("command", ["pages", "sweep", "pairs", "lab"])
def test_a_missing_directory_is_told_before_pages_are_read(command: str) -> None:
    loaded = modules_of_our_program(command, "absent")
    assert "crawler.console.options" in loaded
    assert not loaded & {"scrapy", "twisted", "nicegui", "trafilatura", "filelock"}


def test_what_a_start_does_not_import_exists() -> None:
    assert all(find_spec(name) for name in _LATER)


class _Failing(Command):
    """Raises an error of the system."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("Unexpected end of stream"), "Unexpected end of stream"),
        (TimeoutError(), "TimeoutError"),
        (FileNotFoundError(2, "No such file", "there"), "there: No such file"),
        (OSError(28, "No space left on device"), "standard output: No space left on device"),
    ],
)
def test_an_error_of_the_system_is_told_in_its_words(
    error: OSError, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    command = _Failing(error)
    command.host = CrawlOnce(argparse.Namespace())
    command.run([], argparse.Namespace())
    assert command.exitcode == (1 if error.errno == 28 else 2)
    assert capfd.readouterr().err.endswith(f": {words}\n")


@pytest.mark.parametrize("command", ["verify", "report", "merge", "adopt", "tune", "fleet"])
def test_an_unknown_option_is_refused_with_the_one_that_was_meant(command: str) -> None:
    done = run(command, "somewhere", "--loglevl=DEBUG")
    assert done.returncode == 2
    assert done.stderr.startswith(f"scrapy {command}: unknown option --loglevl=DEBUG")
    assert "--loglevel" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("columns", [50, 80, 81, 97, 120])
def test_headings_alone_are_underlined_in_help(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrapy underlines each line that ends in a colon, of an option too."""
    monkeypatch.setenv("COLUMNS", str(columns))
    commands = _get_commands_dict(get_project_settings(), True)
    ours = {
        name: command
        for name, command in commands.items()
        if type(command).__module__.startswith("crawler.")
    }
    assert {"crawl", "mirror", "report"} <= set(ours)
    for name, command in ours.items():
        parser = ScrapyArgumentParser(
            formatter_class=ScrapyHelpFormatter,
            usage=f"scrapy {name} {command.syntax()}",
            conflict_handler="resolve",
            description=command.long_desc(),
        )
        command.settings = get_project_settings()
        command.add_options(parser)
        lines = parser.format_help().splitlines()
        underlined = [before for before, line in pairwise(lines) if line and not line.strip("=-")]
        assert "Options" in underlined
        assert not [line for line in underlined if line != line.strip()], name
