"""``crawl-once rules`` as a user runs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from crawler.url_rules.rule_files import read_rules
from tests.crawler.maintenance.verify.conftest import folder, template
from tests.crawler.maintenance.verify.crawled import SKIPPED, check, execute, rows
from tests.crawls.command import scrapy

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["folder", "template"]


def skipped(folder: Path) -> int:
    (row,) = rows(folder, "SELECT count(*) FROM requests WHERE state = 4")
    assert isinstance(row[0], int)
    return row[0]


def test_rules_are_told_also_while_a_crawl_is_running(folder: Path) -> None:
    with FileLock(folder / "lock"):
        done = scrapy("rules", str(folder))
    assert done.returncode == 0, done.stderr
    first, evidence, saved, *_ = done.stdout.splitlines()
    assert first == "1  example.com: any sid= is irrelevant"
    assert evidence.startswith("   from a file; 0 texts under two URLs each since")
    assert saved.startswith(f"   {skipped(folder)} requests not made")
    assert skipped(folder) > len(SKIPPED) / 2


def test_json_is_one_object(folder: Path) -> None:
    done = scrapy("rules", str(folder), "--json")
    found = json.loads(done.stdout)
    assert found["waiting"] == skipped(folder)
    (rule,) = found["rules"]
    assert (rule["id"], rule["state"], rule["origin"]) == (1, "holds", "a file")


def test_where_nothing_was_learned_it_says_so(folder: Path) -> None:
    execute(folder, "DELETE FROM url_rules")
    assert "no rule was learned" in scrapy("rules", str(folder)).stdout


def test_rules_are_exported_and_read(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    done = scrapy("rules", str(folder), "--export", str(file))
    assert done.stdout == f"1 rule in {file}\n"
    assert scrapy("rules", str(folder), "--export", "-").stdout == file.read_text()
    ((context, transform),) = read_rules(file)
    assert (str(context), str(transform)) == ("example.com", "any sid= is irrelevant")


def test_what_the_discarder_cannot_express_is_said_beside_the_file(folder: Path) -> None:
    execute(
        folder,
        "INSERT INTO url_rules SELECT 2, state,"
        ' \'{"context": {"host": "example.com"}, "transform": {"kind": "lower path"}}\','
        " positives, explored, saved, tried, origin, since, reason FROM url_rules",
    )
    form = ("--format", "duplicate-url-discarder")
    done = scrapy("rules", str(folder), "--export", "-", *form)
    assert [entry["args"] for entry in json.loads(done.stdout)] == [["sid"]]
    assert done.stderr.startswith(
        "left out, since duplicate-url-discarder cannot express it: example.com:"
    )


def test_a_file_that_cannot_be_written_is_an_error(folder: Path, tmp_path: Path) -> None:
    done = scrapy("rules", str(folder), "--export", str(tmp_path / "absent" / "rules.json"))
    assert done.returncode == 2
    assert "rules.json: no such directory: " in done.stderr
    assert done.stdout == ""


def test_a_rule_is_forgotten_once(folder: Path) -> None:
    count = skipped(folder)
    done = scrapy("rules", str(folder), "--forget", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"rule 1 is forgotten; {count} requests queued again\n"
    assert skipped(folder) == 0
    assert check(folder).problems == ()
    told = scrapy("rules", str(folder)).stdout
    assert "forgotten: forgotten by the user" in told
    again = scrapy("rules", str(folder), "--forget", "1")
    assert again.returncode == 2
    assert again.stderr == "scrapy rules: no rule 1 holds; there are: none\n"


def test_a_standard_rule_is_switched_off_and_not_forgotten(folder: Path) -> None:
    execute(
        folder,
        "INSERT INTO url_rules SELECT 2, state,"
        ' \'{"context": {"host": "example.com"},'
        ' "transform": {"kind": "standard", "name": "sort_arguments"}}\','
        ' positives, 1, saved, \'{"due_at": 9, "examined": "seldom"}\', \'docs/urls.md\', since,'
        " reason FROM url_rules",
    )
    told = scrapy("rules", str(folder)).stdout
    lines = told[told.index("2  example.com: sort_arguments (docs/urls.md)") :].splitlines()
    off = "-s URLS_DISABLED_RULES switches it off, in a new directory"
    assert lines[3].endswith(off)
    done = scrapy("rules", str(folder), "--forget", "2")
    assert done.returncode == 2
    standard = "rule 2 is a standard one, sort_arguments (docs/urls.md)"
    assert done.stderr == f"scrapy rules: {standard}: {off}\n"


@pytest.mark.parametrize("number", ["0", "7", "99999999"])
def test_a_rule_that_is_not_there_is_named(folder: Path, number: str) -> None:
    done = scrapy("rules", str(folder), "--forget", number)
    assert done.returncode == 2
    assert done.stderr == f"scrapy rules: no rule {number} holds; there are: 1\n"


def test_nothing_is_forgotten_while_a_crawl_is_running(folder: Path) -> None:
    with FileLock(folder / "lock"):
        done = scrapy("rules", str(folder), "--forget", "1")
    assert done.returncode == 2
    assert "in use by another process" in done.stderr
    assert skipped(folder) > 0
