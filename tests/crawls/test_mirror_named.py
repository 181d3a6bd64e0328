"""Mirrors have what scripts and forms of documentation name, so that its searches work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.mirrored import Mirrored, check, mirror
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browsing.walk import Browsers

pytestmark = pytest.mark.slow

# As javadoc has it: the page says where the root is, a script of the root loads the indexes.
JAVADOC = {
    "/j/script.js": "var loaded = 0;"
    "for (const name of ['type-search-index.js', 'tag-search-index.js', 'no-search-index.js']) {"
    "  const one = document.createElement('script'); one.src = pathtoroot + name;"
    "  one.onload = () => { loaded++; document.querySelector('h1').textContent ="
    "    typeof types + typeof tags + types.map(each => each.u).join() };"
    "  document.head.append(one); }",
    "/j/type-search-index.js": 'types = [{"l":"All","u":"all-index.html"},{"p":"a.b","l":"C"}]',
    "/j/tag-search-index.js": 'tags = [{"l":"Values","u":"values.html#x"}]',
}
# As Doxygen has it: a menu, a tree whose branches are scripts, results by kind and letter.
DOXYGEN = {
    "/d/menudata.js": 'var menudata={children:[{text:"Main",url:"index.html"},'
    '{text:"Files",url:"files.html#index_a"}]}',
    "/d/navtreedata.js": 'var NAVTREE =\n[\n  [ "P", "index.html", [\n'
    '    [ "Modules", "modules.html", "modules_dup" ] ] ]\n];\nvar NAVTREEINDEX =\n[\n"a.html"\n];',
    "/d/modules_dup.js": 'var modules =\n[\n  [ "One", "one.html", null ]\n];',
    "/d/navtreeindex0.js": 'var NAVTREEINDEX0 =\n{\n"modules.html":[0]\n};',
    "/d/search/searchdata.js": 'var indexSectionsWithContent =\n{\n  0: "ab"\n};\n'
    'var indexSectionNames =\n{\n  0: "all"\n};\n',
    "/d/search/all_0.js": "var searchData=[['a_0',['a',['../found.html#m',1]]]];",
    "/d/search/all_1.js": "var searchData=[];",
}
# As Sphinx has it: the search is a page to which a relation and a form lead.
SPHINX = {
    "/s/searchindex.js": 'Search.setIndex({"docnames":["index","lost/page"],"filenames":[]})',
    "/s/_static/search.js": "const page = 'search.html'; const picture = 'icon.svg';",
}
PAGES = (
    "/j/ /j/all-index.html /j/values.html /d/ /d/files.html /d/modules.html /d/one.html"
    " /d/found.html /s/ /s/lost/page.html /s/genindex.html /s/icon.svg /asked/"
).split()


def _head(folder: str, *names: str) -> str:
    return "".join(f'<script src="/{folder}/{name}"></script>' for name in names)


@pytest.fixture(scope="module")
def site() -> Iterator[ChangingSite]:
    with ChangingSite() as site:
        for path in PAGES:
            site.put(path, prose(path, 60))
        root = '<script>var pathtoroot = "./";</script>'
        site.put("/j/", "java", head=root + _head("j", "script.js"))
        site.put("/d/", "doxygen", head=_head("d", *"menudata.js navtreedata.js".split())
                 + _head("d", "search/searchdata.js"))  # fmt: skip
        search = '<link rel="search" title="Search" href="search.html">'
        site.put("/s/", "sphinx", head=search + _head("s", "_static/search.js"))
        site.put("/s/search.html", "search", head=_head("s", "searchindex.js"))
        for path, code in (JAVADOC | DOXYGEN | SPHINX).items():
            site.added[path] = _file(code, "text/javascript")
        site.added["/s/objects.inv"] = _file("# Sphinx", "application/octet-stream")
        drawing = "<svg xmlns='http://www.w3.org/2000/svg'/>"
        site.added["/s/icon.svg"] = _file(drawing, "image/svg+xml")
        site.added["/soft.js"] = lambda exchange: exchange.answer(page("nothing is here"))
        form = "<form action=/asked/?x=1><input name=q></form><form action=/never/ method=post>"
        named = "<script>var one = 'soft.js', two = 'missing.json';"
        named += "var three = ['/hidden.html', '/notes.md'];</script>"
        named += '<script type="application/json">{"search": "told/worker.js"}</script>'
        site.added["/told/worker.js"] = _file("onmessage = 0", "text/javascript")
        site.put("/hidden.html", prose("hidden", 60), ["/notes.md"])
        site.put("/notes.md", prose("notes", 60))  # a page, whatever its name
        site.added["/"] = lambda exchange: exchange.answer(
            page(prose("home", 200) + form, ["/j/", "/d/", "/s/"], head=named)
        )
        yield site


@pytest.fixture(scope="module")
def mirrored(site: ChangingSite, tmp_path_factory: pytest.TempPathFactory) -> Mirrored:
    return mirror(site.url, tmp_path_factory.mktemp("named") / "mirror")


def _file(text: str, content_type: str):  # type: ignore[no-untyped-def]
    return lambda exchange: exchange.answer(text.encode(), content_type)


def test_everything_that_scripts_and_forms_name_is_there(
    site: ChangingSite, mirrored: Mirrored
) -> None:
    expected = {*PAGES, *JAVADOC, *DOXYGEN, *SPHINX, "/s/search.html", "/s/objects.inv"}
    expected.add("/told/worker.js")  # as MkDocs' Material theme names it
    missing = {path for path in expected if mirrored.path_of(site.at(path)) is None}
    assert missing == set()
    assert mirrored.path_of(site.at("/soft.js")) is None  # a page, where a script was named
    assert mirrored.path_of(site.at("/never/")) is None
    assert "/asked/?x=1" not in site.paths()


def test_page_with_the_name_of_a_file_is_there_if_a_link_leads_to_it(
    site: ChangingSite, mirrored: Mirrored
) -> None:
    # Its name in a script was asked for first, and told nothing of it.
    hidden = mirrored.path_of(site.at("/hidden.html"))
    assert hidden is not None
    assert 'href="notes.md.html"' in mirrored.read(hidden).decode()


def test_names_that_lead_nowhere_are_no_faults_of_the_site(
    site: ChangingSite, mirrored: Mirrored
) -> None:
    assert "missing" not in mirrored.done.stdout
    wrong = {"/j/no-search-index.js", "/missing.json", "/d/search/nomatches.html"}
    assert wrong <= set(site.paths())
    assert check(mirrored.folder).returncode == 0
    known = len(site.paths())
    again = mirror(site.url, mirrored.folder)
    assert "missing" not in again.done.stdout
    assert len(site.paths()) > known  # what is named is asked for anew


def test_search_of_documentation_works_from_the_disk(
    site: ChangingSite, mirrored: Mirrored, browsers: Browsers
) -> None:
    path = mirrored.path_of(site.at("/j/"))
    assert path is not None
    view = browsers.offline.view((mirrored.folder / path).as_uri())
    assert "objectobjectall-index.html," in view.text
    assert [url for url in view.failed if "no-search-index" not in url] == []
