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
    "links=+coment": "no kind of links is called 'coment'; did you mean comment?",
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
    "METRICS_PORT=http": "METRICS_PORT must be 0 to 65535 or empty, got 'http'",
    "METRICS_PORT=65536": "METRICS_PORT must be 0 to 65535 or empty, got '65536'",
    "METRICS_PORT=-1": "METRICS_PORT must be 0 to 65535 or empty, got '-1'",
    "CRAWL_LOG_FORMAT=xml": "scrapy crawl: CRAWL_LOG_FORMAT must be text or json, got 'xml'",
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
    f"{SITE} -O pages.foo": "pages.foo: its ending names no format; there are",
    f"{SITE} -O pages.jsno": "did you mean json?",
    "crawl urls": "give -a file=FILE",
    "crawl urls -a file=absent.txt": "absent.txt: No such file",
    "crawl urls -a file=README.md -a rules=README.md": "-a rules: README.md: not JSON",
    "report": "one crawl directory is needed",
    "report absent": "absent: no such directory",
    "pages absent": "absent: no such directory",
    "adopt": "a corpus and a new crawl directory are needed",
    "adopt absent new": "absent: no such directory",
    "adopt --fast a b": "--fast",
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
    "sweep --min-similarity 0..nan README.md": "takes similarities from 0 to 1",
}

MIRROR = "mirror http://127.0.0.1:9/ NEW"

MIRRORS = {
    "mirror": "a URL is needed",
    "mirror example.org": "did you mean",
    "mirror http://127.0.0.1:9/ http://127.0.0.1:x/": "http://127.0.0.1:x/",
    "mirror http://127.0.0.1:9/ --search yes": "flags take no value, got yes; ./yes",
    "mirror --port 1 http://127.0.0.1:1/": "unknown option --port",
    f"{MIRROR} e": "one directory or none is needed",
    f"{MIRROR} --sitemaps x": "one directory or none is needed",
    f"{MIRROR} --max-bytes many": "a size such as",
    f"{MIRROR} --max-pages x": "--max-pages must be",
    f"{MIRROR} --deny '('": "is not a regular expression",
    f"{MIRROR} --typo": "unknown option --typo",
    f"{MIRROR} --share rewrite": "unknown option --share",
    f"{MIRROR} -s MIRROR_SHARE=x": "unknown setting MIRROR_SHARE",
    f"{MIRROR} -s MIRROR_DIR=x": "did you mean MIRROR_DIRECTORY",
    f"{MIRROR} --search --no-text": "--search needs the text of pages",
    f"{MIRROR} --exclude 'a\\'": r"exclude: 'a\\' is no pattern as in gitignore",
    f"{MIRROR} --exclude-from nowhere": "--exclude-from: nowhere: No such file",
    f"{MIRROR} --exclude https://h/a": "'https://h/a' is a URL; write the pattern from",
    f"{MIRROR} --format rar": "--format must be zip, zim or wacz, got 'rar'",
    f"{MIRROR} --format ''": "--format takes a value, got an empty one",
    "mirror chek docs": "no command mirror chek; did you mean check?",
    "mirror check": "the directory of one mirror is needed, got none",
    "mirror check nowhere": "no mirror in it",
    "mirror serve": "the directory of one mirror is needed, got none",
    "mirror serve nowhere": "no mirror in it",
    "mirror pack nowhere": "nowhere: no mirror in it",
    "mirror pack --format wacz EMPTY": "--format must be zip or zim, got 'wacz'",
    "mirror pack --search EMPTY": "unknown option --search",
    "mirror prove": "the directory of one mirror is needed, got none",
    "mirror prove nowhere": "nowhere: no mirror in it",
    "mirror prove EMPTY --pages 0": "--pages takes a whole number of at least 1, got '0'",
    "mirror prove EMPTY --pages many": "--pages takes a whole number of at least 1, got 'many'",
}
"""Commands of mirrors; NEW stands for a folder that is not there, EMPTY for one of a mirror."""

WRONG = [
    *((f"{SITE} -a '{argument}'", message) for argument, message in ARGUMENTS.items()),
    *((f"{SITE} -s {setting}", message) for setting, message in SETTINGS.items()),
    *COMMANDS.items(),
    *MIRRORS.items(),
]


@pytest.mark.parametrize(("command", "message"), WRONG)
def test_says_it_in_one_line(command: str, message: str, tmp_path: Path) -> None:
    new, empty = tmp_path / "new", tmp_path / "empty"
    (empty / ".mirror").mkdir(parents=True)
    named = {"NEW": str(new), "EMPTY": str(empty)}
    arguments = [named.get(word, word) for word in shlex.split(command)]
    if arguments[0] == "crawl":
        arguments = [*arguments, "-s", f"JOBDIR={tmp_path / 'job'}"]
    expect_one_line(arguments, message)
    assert not new.exists()


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
