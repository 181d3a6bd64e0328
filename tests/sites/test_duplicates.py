"""One file under many addresses: the same words, and new links at each answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from tests.sites.duplicates import DUPLICATES, plain_path
from tests.sites.nginx import serve
from tests.sites.packages import SiteUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.nginx import ServedSite

_PAGE = '<html><body><p>Words. <a href="b.html">b</a> <a href="b.html#x">x</a></body></html>'
_SID = re.compile(r"\bsid=([0-9a-f]{32})")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    root: Path = tmp_path_factory.mktemp("duplicates")
    (root / "deep").mkdir()
    for name in ("index.html", "b.html", "deep/index.html"):
        (root / name).write_text(_PAGE)
    try:
        with serve(root, "", DUPLICATES) as served:
            yield served
    except SiteUnavailableError as lack:
        pytest.skip(f"no server here: {lack}")


def read(site: ServedSite, path: str) -> str:
    with urlopen(site.url + path) as answer:
        return str(answer.read(), "utf-8")


@pytest.mark.parametrize("prefix", ["", "print/", "s/0a1b/"])
@pytest.mark.parametrize("path", ["", "index.html", "b.html?sid=1", "deep/", "deep/index.html?x"])
def test_page_is_the_file_with_links_of_its_own(site: ServedSite, prefix: str, path: str) -> None:
    text = read(site, prefix + path)
    sids = set(_SID.findall(text))
    assert len(sids) == 1
    sid = sids.pop()
    file = plain_path(site.url + prefix + path)
    assert f'<a href="b.html?sid={sid}">b</a> <a href="b.html?sid={sid}#x">x</a>' in text
    assert f'<a href="/print/{file}"></a><a href="/s/{sid}/{file}"></a></body>' in text
    assert (site.root / file).is_file()


def test_no_two_answers_have_the_same_links(site: ServedSite) -> None:
    assert read(site, "b.html") != read(site, "b.html")
