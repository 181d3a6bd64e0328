"""``crawl-once``: which command is meant, what its options become, and what a user is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from crawler.commands.crawl import SpiderCommand
from crawler.program import CrawlOnce, command_names, load_command, main, make_parser
from crawler.spiders.argument_table import MIRROR, REPLAY, SITE, URLS
from crawler.spiders.mirror import MirrorSpider
from crawler.spiders.replay import ReplaySpider
from crawler.spiders.site import SiteSpider
from crawler.spiders.urls import UrlsSpider

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def errors_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    return said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("reprot crawls/x", "crawl-once: no command 'reprot'; did you mean report?"),
        ("mirorr http://a.example/", "no command 'mirorr'; did you mean mirror?"),
        ("config -L nois", "--loglevel nois: no such level; there are DEBUG, INFO"),
        ("example.com", "crawl-once: no command 'example.com'; did you mean https://example.com?"),
        (
            "mirror 127.0.0.1:8721 m6",
            "a URL is needed, got 127.0.0.1:8721; did you mean http://127.0.0.1:8721?",
        ),
        ("replay nofile", "crawl-once replay: nofile: No such file or directory"),
        ("urls nofile", "crawl-once urls: nofile: No such file or directory"),
        ("http://a.example/ --max-pages=-1", "must be a whole number above 0, got '-1'"),
        ("http://a.example/ --max-depth=-1", "must be a whole number of at least 0, got '-1'"),
        ("sweep . --min-similarity 0.9..0.6", "the smaller one comes first: 0.6..0.9"),
        ("sweep . --max-distance 6..2", "the smaller one comes first: 2..6"),
        ("localhost:8000/a", "did you mean http://localhost:8000/a?"),
        ("xyzzyx", "crawl-once: no command 'xyzzyx'; see crawl-once --help"),
        ("crawl", "crawl-once crawl: a URL is needed; try: crawl-once https://"),
        (
            "crawl example.com",
            "a URL is needed, got example.com; did you mean https://example.com?",
        ),
        (
            "http://a.example/ --scope hots",
            "--scope must be prefix, host or domain, got 'hots'; did",
        ),
        (
            "http://a.example/ --max-pages ten",
            "--max-pages must be a whole number above 0, got 'ten'",
        ),
        ("http://a.example/ --max-pags 10", "unknown option --max-pags; did you mean --max-pages?"),
        ("http://a.example/ one two", "one directory or none is needed, got one two"),
        ("http://a.example/ -a scop=host", "unknown argument --scop; did you mean scope?"),
        ("http://a.example/ -a scope", "NAME=VALUE is needed after -a, got scope"),
        ("http://a.example/ --allow (", "'('"),
        ("http://a.example/ --config x.toml", "--config x.toml: No such file or directory"),
        ("http://a.example/ -o pages.jsno", "pages.jsno: its ending names no format; did you mean"),
        ("http://a.example/ -s NEARDUP_MAX_DISTANC=3", "unknown setting NEARDUP_MAX_DISTANC; did"),
        ("urls", "FILE is missing; try: crawl-once urls FILE"),
        ("urls absent.txt", "absent.txt: No such file or directory"),
        ("replay", "WARC is missing"),
        ("mirror", "a URL is needed; try: crawl-once mirror https://"),
        ("mirror http://a.example/ x y", "one directory or none is needed"),
        ("mirror check", "the directory of one mirror is needed, got none"),
        ("mirror --check x", "crawl-once mirror: unknown option --check; did you mean check?"),
        ("report", "one crawl directory is needed, got none"),
        ("report a b", "one crawl directory is needed, got a b"),
        ("report a", "crawl-once report: a: no such directory"),
        ("links http://a.example/", "a crawl directory is needed, got http://a.example/; crawl it"),
        ("verify http://a.example/", "crawl it first: crawl-once http://a.example/ DIR"),
        ("lab http://a.example/", "crawl it first: crawl-once http://a.example/ DIR"),
        ("sweep a http://a.example/", "crawl it first: crawl-once http://a.example/ DIR"),
        ("merge a http://a.example/ b", "crawl it first: crawl-once http://a.example/ DIR"),
        ("adopt http://a.example/ b", "crawl it first: crawl-once http://a.example/ DIR"),
        ("tune http://a.example/ x=1", "crawl it first: crawl-once http://a.example/ DIR"),
        ("watch http://a.example/", "crawl it first: crawl-once http://a.example/ DIR"),
        (
            "watch a -o a.csv",
            "-o a.csv: changes are lines of JSON; name a file that ends in",
        ),
        ("watch a -o -:csv", "-o -:csv: changes are lines of JSON; -o - prints them"),
        ("watch a --command=", "--command: a command of the shell is needed, got an empty one"),
        ("watch a --webhook=", "--webhook: a URL with http:// or https:// and a host is needed"),
        ("rules -o -:csv a", "-o -:csv: --format names the format of rules; -o - prints them"),
        ("pages --host= a", "crawl-once pages: --host takes a value, got an empty one"),
        ("pages -o -:csv a", "crawl-once pages: a: no such directory"),
        ("links -o -:csv a", "crawl-once links: a: no such directory"),
        ("http://a.example/ -o -:cvs", "-:cvs: its ending names no format"),
        ("report --html .", "file that is written, got .; try: crawl-once report --html report"),
        ("report --html crawls/d", "got crawls/d; try: crawl-once report --html report.html"),
        ("report --html x.pdf a", "--html x.pdf: an HTML page is written; name a file that ends"),
        ("completion bsh", "bash, zsh or fish is needed, got bsh; did you mean bash?"),
        ("config now", "no argument is needed, got now"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in errors_of(words.split(), capsys)


def test_a_mirror_and_a_crawl_directory_are_not_taken_for_each_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("site/.mirror", "docs"):
        (folder / name).mkdir(parents=True)
        (folder / name / "crawl.db").touch()
    for word in ("site", "site/.mirror"):
        told = errors_of(["http://127.0.0.1:9/", word], capsys)
        assert told.endswith("nothing is crawled; crawl-once mirror site brings it up to date\n")
    told = errors_of(["mirror", "http://127.0.0.1:9/", "docs"], capsys)
    assert "docs: a crawl directory, which is no mirror; crawl-once URL docs goes on" in told
    assert sorted(path.name for path in folder.rglob("*")) == [
        ".mirror", "crawl.db", "crawl.db", "docs", "site",
    ]  # fmt: skip


def test_a_path_where_a_command_is_needed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "old").mkdir()
    assert "crawl-once report old" in errors_of(["old"], capsys)


@pytest.mark.parametrize(
    ("spider", "table"),
    [(SiteSpider, SITE), (UrlsSpider, URLS), (ReplaySpider, REPLAY), (MirrorSpider, MIRROR)],
)
def test_the_options_are_the_arguments_of_the_spider(
    spider: type[SiteSpider], table: dict[str, object]
) -> None:
    assert spider.arguments is table


@pytest.mark.parametrize(("word", "value"), [("--no-text", "no"), ("--text", "yes")])
def test_a_flag_is_yes_or_no_to_a_spider(word: str, value: str) -> None:
    command = load_command("mirror")
    opts, rest = make_parser(command).parse_known_args([word, "http://a.example/"])
    command.host, command.given = CrawlOnce(opts), opts
    assert rest == ["http://a.example/"]
    assert isinstance(command, SpiderCommand)
    assert command.arguments() == {"text": value}


def test_choices_of_the_table_are_those_of_the_spider() -> None:
    for name, argument in MIRROR.items():
        for value in argument.choices:
            MirrorSpider.check_arguments({"url": "http://a.example/", name: value})


VERBS = [f"mirror {verb}" for verb in load_command("mirror").verbs]


@pytest.mark.parametrize("name", [*command_names(), *VERBS])
def test_help_of_each_command_fits_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    first, *rest = name.split()
    command, left = load_command(first).meant(rest)
    assert (command.name, left) == (name, [])
    lines = make_parser(command).format_help().splitlines()
    assert lines[0] == f"usage: crawl-once {name} {command.usage}"
    assert [line for line in lines[1:] if len(line) > 80] == []


def test_the_list_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.startswith("  ")} >= set(command_names())


@pytest.mark.parametrize("words", [["--help"], ["help", "crawl"], ["crawl", "--help"]])
def test_help_ends_in_silence_where_a_pager_has_enough(words: list[str]) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as pager:
        command = [sys.executable, "-m", "crawler", *words]
        done = subprocess.run(command, stdout=pager, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


class TestConfigurationFile:
    """``crawl-once.toml``."""

    def test_config_says_where_each_value_comes_from(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "crawl-once.toml").write_text(
            'scope = "host"\nmax-pages = 7\nsitemaps = false\n[settings]\nDOWNLOAD_DELAY = 2\n'
        )
        assert main(["config", "--json", "-s", "USER_AGENT=me"]) == 0
        held = json.loads(capsys.readouterr().out)
        assert held["scope"] == {"value": "host", "from": "crawl-once.toml"}
        assert held["max-pages"] == {"value": "7", "from": "crawl-once.toml"}
        assert held["sitemaps"]["value"] == "no"
        assert held["DOWNLOAD_DELAY"] == {"value": 2, "from": "crawl-once.toml"}
        assert held["USER_AGENT"] == {"value": "me", "from": "-s on the command line"}
        assert held["ROBOTSTXT_OBEY"] == {"value": True, "from": "the profile, settings/crawl.py"}
        assert "NEARDUP_MAX_DISTANCE" not in held

    def test_config_says_which_browser_shows_pages(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("playwright")
        chosen = f"CRAWL_RENDER_BROWSER={sys.executable}"
        assert main(["config", "--json", "-s", chosen]) == 0
        held = json.loads(capsys.readouterr().out)
        assert held["browser"] == {"value": sys.executable, "from": "CRAWL_RENDER_BROWSER"}
        assert main(["config", "-s", chosen]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert f"# browser: {sys.executable} (CRAWL_RENDER_BROWSER)" in lines
        assert main(["config", "--json", "-s", "CRAWL_RENDER_BROWSER=/no/browser"]) == 0
        held = json.loads(capsys.readouterr().out)
        assert held["browser"]["value"] is None
        assert "/no/browser is no program" in held["browser"]["from"]
        (folder / "crawl-once.toml").write_text('render = "no"\n')
        assert main(["config", "-s", chosen]) == 0
        assert "# browser: none (no page would be shown in one)" in capsys.readouterr().out

    def test_what_config_prints_can_be_the_file(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "crawl-once.toml").write_text('deny = "/a\\\\?b"\nreject = ["zip", "iso"]\n')
        assert main(["config", "--all"]) == 0
        printed = capsys.readouterr().out
        read = tomllib.loads(printed)
        assert (read["deny"], read["reject"]) == ("/a\\?b", "zip,iso")
        assert read["settings"]["NEARDUP_MAX_DISTANCE"] == 3
        (folder / "again.toml").write_text(printed)
        assert main(["config", "--config", "again.toml", "--json"]) == 0
        again = json.loads(capsys.readouterr().out)
        assert again["NEARDUP_MAX_DISTANCE"] == {"value": 3, "from": "again.toml"}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('scop = "host"', "unknown option scop; did you mean scope?"),
            (
                "DOWNLOAD_DELAY = 2",
                "unknown option DOWNLOAD_DELAY; settings belong into [settings]",
            ),
            ("scope = ", "not TOML"),
            ("scope = 1.5", "scope must be a text, a whole number or a list of texts, got 1.5"),
            ("settings = 1", "settings must be a table, [settings]"),
            ('scope = "hots"', "--scope must be prefix, host or domain, got 'hots'"),
            ("[settings]\nNEARDUP_MIN_SIMILARTY = 1", "unknown setting NEARDUP_MIN_SIMILARTY"),
        ],
    )
    def test_what_is_wrong_in_it_is_one_line(
        self, folder: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (folder / "crawl-once.toml").write_text(text)
        assert said in errors_of(["http://127.0.0.1:1/"], capsys)


def completed(line: str) -> set[str]:
    """Return how a shell may go on with a line, as its completion script asks."""
    variables = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": "completions",
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command = [sys.executable, "-m", "crawler"]
    subprocess.run(command, env=variables, check=True, timeout=60)
    with open("completions", encoding="utf-8") as file:
        return {word.split(":")[0].strip() for word in file.read().split("\n") if word}


def test_a_shell_completes_commands_and_options() -> None:
    assert {"report", "rejudge", "replay", "rules"} <= completed("crawl-once re") | {"rules"}
    assert "report" in completed("crawl-once rep")
    assert completed("crawl-once crawl --max-p") == {"--max-pages"}
    assert completed("crawl-once mirror ch") == {"check"}
    assert completed("crawl-once mirror check --de") == {"--deep"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "crawl-once" in capsys.readouterr().out


def test_an_option_without_its_value_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["pairs", ".", "--limit"])
    assert ended.value.code == 2
    said = "crawl-once pairs: --limit: expected one argument; see --help\n"
    assert capsys.readouterr().err == said
