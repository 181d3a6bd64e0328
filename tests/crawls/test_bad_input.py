"""What a user can get wrong: one clear line, exit status 2, no traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests.crawls.command import scrapy

if TYPE_CHECKING:
    from pathlib import Path

WRONG = {
    "no spider": (["crawl"], "one spider is needed"),
    "misspelt spider": (["crawl", "sites"], "did you mean site?"),
    "no url": (["crawl", "site"], "give -a url="),
    "url without a scheme": (["crawl", "site", "-a", "url=example.com"], "https://example.com"),
    "url of another scheme": (["crawl", "site", "-a", "url=ftp://example.com/"], "http"),
    "url without a host": (["crawl", "site", "-a", "url=http:///x"], "host"),
    "unknown argument": (["crawl", "site", "-a", "ulr=http://127.0.0.1/"], "did you mean url?"),
    "unknown option": (["crawl", "site", "--fast", "-a", "url=http://127.0.0.1/"], "--fast"),
    "bad scope": (["crawl", "site", "-a", "url=http://127.0.0.1/", "-a", "scope=world"], "scope"),
    "bad number": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-a", "max_pages=ten"],
        "max_pages must be a whole number above 0, got 'ten'",
    ),
    "bad regex": (["crawl", "site", "-a", "url=http://127.0.0.1/", "-a", "allow=("], "allow"),
    "bad yes or no": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-a", "sitemaps=maybe"],
        "sitemaps must be yes or no",
    ),
    "bad setting": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-s", "NEARDUP_MAX_DISTANCE=64"],
        "NEARDUP_MAX_DISTANCE must be 0..8, got 64",
    ),
    "setting that is no number": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-s", "READING_TIMEOUT_SECS=soon"],
        "READING_TIMEOUT_SECS must be a number, got 'soon'",
    ),
    "setting that is infinite": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-s", "CRAWL_REVISIT_LONGER_RATE=inf"],
        "CRAWL_REVISIT_LONGER_RATE must be a finite number, got inf",
    ),
    "setting of a part that comes later": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-s", "CRAWL_MAX_SITEMAPS=many"],
        "CRAWL_MAX_SITEMAPS must be a whole number, got 'many'",
    ),
    "setting of Scrapy's that is no number": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-s", "DOWNLOAD_DELAY=little"],
        "DOWNLOAD_DELAY must be a number, got 'little'",
    ),
    "misspelt setting": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-s", "NEARDUP_MAX_DISTANSE=3"],
        "did you mean NEARDUP_MAX_DISTANCE?",
    ),
    "unknown URL rule": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-s", "URLS_DISABLED_RULES=magic"],
        "magic",
    ),
    "no list": (["crawl", "urls"], "give -a file=FILE"),
    "missing list": (["crawl", "urls", "-a", "file=absent.txt"], "absent.txt: No such file"),
    "rules from nowhere": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-a", "rules="],
        "-a rules: give a file",
    ),
    "rules of a missing file": (
        ["crawl", "site", "-a", "url=http://127.0.0.1/", "-a", "rules=absent.json"],
        "-a rules: absent.json: cannot be read: No such file",
    ),
    "rules that are no rules": (
        ["crawl", "urls", "-a", "file=README.md", "-a", "rules=README.md"],
        "-a rules: README.md: not JSON",
    ),
    "report of nothing": (["report"], "one crawl directory is needed"),
    "report of a missing directory": (["report", "absent"], "absent: no such directory"),
    "pages of a missing directory": (["pages", "absent"], "absent: no such directory"),
    "rules of nothing": (["rules"], "one crawl directory is needed"),
    "rules of a missing directory": (["rules", "absent"], "absent: no such directory"),
    "rules of a file": (["rules", "README.md"], "README.md: not a directory"),
    "rules of another folder": (["rules", "docs"], "docs: no crawl in it"),
    "rules with an unknown option": (["rules", "--jsn", "absent"], "unknown option --jsn"),
    "rules exported into JSON": (
        ["rules", "absent", "--json", "--export", "-"],
        "--json and --export exclude each other",
    ),
    "rules exported and forgotten": (
        ["rules", "absent", "--forget", "1", "--export", "-"],
        "--export and --forget exclude each other",
    ),
    "rules in a form without an export": (
        ["rules", "absent", "--format", "duplicate-url-discarder"],
        "--format is that of --export FILE",
    ),
    "rules in an unknown form": (
        ["rules", "absent", "--export", "-", "--format", "discarder"],
        "there are crawl-once and duplicate-url-discarder",
    ),
    "rules exported to nowhere": (["rules", "absent", "--export", ""], "--export takes a file"),
    "rule that is no number": (
        ["rules", "absent", "--forget", "sid"],
        "--forget takes the number of a rule, got 'sid'",
    ),
    "rule below zero": (
        ["rules", "absent", "--forget=-1"],
        "--forget takes the number of a rule, got '-1'",
    ),
    "arguments to the demo": (["demo", "now"], "it takes no arguments"),
}


@pytest.mark.parametrize("case", WRONG)
def test_says_it_in_one_line(case: str, tmp_path: Path) -> None:
    arguments, message = WRONG[case]
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
