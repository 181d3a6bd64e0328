"""Mirrors that keep their earlier versions, and show what changed."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from crawler.console.mirror_run import begin_version
from crawler.mirror.errors import SymbolicLinkError
from crawler.mirror.folder import MirrorFolder
from crawler.mirror.reports import drop_if_same, keep_version, version_names, versions_folder
from tests.crawls.command import scrapy
from tests.crawls.mirrored import check, mirror
from tests.crawls.test_mirror_served import serving
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_update_keeps_what_was_and_shows_what_changed(tmp_path: Path) -> None:
    with ChangingSite(("/a", "/b", "/c")) as site:
        for path in ("/a", "/b", "/c"):
            site.put(path, prose(path, 80))
        site.put("/a", f"{prose('/a', 80)} The old ending is here.")
        mirrored = mirror(site.url, tmp_path / "m", "--keep-versions")
        assert version_names(mirrored.folder) == []
        assert "no earlier version" in scrapy("mirror", "history", str(mirrored.folder)).stdout
        assert 'href="versions.html"' in mirrored.read("index.html").decode()
        assert check(mirrored.folder).returncode == 0
        a, b = (mirrored.path_of(site.at(path)) for path in ("/a", "/b"))
        assert a
        assert b
        before = mirrored.read(a)
        site.put("/a", f"{prose('/a', 80)} A new ending has come.")
        site.fail("/c", 410)
        (tmp_path / ".m.zip.part").write_bytes(b"PK")  # left by a killed process
        again = mirror(site.url, mirrored.folder)
        assert not (tmp_path / ".m.zip.part").exists()
        unchanged = mirror(site.url, mirrored.folder)  # keeps no version of its own
    assert "--keep-versions" in again.done.stdout
    [name] = version_names(mirrored.folder)
    place = versions_folder(mirrored.folder)
    assert (place / name / a).read_bytes() == before
    assert "versions.html" not in (place / name / "index.html").read_text()
    assert (place / name / b).samefile(mirrored.folder / b)  # no second copy
    page = (place / f"{name}.html").read_text()
    assert "The old ending is here." in page
    assert "A new ending has come." in page
    assert site.at("/c") in page.partition("<h2>Gone</h2>")[2]
    assert f"{name}.html" in unchanged.read("versions.html").decode()
    told = scrapy("mirror", "history", "--json", str(mirrored.folder))
    below = f".mirror/versions/{name}"
    listed = [{"name": name, "entry": f"{below}/index.html", "changes": f"{below}.html"}]
    assert json.loads(told.stdout) == {"versions": listed}
    told = scrapy("mirror", "history", str(mirrored.folder))
    assert told.stdout == f"{place / name / 'index.html'}, what changed then: {place / name}.html\n"
    assert check(mirrored.folder).returncode == 0
    with serving(mirrored.folder) as address:
        for path, content in ((f"{name}/{a}", before), (f"{name}.html", page.encode())):
            with urlopen(f"{address}/.mirror/versions/{path}") as answer:
                assert answer.read() == content
                assert answer.headers["Content-Type"].startswith("text/html")
        for path in ("crawl.db", "versions/../crawl.db", "versions/%2e%2e/crawl.db", "versions/"):
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"{address}/.mirror/{path}")


def made(root: Path) -> MirrorFolder:
    folder = MirrorFolder(root)
    for path in ("changes.json", "h.example/a.html", "h.example/deep/b.html", "warc/x"):
        folder.write(path, path.encode())
    return folder


def test_version_is_whole_or_not_there(tmp_path: Path) -> None:
    """A killed process leaves a part under another name, which the next one removes."""
    with made(tmp_path) as folder:
        part = versions_folder(tmp_path) / ".partial"
        (part / "h.example").mkdir(parents=True)
        (part / "h.example" / "half.html").write_text("half")
        assert version_names(tmp_path) == []
        name = keep_version(tmp_path, folder)
        assert version_names(tmp_path) == [name]
        kept = versions_folder(tmp_path) / str(name)
        found = {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()}
        assert found == {"changes.json", "h.example/a.html", "h.example/deep/b.html"}
        assert not part.exists()
        assert keep_version(tmp_path, folder) is None  # as a process does that was killed then


@pytest.mark.parametrize("change", ["replace", "add", "remove"])
def test_version_stays_only_where_a_file_changed(tmp_path: Path, change: str) -> None:
    with made(tmp_path) as folder:
        keep_version(tmp_path, folder)
        folder.write("changes.json", b"another run")
        os.utime(tmp_path / "changes.json", (2**32, 2**32))
        if change == "replace":
            folder.write("h.example/a.html", b"new")
        elif change == "add":
            folder.write("h.example/new.html", b"new")
        else:
            folder.remove("h.example/a.html")
        assert not drop_if_same(tmp_path, folder)
        assert keep_version(tmp_path, folder) is not None
        assert drop_if_same(tmp_path, folder)
        assert len(version_names(tmp_path)) == 1


def test_version_that_is_removed_is_no_version_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may be killed while its files are removed."""
    with made(tmp_path) as folder:
        keep_version(tmp_path, folder)
        monkeypatch.setattr("crawler.mirror.reports.shutil.rmtree", lambda *_, **__: None)
        assert drop_if_same(tmp_path, folder)
    assert version_names(tmp_path) == []


def test_page_of_changes_is_written_once_also_after_a_kill(tmp_path: Path) -> None:
    with made(tmp_path) as folder:
        name = str(keep_version(tmp_path, folder))
        folder.write("h.example/a.html", b"new")
        folder.write("changes.json", b'{"new": [{"url": "http://h.example/of-the-first"}]}')
        os.utime(tmp_path / "changes.json", (2**31, 2**31))
    # The process was killed before it wrote the page; the next update begins.
    begin_version(tmp_path, {"keep_versions": "yes"})
    page = versions_folder(tmp_path) / f"{name}.html"
    assert "of-the-first" in page.read_text()
    later = version_names(tmp_path)[1:]
    assert len(later) == 1
    shutil.rmtree(versions_folder(tmp_path) / later[0])
    with MirrorFolder(tmp_path) as folder:
        folder.write("changes.json", b'{"new": [{"url": "http://h.example/of-another"}]}')
    begin_version(tmp_path, {"keep_versions": "yes"})
    assert "of-the-first" in page.read_text(), "what another update changed is not its own"


def test_versions_are_written_through_no_symbolic_link(tmp_path: Path) -> None:
    with made(tmp_path / "m") as folder:
        (tmp_path / "elsewhere").mkdir()
        versions_folder(tmp_path / "m").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(SymbolicLinkError, match="remove it"):
            keep_version(tmp_path / "m", folder)
    assert list((tmp_path / "elsewhere").iterdir()) == []
