"""What a user can get wrong: one clear line, exit status 2, no traceback."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests.crawls.command import scrapy

if TYPE_CHECKING:
    from pathlib import Path

SITE = "crawl site -a url=http://127.0.0.1/"

ARGUMENTS = {
    "scope=world": "scope",
    "max_pages=ten": "max_pages must be a whole number above 0, got 'ten'",
    "allow=(": "allow",
    "sitemaps=maybe": "sitemaps must be yes or no",
    "rules=": "-a rules: give a file",
    "rules=absent.json": "-a rules: absent.json: cannot be read: No such file",
}
"""Arguments of the spider, and what is said of each."""

SETTINGS = {
    "NEARDUP_MAX_DISTANCE=64": "NEARDUP_MAX_DISTANCE must be 0..8, got 64",
    "READING_TIMEOUT_SECS=soon": "READING_TIMEOUT_SECS must be a number, got 'soon'",
    "CRAWL_REVISIT_LONGER_RATE=inf": "CRAWL_REVISIT_LONGER_RATE must be a finite number, got inf",
    "CRAWL_MAX_SITEMAPS=many": "CRAWL_MAX_SITEMAPS must be a whole number, got 'many'",
    "DOWNLOAD_DELAY=little": "DOWNLOAD_DELAY must be a number, got 'little'",
    "NEARDUP_MAX_DISTANSE=3": "did you mean NEARDUP_MAX_DISTANCE?",
    "URLS_DISABLED_RULES=magic": "magic",
}
"""Settings, ours and Scrapy's, and what is said of each."""

COMMANDS = {
    "crawl": "one spider is needed",
    "crawl sites": "did you mean site?",
    "crawl site": "give -a url=",
    "crawl site -a url=example.com": "https://example.com",
    "crawl site -a url=ftp://example.com/": "http",
    "crawl site -a url=http:///x": "host",
    "crawl site -a ulr=http://127.0.0.1/": "did you mean url?",
    f"{SITE} --fast": "--fast",
    "crawl urls": "give -a file=FILE",
    "crawl urls -a file=absent.txt": "absent.txt: No such file",
    "crawl urls -a file=README.md -a rules=README.md": "-a rules: README.md: not JSON",
    "report": "one crawl directory is needed",
    "report absent": "absent: no such directory",
    "pages absent": "absent: no such directory",
    "adopt absent new": "absent: no such directory",
    "rules": "one crawl directory is needed",
    "rules absent": "absent: no such directory",
    "rules README.md": "README.md: not a directory",
    "rules docs": "docs: no crawl in it",
    "rules --jsn absent": "unknown option --jsn",
    "rules absent --json --export -": "--json and --export cannot be combined; give one of them",
    "rules absent --forget 1 --export -": "--export and --forget cannot be combined",
    "rules absent --format duplicate-url-discarder": "--format needs --export FILE",
    "rules absent --export - --format discarder": "crawl-once, duplicate-url-discarder",
    "rules absent --export ''": "--export takes a value, got an empty one",
    "rules absent --forget sid": "--forget takes the number of a rule, got 'sid'",
    "rules absent --forget=-1": "--forget takes the number of a rule, got '-1'",
    "demo now then": "it takes a directory or nothing",
    "mirror chek docs": "no command mirror chek; did you mean check?",
    "mirror http://127.0.0.1:9/ --search yes": "flags take no value, got yes; ./yes",
    "sweep --min-similarity 0..nan README.md": "takes similarities from 0 to 1",
}

WRONG = [
    *((f"{SITE} -a '{argument}'", message) for argument, message in ARGUMENTS.items()),
    *((f"{SITE} -s {setting}", message) for setting, message in SETTINGS.items()),
    *COMMANDS.items(),
]


@pytest.mark.parametrize(("command", "message"), WRONG)
def test_says_it_in_one_line(command: str, message: str, tmp_path: Path) -> None:
    arguments = shlex.split(command)
    if arguments[0] == "crawl":
        arguments = [*arguments, "-s", f"JOBDIR={tmp_path / 'job'}"]
    expect_one_line(arguments, message)


def expect_one_line(arguments: list[str], message: str) -> None:
    done = scrapy(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stdout == ""


def site(jobdir: Path) -> list[str]:
    return ["crawl", "site", "-a", "url=http://127.0.0.1:9/", "-s", f"JOBDIR={jobdir}"]


def test_directory_in_use(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock"):
        expect_one_line(site(tmp_path), "in use by another process")


def test_directory_of_scrapys_own_scheduler(tmp_path: Path) -> None:
    (tmp_path / "requests.queue").mkdir()
    expect_one_line(site(tmp_path), "Scrapy's own scheduler")


def test_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    expect_one_line(site(tmp_path / "file"), "is a file")


def test_damaged_database(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_bytes(b"x" * 5000)
    expect_one_line(site(tmp_path), "not a crawl database")


def test_unknown_format_and_verdict(tmp_path: Path) -> None:
    scrapy(*site(tmp_path))
    expect_one_line(["pages", str(tmp_path), "-o", "pages.doc"], "its ending names no format")
    expect_one_line(["pages", str(tmp_path), "--verdict", "near_dup"], "near_duplicate")
    expect_one_line(["pages", str(tmp_path), "-o", "absent/pages.csv"], "no such directory")
    several = ["pages", str(tmp_path), "--verdict", "wall,soft_404"]
    expect_one_line(several, "--verdict wall,soft_404: name one verdict")


def test_rules_where_nothing_is_learned(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"format": "crawl-once rules 1", "rules": []}')
    off = ["-a", f"rules={rules}", "-s", "CRAWL_LEARN_URL_RULES=False"]
    expect_one_line([*site(tmp_path / "job"), *off], "CRAWL_LEARN_URL_RULES, which is off")


def test_dead_seed_is_said_and_exit_status_is_1(tmp_path: Path) -> None:
    done = scrapy(*site(tmp_path), "-s", "RETRY_ENABLED=False")
    assert done.returncode == 1
    assert "http://127.0.0.1:9/: connection refused" in done.stderr
    assert "Traceback" not in done.stderr


def test_other_url_rules_than_the_directory_was_made_with(tmp_path: Path) -> None:
    scrapy(*site(tmp_path))
    expect_one_line([*site(tmp_path), "-s", "URLS_DISABLED_RULES=utm"], "another JOBDIR")
