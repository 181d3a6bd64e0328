"""The walk sees what is wrong with a mirror: each test breaks a good one in one place."""

from __future__ import annotations

import shutil
from base64 import b64decode
from typing import TYPE_CHECKING

import pytest

from tests.browsing.mirror import Mirror
from tests.browsing.walk import walk
from tests.sites.nginx import serve
from tests.sites.packages import SiteUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers, Walked
    from tests.sites.nginx import ServedSite

pytestmark = pytest.mark.slow

_DOT = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_HEAD = '<!DOCTYPE html><meta charset=utf-8><link rel=stylesheet href="looks/a.css">'
_FILES = {
    "index.html": f'{_HEAD}<p>Home, <a href="one.html#x">one</a> <a href="deep/two.html">two</a>'
    '<img src="dot.gif" alt=""><a href="https://elsewhere.example/">away</a>',
    "one.html": f'{_HEAD}<p id=x>The first page. <iframe src="framed.html"></iframe>',
    "framed.html": "<!DOCTYPE html><p>In a frame.",
    "deep/two.html": '<!DOCTYPE html><script src="../words.js"></script><p>The second page.',
    "looks/a.css": '@import "b.css"; p { color: red }',
    "looks/b.css": "p { margin: 0; font-size: 30px; background: url(../dot.gif) }",
    "words.js": "addEventListener('load', () => document.body.append('By script.'))",
}


@pytest.fixture(scope="module")
def little_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    root = tmp_path_factory.mktemp("served")
    for name, text in _FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "dot.gif").write_bytes(_DOT)
    try:
        with serve(root, "little") as site:
            yield site
    except SiteUnavailableError as lack:
        pytest.skip(f"no server here: {lack}")


@pytest.fixture
def mirror(little_site: ServedSite, tmp_path: Path) -> Mirror:
    """A good one: all links of the site are relative, so that a copy will do."""
    root = tmp_path / "mirror with #, % and space"
    shutil.copytree(little_site.root, root / "site")
    (root / "index.html").write_text('<meta http-equiv=refresh content="0; url=site/index.html">')
    files = [file.relative_to(root / "site") for file in root.glob("site/**/*.*")]
    return Mirror(root, {root / "site" / file: little_site.url + str(file) for file in files})


@pytest.fixture
def walked(mirror: Mirror, browsers: Browsers, tmp_path: Path) -> Walked:
    return walk(mirror, browsers, 50, tmp_path / "pictures")


def replace(mirror: Mirror, name: str, old: str, new: str) -> None:
    file = mirror.root / "site" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


class Broken:
    """A mirror broken in one place."""

    def __init__(self, mirror: Mirror, browsers: Browsers, pictures: Path) -> None:
        self.mirror, self.browsers, self.pictures = mirror, browsers, pictures

    def faults(self) -> str:
        return "\n".join(walk(self.mirror, self.browsers, 50, self.pictures).faults)


@pytest.fixture
def broken(mirror: Mirror, browsers: Browsers, tmp_path: Path) -> Broken:
    return Broken(mirror, browsers, tmp_path / "pictures")


def test_good_mirror_is_walked_without_a_fault(walked: Walked, mirror: Mirror) -> None:
    assert walked.faults == []
    names = ["index.html", "one.html", "deep/two.html", "framed.html"]
    assert walked.pages == [mirror.root / "site" / name for name in names]


def test_walk_ends_at_its_limit(mirror: Mirror, browsers: Browsers, tmp_path: Path) -> None:
    assert len(walk(mirror, browsers, 2, tmp_path).pages) == 2


def test_no_network_is_reached_offline(browsers: Browsers, little_site: ServedSite) -> None:
    before = len(little_site.answered())
    assert browsers.offline.view(little_site.url).failed
    assert len(little_site.answered()) == before
    assert not browsers.online.view(little_site.url).failed
    assert browsers.online.view("http://localhost:1080/").failed


@pytest.mark.parametrize("name", ["dot.gif", "looks/a.css", "looks/b.css", "words.js"])
def test_missing_requisite_is_reported(broken: Broken, name: str) -> None:
    (broken.mirror.root / "site" / name).unlink()
    faults = broken.faults()
    assert f"/{name}: net::ERR_FILE_NOT_FOUND" in faults
    assert ("other images" in faults) == (name == "dot.gif")
    assert ("other looks" in faults) == (name.endswith("css"))
    assert ("other text" in faults) == (name == "words.js")
    assert list(broken.pictures.glob("*-disk.png"))


def test_missing_page_is_reported_where_it_is_linked(broken: Broken) -> None:
    (broken.mirror.root / "site" / "deep" / "two.html").unlink()
    assert broken.faults().startswith("site/index.html: link to nothing: file:///")


def test_missing_frame_is_reported(broken: Broken) -> None:
    (broken.mirror.root / "site" / "framed.html").unlink()
    assert "framed.html: net::ERR_FILE_NOT_FOUND" in broken.faults()


def test_missing_first_page_is_reported(broken: Broken) -> None:
    (broken.mirror.root / "site" / "index.html").unlink()
    assert "net::ERR_FILE_NOT_FOUND" in broken.faults()


def test_link_to_a_folder_is_reported(broken: Broken) -> None:
    replace(broken.mirror, "index.html", "deep/two.html", "deep/")
    assert "link to nothing" in broken.faults()


def test_link_out_of_the_mirror_is_reported(broken: Broken, tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text("<p>Not of the mirror.")
    replace(broken.mirror, "index.html", "deep/two.html", "../../other.html")
    assert "link out of the mirror" in broken.faults()


def test_other_text_is_reported_with_both_wordings(broken: Broken) -> None:
    replace(broken.mirror, "one.html", "first page", "first draft")
    assert broken.faults() == ("site/one.html: other text: 'draft.' for 'page.' after 2 words")


def test_other_style_is_reported(broken: Broken) -> None:
    replace(broken.mirror, "looks/b.css", "30px", "20px")
    assert "other looks of 5 elements" in broken.faults()


def test_scripts_are_off_only_for_a_while(
    mirror: Mirror, browsers: Browsers, tmp_path: Path
) -> None:
    (mirror.root / "site" / "words.js").write_text("document.title = 'another script'")
    with browsers.without_scripts():
        assert walk(mirror, browsers, 50, tmp_path).faults == []
    assert "other text: '' for 'By script.'" in "".join(walk(mirror, browsers, 50, tmp_path).faults)


def test_absolute_link_to_what_is_here_is_reported(broken: Broken, little_site: ServedSite) -> None:
    replace(broken.mirror, "index.html", "one.html", f"{little_site.url}one.html")
    assert f"link to the network for what is here: {little_site.url}one.html" in broken.faults()


def test_request_to_the_site_is_reported(broken: Broken, little_site: ServedSite) -> None:
    replace(broken.mirror, "index.html", "dot.gif", f"{little_site.url}dot.gif")
    faults = broken.faults()
    assert f"asked of the network: {little_site.url}dot.gif" in faults
    assert "other images" in faults


def test_what_the_site_itself_lacks_may_stay_a_link_to_it(
    broken: Broken, little_site: ServedSite
) -> None:
    """A mirror cannot hold it, and leaves the address of the site."""
    (little_site.root / "words.js").rename(little_site.root / "away.js")
    try:
        url = f"{little_site.url}words.js"
        replace(broken.mirror, "deep/two.html", "../words.js", url)
        assert broken.faults() == ""
    finally:
        (little_site.root / "away.js").rename(little_site.root / "words.js")
