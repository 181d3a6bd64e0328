"""``--under``, ``--host``, ``--since``, ``--status`` and ``--type`` of the commands that read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.console.options import CommandError, moment, statuses
from neardup import Parameters
from tests.crawler.commands.in_process import run
from tests.crawler.maintenance.rejudge.captured import Said, capture
from tests.sites.prose import prose

ORIGIN = "http://example.com"
PATHS = ["/a/1", "/a/2", "/a/3", "/ab/1", "/b/1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five pages, the third of which repeats the first."""
    jobdir = tmp_path_factory.mktemp("crawl") / "job"
    said = [(path, Said(prose(path.replace("3", "1"), 80))) for path in PATHS]
    capture(jobdir, said, Parameters())
    return jobdir


def paths(*arguments: str) -> list[str]:
    output = Path(arguments[0]).with_name("chosen.jsonl")
    done = run("pages", *arguments, "-o", str(output))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    return [row["url"].removeprefix(ORIGIN) for row in rows]


def test_pages_are_chosen(folder: Path) -> None:
    assert paths(str(folder), "--under", f"{ORIGIN}/a/") == PATHS[:3]
    assert paths(str(folder), "--under", f"{ORIGIN}/a", "--verdict", "kept") == PATHS[:2]
    assert paths(str(folder), "--host", "example.com", "--status", "2xx") == PATHS
    assert paths(str(folder), "--host", "ample.com") == []
    assert paths(str(folder), "--status", "404,5xx") == []
    assert paths(str(folder), "--since", "2999-01-01") == []
    assert paths(str(folder), "--since", "1970-01-01T00:00Z") == PATHS


def test_a_report_counts_the_chosen_pages(folder: Path) -> None:
    done = run("report", str(folder), "--under", f"{ORIGIN}/a/", "--json")
    found = json.loads(done.stdout)
    assert (found["pages"], found["kept"], found["duplicates"]) == (3, 2, 1)
    assert found["statuses"] == {"200": 3}
    told = run("report", str(folder), "--under", f"{ORIGIN}/a/").stdout
    assert f"{folder}, --under {ORIGIN}/a/:" in told
    assert "        3  URLs" in told
    assert "  no page" in run("report", str(folder), "--status", "500").stdout


def test_the_lab_judges_the_chosen_pages(folder: Path) -> None:
    for under, pages in ((f"{ORIGIN}/a/", 3), (f"{ORIGIN}/b/", 1), (ORIGIN, 5)):
        done = run("sweep", str(folder), "--under", under, "--json")
        assert json.loads(done.stdout)["pages"] == pages, done.stderr
    for command in ("sweep", "pairs"):
        done = run(command, str(folder), "--status", "404")
        assert done.returncode == 2
        assert done.stderr.endswith("no chosen page with a text in it\n")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("under", "example.com/a", "--under: 'example.com/a' has no scheme: did you mean https"),
        ("host", "http://example.com/", "--host takes a host such as docs.python.org, got"),
        ("host", "a b", "--host a b: "),
        ("since", "yesterday", "--since takes a date (2026-11-27), a time"),
        ("since", "3y", "--since takes a date"),
        ("status", "20", "--status takes 200, 404,410, 4xx and the like, got '20'"),
        ("status", "200,", "--status takes 200"),
        ("type", "artcle", "--type artcle: no such type of page; did you mean article?"),
    ],
)
@pytest.mark.parametrize("command", ["pages", "report", "sweep", "pairs"])
def test_a_bad_value_is_told_in_one_line(
    folder: Path, command: str, option: str, value: str, said: str
) -> None:
    done = run(command, str(folder), f"--{option}", value)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_moments_and_statuses() -> None:
    assert moment("2d", 1_000_000.0) == 1_000_000.0 - 2 * 86_400
    assert moment("90m", 1_000_000.0) == 1_000_000.0 - 5_400
    assert moment("1970-01-02", 0.0) == 86_400.0
    assert moment("1970-01-01T01:00+01:00", 0.0) == 0.0
    assert statuses("200, 4XX") == ((200, 200), (400, 499))
    with pytest.raises(CommandError):
        statuses("600")
