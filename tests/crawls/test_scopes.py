"""A directory is one scope: what is crawled besides on its host goes elsewhere, or joins."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import pages, scrapy
from tests.sites.graph import GraphSite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

A = ["/a/", "/a/1", "/a/2"]
B = ["/b/", "/b/1", "/b/2", "/b/3"]


@pytest.fixture
def site() -> Iterator[GraphSite]:
    links = {"/a/": [*A[1:], "/b/"], "/b/": [*B[1:], "/a/"], "/": ["/a/", "/b/"]}
    with GraphSite({**{path: [] for path in [*A, *B]}, **links}) as served:
        yield served


def first_line(site: GraphSite, parent: Path, path: str, *arguments: str) -> str:
    """Crawl from a path; return the first line, with the names that the test cannot know."""
    done = scrapy(
        "crawl", "site", "-a", f"url={site.origin}{path}", "-s", f"CRAWL_DIRECTORY={parent}",
        *arguments,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    host = site.origin.removeprefix("http://")
    line = done.stdout.splitlines()[0].removeprefix("crawl directory: ")
    return line.replace(f"{parent}/", "").replace(host, "H").replace(host.replace(":", "_"), "H")


def kept(folder: Path) -> set[str]:
    return {"/" + row["url"].split("/", 3)[3] for row in pages(folder, "--verdict", "kept")}


@pytest.mark.slow
def test_each_scope_has_its_directory_and_finds_it_again(site: GraphSite, tmp_path: Path) -> None:
    host = tmp_path / site.origin.removeprefix("http://").replace(":", "_")
    assert first_line(site, tmp_path, "/a/") == "H (new)"
    assert first_line(site, tmp_path, "/b/") == "H+b (new; H holds H/a/)"
    assert first_line(site, tmp_path, "/", "-a", "scope=host") == "H++host (new; H holds H/a/)"
    assert kept(host) == set(A)
    assert kept(host.with_name(f"{host.name}+b")) == set(B)
    assert kept(host.with_name(f"{host.name}++host")) == {"/", *A, *B}
    assert first_line(site, tmp_path, "/a/", "-a", "max_pages=2").startswith("H (finished")
    again = first_line(site, tmp_path, "/b/")
    assert again.startswith("H+b (finished")
    assert again.endswith("; H holds H/a/)")
    shutil.rmtree(host)
    assert first_line(site, tmp_path, "/b/").startswith("H+b (finished")


@pytest.mark.slow
def test_a_directory_that_is_named_is_joined_and_it_says_so(
    site: GraphSite, tmp_path: Path
) -> None:
    feed = tmp_path / "feed.jsonl"
    folder = tmp_path / "joined"
    first_line(site, tmp_path, "/a/", "-s", f"JOBDIR={folder}")
    done = scrapy(
        "crawl", "site", "-a", f"url={site.origin}/b/", "-s", f"JOBDIR={folder}",
        "-O", str(feed),
    )  # fmt: skip
    host = site.origin.removeprefix("http://")
    assert f"(adding to what it holds: {site.origin}/a/)" in done.stdout
    others = f"3 of them outside this scope ({host}/a/)"
    assert f"the feed holds every kept page of {folder}, {others}" in done.stdout
    again = first_line(site, tmp_path, "/b/", "-s", f"JOBDIR={folder}")
    assert again.endswith("; it holds H/a/ too)")
    rows = [json.loads(line) for line in feed.read_text().splitlines()]
    assert {"/" + row["url"].split("/", 3)[3] for row in rows} == {*A, *B}
    verified = scrapy("verify", str(folder))
    assert verified.returncode == 0, verified.stdout + verified.stderr


@pytest.mark.slow
def test_a_mirror_of_another_folder_has_its_own_directory(site: GraphSite, tmp_path: Path) -> None:
    setting = ("-s", f"MIRROR_DIRECTORY={tmp_path}")
    name = site.origin.removeprefix("http://").replace(":", "_")
    for path, folder in (("/a/", name), ("/b/", f"{name}+b"), ("/b/", f"{name}+b")):
        done = scrapy("mirror", *setting, f"{site.origin}{path}")
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"mirror: {tmp_path / folder} (" in done.stdout
        assert ("a directory of its own, since" in done.stdout) == (path == "/b/")
        assert (tmp_path / folder / "index.html").is_file()


@pytest.mark.slow
def test_a_misspelt_url_keeps_no_directory_from_the_right_one(
    site: GraphSite, tmp_path: Path
) -> None:
    wrong = ("-a", f"url={site.origin}/aa/", "-s", f"CRAWL_DIRECTORY={tmp_path}")
    assert scrapy("crawl", "site", *wrong).returncode == 1
    assert first_line(site, tmp_path, "/a/").startswith("H (")
    assert first_line(site, tmp_path, "/b/").startswith("H+b (new; H holds ")
