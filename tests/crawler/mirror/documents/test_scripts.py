from __future__ import annotations

import pytest

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import LinkRole
from crawler.mirror.documents.scripts import MAX_NAMES, is_file_name, other_form

FOLDER = "http://host.example/d/"


def named(code: str, name: str = "own.js") -> set[str]:
    """What a script names as a guess, joined to it."""
    document = read_document(code.encode(), FOLDER + name, "text/javascript")
    if document is None:
        return set()
    found = {link.url for link in document.links if link.kind is LinkRole.NAMED}
    return {(url or "").removeprefix(FOLDER) for url in found}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("createElem(doc, tag, 'member-search-index.js')", {"member-search-index.js"}),
        ('index = [{"l":"All","u":"all-index.html"},{"l":"B","url":"b.html#c"}]',
         {"all-index.html", "b.html"}),
        ("n.html('<img src=\"'+relpath+'sync_on.png\" title=\"'+ON+'\"/>')", {"sync_on.png"}),
        ('a = ["../up.html", "deep/er.json?v=3", `x.svg`, "/root.pdf"]',
         {"http://host.example/up.html", "deep/er.json?v=3", "x.svg",
          "http://host.example/root.pdf"}),
        ("a = ['.js', '../.html', 'no ending', 'a b.html', `${x}.js`, 'text/html', 'x.unknown']",
         set()),
        ("import {a} from './module.js'", set()),  # which is no guess
    ],
)  # fmt: skip
def test_texts_count_that_look_like_urls_with_a_known_ending(code: str, found: set[str]) -> None:
    assert named(code) == found


@pytest.mark.parametrize("kind", ["application/manifest+json", "application/octet-stream"])
def test_a_web_manifest_names_its_icons(kind: str) -> None:
    code = b'{"name": "a.b", "icons": [{"src": "/i/a.png", "type": "image/png"}]}'
    document = read_document(code, f"{FOLDER}site.webmanifest", kind)
    assert document is not None
    assert [link.url for link in document.links] == ["http://host.example/i/a.png"]


def test_sphinx_lists_documents_without_their_ending() -> None:
    code = 'Search.setIndex({"docnames": ["a", "b/c"], "terms": {"b.html": 0}, "titles": ["x.js"]})'
    assert named(code, "searchindex.js") == {"a.html", "b/c.html", "objects.inv", "genindex.html"}
    old = 'Search.setIndex({docnames:["a"],filenames:["a.rst"]})'
    assert named(old, "searchindex.js") == {"a.html", "objects.inv", "genindex.html"}


def test_doxygen_names_branches_of_its_tree_and_parts_of_its_index() -> None:
    code = (
        'var NAVTREE =\n[\n  [ "P", "index.html", [\n    [ "All", "all.html", "all_dup" ],\n'
        '    [ "One", "one.html", null ]\n  ] ]\n];\n'
        'var NAVTREEINDEX =\n[\n"all.html",\n"z.html#m"\n];\n'
    )
    expected = "index.html all.html one.html z.html all_dup.js navtreeindex0.js navtreeindex1.js"
    assert named(code, "navtreedata.js") == set(expected.split())


def test_doxygen_has_a_page_of_results_for_each_kind_and_letter() -> None:
    code = (
        'var indexSectionsWithContent =\n{\n  0: "ab",\n  1: "b"\n};\n'
        'var indexSectionNames =\n{\n  0: "all",\n  1: "classes"\n};\n'
        'var indexSectionLabels =\n{\n  0: "All"\n};\n'
    )
    expected = {"all_0.html", "all_1.html", "classes_0.html", "nomatches.html"}
    assert named(code, "searchdata.js") == expected
    assert other_form("http://h/d/search/all_1f.html") == "http://h/d/search/all_1f.js"
    assert other_form("http://h/d/all.html") is None


def test_what_a_script_names_stays_as_it_is_written() -> None:
    code = b"<script>load('x.js'); go('/y.html')</script><a href=z.html>"
    document = read_document(code, FOLDER, "text/html")
    assert document is not None
    new, _ = document.rewrite(lambda _: "new")
    assert new == code.replace(b"z.html", b"new")


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("<form action=x>", LinkRole.FORM),
        ("<form action=x method=GET>", LinkRole.FORM),
        ("<form action=x method=post>", LinkRole.OTHER),
        ("<link rel=search href=x>", LinkRole.FORM),
        ("<link rel=search type=application/opensearchdescription+xml href=x>",
         LinkRole.REQUISITE),
    ],
)  # fmt: skip
def test_forms_and_searches_lead_to_pages(page: str, kind: LinkRole) -> None:
    document = read_document(page.encode(), FOLDER, "text/html")
    assert document is not None
    assert [link.kind for link in document.links] == [kind]


def test_a_name_is_that_of_a_file_by_its_ending() -> None:
    assert is_file_name("http://h/a.js?v=3")
    assert not is_file_name("http://h/a.html")


def test_a_long_number_is_read_once() -> None:
    # Read from each of its digits it would take hours.
    assert named("indexSectionNames={};" + "1" * 3_000_000, "searchdata.js") == set()


def test_a_list_of_pages_without_end_is_cut() -> None:
    pages = ",".join(f'"{number}"' for number in range(MAX_NAMES + 9))
    found = named(f'Search.setIndex({{"docnames":[{pages}]}})', "searchindex.js")
    assert len(found) == MAX_NAMES + len(("objects.inv", "genindex.html"))
