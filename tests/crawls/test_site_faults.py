"""The faults of a site are found in what a crawl has stored, each with the pages that have it."""

from __future__ import annotations

import csv
import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest
from lxml import etree, html

from crawler.api import Crawl
from crawler.maintenance.site_faults import find_faults
from crawler.storage.database import open_for_reading
from tests.crawler.commands.in_process import run
from tests.crawls.command import crawl, report, scrapy
from tests.sites.faulty import FaultySite
from tests.sites.many import ManyPages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.maintenance.fault import Fault

pytestmark = pytest.mark.slow


class Found(NamedTuple):
    """A crawled site, and its faults by name."""

    jobdir: Path
    origin: str
    faults: dict[str, Fault]

    def urls(self, name: str) -> list[str]:
        """Return the paths with a fault."""
        return [self.path(example.url) for example in self.faults[name].examples]

    def detail(self, name: str, path: str) -> str:
        (said,) = (one.detail for one in self.faults[name].examples if self.path(one.url) == path)
        return said.replace(self.origin, "")

    def pages(self, name: str, path: str) -> set[tuple[str, str]]:
        """Return the paths of the pages of one case, each with its text."""
        (pages,) = (one.pages for one in self.faults[name].examples if self.path(one.url) == path)
        return {(self.path(page.url), page.text) for page in pages}

    def path(self, url: str) -> str:
        return url.removeprefix(self.origin)


def faults_of(jobdir: Path, origin: str) -> Found:
    with closing(open_for_reading(jobdir)) as connection:
        found = find_faults(connection, 100, lambda _share, _step: None)
    return Found(jobdir, origin, {fault.name: fault for fault in found.faults})


@pytest.fixture(scope="module")
def site() -> Iterator[FaultySite]:
    with FaultySite() as served:
        yield served


@pytest.fixture(scope="module")
def found(site: FaultySite, tmp_path_factory: pytest.TempPathFactory) -> Found:
    jobdir = tmp_path_factory.mktemp("faults")
    crawl(f"{site.origin}/", jobdir)
    return faults_of(jobdir, site.origin)


def test_broken_links_have_every_page_and_its_words(found: Found) -> None:
    assert found.urls("broken_links")[0] == "/gone", "those with the most links first"
    assert {*found.urls("broken_links")} == {"/gone", "/es", "/only-in-the-sitemap"}
    assert found.pages("broken_links", "/only-in-the-sitemap") == {("/sitemap.xml", "")}
    assert found.pages("broken_links", "/es") == {("/en", "")}, "a translation has no words"
    assert found.pages("broken_links", "/gone") == {
        ("/", "Gone"),
        ("/", "It was here"),
        ("/new", "The lost page"),
    }
    case = found.faults["broken_links"].examples[0]
    assert (case.detail, case.count) == ("HTTP 404", 3)


def test_redirects_are_told_by_where_they_lead(found: Found) -> None:
    assert sorted(found.urls("redirect_circles")) == ["/about", "/round"]
    assert found.urls("redirect_chains") == ["/first"]
    assert found.detail("redirect_chains", "/first") == "-> /second -> /third"
    assert found.urls("redirected_links") == ["/old"]
    assert found.detail("redirected_links", "/old") == "-> /new"
    assert found.pages("redirected_links", "/old") == {("/", "The old address")}


def test_what_pages_name_is_compared_with_what_is_there(found: Found) -> None:
    assert sorted(found.urls("canonicals")) == ["/says-other", "/twin-a"]
    other = found.detail("canonicals", "/says-other")
    assert other == "names /new, whose text is another one"
    assert found.detail("canonicals", "/twin-a") == "names /old, which redirects to /new"
    said_of = [found.path(one.url) for one in found.faults["translations"].examples]
    assert said_of == ["/en", "/en"]
    details = {
        one.detail.replace(found.origin, "") for one in found.faults["translations"].examples
    }
    assert details == {
        "names /fr for fr, which does not name it back",
        "names /es for es, which is no page (HTTP 404)",
    }


def test_pages_that_only_a_sitemap_names_are_orphans(found: Found) -> None:
    assert found.urls("orphans") == ["/orphan"], "it links to itself, which counts for nothing"


def test_titles_and_descriptions_are_missing_or_repeated(found: Found) -> None:
    for name in ("titles", "descriptions"):
        assert found.urls(f"missing_{name}") == ["/bare"]
        (case,) = found.faults[f"repeated_{name}"].examples
        assert [found.path(page.url) for page in case.pages] == ["/twin-a", "/twin-b"]


def test_pages_at_several_urls_are_told_with_how_they_are_alike(found: Found) -> None:
    assert found.urls("duplicates") == ["/copies"]
    assert found.pages("duplicates", "/copies") == {("/copy", "the same words: The page /copy")}


def test_every_link_is_exported_in_every_format(found: Found, tmp_path: Path) -> None:
    rows = {}
    for kind in ("jsonl", "csv", "graphml"):
        path = tmp_path / f"links.{kind}"
        done = run("links", str(found.jobdir), "-o", str(path))
        assert done.returncode == 0, done.stderr
        rows[kind] = path
    written = [json.loads(line) for line in rows["jsonl"].read_text().splitlines()]
    with Crawl.open(found.jobdir) as stored:
        *links, last = written
        assert [link._asdict() for link in stored.links()] == [
            {name: value for name, value in link.items() if name != "broken"} for link in links
        ]
    of_sitemap = (f"{found.origin}/sitemap.xml", f"{found.origin}/only-in-the-sitemap", "HTTP 404")
    assert (last["source"], last["target"], last["broken"]) == of_sitemap
    broken = {found.path(link["target"]) for link in links if link["broken"]}
    assert broken == {"/gone", "/was-here", "/es", "/round"}, "by a redirect too"
    with rows["csv"].open(newline="") as file:
        assert [row["target"] for row in csv.DictReader(file)] == [row["target"] for row in written]
    graph = etree.parse(rows["graphml"])
    names = {"g": "http://graphml.graphdrawing.org/xmlns"}
    urls = {
        node.get("id"): node.findtext("g:data[@key='url']", namespaces=names)
        for node in graph.iterfind(".//g:node", names)
    }
    edges = [
        (urls[edge.get("source")], urls[edge.get("target")])
        for edge in graph.iterfind(".//g:edge", names)
    ]
    assert edges == [(row["source"], row["target"]) for row in written]
    assert len(set(urls.values())) == len(urls)
    to_gone = {
        "source": f"{found.origin}/new",
        "target": f"{found.origin}/gone",
        "kind": "anchor",
        "text": "The lost page",
        "follow": True,
        "broken": "HTTP 404",
    }
    assert to_gone in written


def test_a_mirror_tells_the_pictures_and_styles_that_are_missing(
    site: FaultySite, tmp_path: Path
) -> None:
    assert run("mirror", f"{site.origin}/", str(tmp_path / "copy")).returncode == 0
    missing = faults_of(tmp_path / "copy" / ".mirror", site.origin)
    for path in ("/lost.png", "/lost.css"):
        assert missing.pages("broken_links", path) == {("/", "")}


@pytest.mark.parametrize(
    ("names", "status"),
    [
        ("broken,orphans", 1),
        ("redirect_circles", 1),
        ("repeated_titles", 1),
        ("fragments,orphans", 1),
        ("nothing", 2),
        (" , ", 2),
    ],
)
def test_faults_that_are_named_set_the_exit_status(found: Found, names: str, status: int) -> None:
    done = run("links", str(found.jobdir), "--fail-on", names)
    assert done.returncode == status, done.stderr
    (said,) = done.stderr.splitlines()
    if status == 1:
        begun = tuple(names.split(","))
        counts = {name: fault.count for name, fault in found.faults.items() if fault.count}
        failed = [f"{name} {counts[name]}" for name in counts if name.startswith(begun)]
        assert said.startswith("failed: ")
        assert set(said.removeprefix("failed: ").split(", ")) - {"fragments not known"} == {*failed}
        assert ("fragments not known" in said) is ("fragments" in names)
    else:
        assert "no fault; there are broken_links, " in said


def test_the_report_names_the_words_of_a_broken_link(found: Found) -> None:
    texts = {found.path(link["url"]): link["text"] for link in report(found.jobdir)["broken"]}
    assert texts == {"/gone": "Gone", "/es": "", "/only-in-the-sitemap": "", "/round": "Round"}


def test_the_report_is_one_page_without_anything_from_elsewhere(
    found: Found, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    done = run("report", str(found.jobdir), "--html", str(path))
    assert (done.returncode, done.stderr.strip()) == (0, f"report in {path}")
    page = html.parse(path).getroot()
    assert not page.xpath("//script | //img | //link | //@onclick | //@src")
    rules = page.findtext(".//style")
    assert rules.index("@media print") > rules.index("\nbody {"), "the later rule counts"
    assert page.xpath("//section/@id") == [
        name for name, fault in found.faults.items() if fault.count
    ]
    figures = [" ".join(item.text_content().split()) for item in page.xpath("//ul[1]/li")]
    assert any(re.fullmatch(r"\d+ URLs? failed: no page came", figure) for figure in figures)
    assert f"{found.origin}/gone" in page.get_element_by_id("broken_links").text_content()
    targets = {target.removeprefix("#") for target in page.xpath("//a/@href[starts-with(., '#')]")}
    assert targets == set(page.xpath("//section/@id"))


def test_a_crawl_that_is_not_over_or_read_nothing_says_so(site: FaultySite, tmp_path: Path) -> None:
    crawl(f"{site.origin}/", tmp_path / "part", "-a", "max_pages=3")
    said = run("links", str(tmp_path / "part")).stdout.splitlines()
    assert said[1].startswith("The crawl has still to ask for ")
    run("report", "--html", str(tmp_path / "part.html"), str(tmp_path / "part"))
    assert "this is not the whole site" in (tmp_path / "part.html").read_text()
    nowhere = ("-a", f"url={site.origin}/none", "-a", "sitemaps=no")
    scrapy("crawl", "site", *nowhere, "-s", f"JOBDIR={tmp_path / 'no'}")
    assert run("links", str(tmp_path / "no")).stdout == f"{tmp_path / 'no'}: 0 pages\n"
    run("report", "--html", str(tmp_path / "no.html"), str(tmp_path / "no"))
    assert "No page was read" in (tmp_path / "no.html").read_text()


def test_what_is_gone_at_the_next_visit_is_a_broken_link_and_no_page(
    found: Found, site: FaultySite
) -> None:
    with Crawl.open(found.jobdir) as stored:
        assert any(found.path(link.source) == "/leaving" for link in stored.links())
    site.gone |= {"/leaving", "/twin-b"}
    crawl(f"{site.origin}/", found.jobdir, "-a", "revisit=yes")
    later = faults_of(found.jobdir, found.origin)
    assert sorted(later.urls("broken_links")) == ["/es", "/gone", "/leaving", "/twin-b"], (
        "the sitemap may not name it any more"
    )
    assert later.pages("broken_links", "/leaving") == {("/", "Leaving")}
    assert not later.faults["repeated_titles"].count
    with Crawl.open(found.jobdir) as stored:
        sources = {found.path(link.source) for link in stored.links()}
    assert "/leaving" not in sources, "it has no links any more"
    assert "/" in sources


def test_a_page_that_moved_without_a_redirect_is_no_duplicate_of_where_it_was(
    tmp_path: Path,
) -> None:
    words = " ".join(f"quay{number}" for number in range(80))

    def linking(*names: str) -> bytes:
        return "".join(f'<a href="{name}">{name}</a> ' for name in names).encode()

    page = f"<title>Quays</title><p>{words}</p>".encode()
    with ManyPages({"/": linking("old"), "/old": page}) as site:
        crawl(site.url, tmp_path / "job")
        del site.pages["/old"]
        site.pages |= {"/": linking("new"), "/new": page}
        crawl(site.url, tmp_path / "job", "-a", "revisit=yes")
        moved = faults_of(tmp_path / "job", site.origin)
        assert not moved.faults["duplicates"].count
        site.pages |= {"/": linking("new", "newer"), "/newer": page}
        crawl(site.url, tmp_path / "job", "-a", "revisit=yes")
        twice = faults_of(tmp_path / "job", site.origin)
    assert twice.urls("duplicates") == ["/new"]
    assert twice.pages("duplicates", "/new") == {("/newer", "the same bytes: Quays")}
