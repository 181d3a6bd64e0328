"""Documentation behind nginx: served as on the web, and ended without a trace."""

from __future__ import annotations

import gzip
import socket
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.sites.nginx import serve
from tests.sites.packages import (
    PACKAGES,
    SiteUnavailableError,
    html_folder,
    require_tool,
    sites_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.nginx import ServedSite


@pytest.fixture
def small_site(tmp_path: Path) -> Iterator[ServedSite]:
    root = tmp_path / "html with space"
    (root / "folder").mkdir(parents=True)
    (root / "index.html").write_text("<title>Home</title>" + "<p>word</p>" * 100)
    (root / "folder" / "style.css").write_text("p { margin: 0 }")
    try:
        with serve(root, "small") as site:
            yield site
    except SiteUnavailableError as lack:
        pytest.skip(f"no server here: {lack}")


class TestServing:
    def test_index_and_types(self, small_site: ServedSite) -> None:
        with urlopen(small_site.url) as page, urlopen(small_site.url + "folder/style.css") as css:
            assert page.headers["Content-Type"] == "text/html"
            assert css.headers["Content-Type"] == "text/css"

    def test_unchanged_page_answers_304(self, small_site: ServedSite) -> None:
        with urlopen(small_site.url) as page:
            tag = page.headers["ETag"]
        with pytest.raises(HTTPError) as caught:
            urlopen(Request(small_site.url, headers={"If-None-Match": tag}))
        assert caught.value.code == 304
        caught.value.close()
        assert [line.status for line in small_site.answered(at_least=2)] == [200, 304]

    def test_text_comes_compressed(self, small_site: ServedSite) -> None:
        with urlopen(Request(small_site.url, headers={"Accept-Encoding": "gzip"})) as page:
            assert gzip.decompress(page.read()).startswith(b"<title>Home")

    @pytest.mark.parametrize("path", ["folder/", "../", "missing.html"])
    def test_nothing_else_is_shown(self, small_site: ServedSite, path: str) -> None:
        with pytest.raises(HTTPError) as caught:
            urlopen(small_site.url + path)
        assert caught.value.code in {400, 403, 404}
        caught.value.close()

    def test_server_ends_with_the_block(self, tmp_path: Path) -> None:
        try:
            with serve(tmp_path, "x") as site:
                host, port = site.url.split("/")[2].split(":")
        except SiteUnavailableError as lack:
            pytest.skip(f"no server here: {lack}")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), timeout=1)
        assert not site.log.parent.exists()


class TestPackages:
    def test_folder_of_the_environment_comes_first(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("NEARDUP_SITES", str(tmp_path))
        assert sites_folder() == tmp_path

    def test_else_the_cache_of_the_user(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.delenv("NEARDUP_SITES", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert sites_folder() == tmp_path / "crawl-once" / "sites"

    def test_missing_tool_is_named(self) -> None:
        with pytest.raises(SiteUnavailableError, match="no-such-program is not installed"):
            require_tool("no-such-program")

    def test_package_without_its_folder_is_named(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("NEARDUP_SITES", str(tmp_path))
        (tmp_path / "sqlite3-doc").mkdir()
        with pytest.raises(SiteUnavailableError, match="no folder usr/share/doc/sqlite3 in"):
            html_folder(PACKAGES["sqlite3-doc"])


class TestDocumentation:
    def test_apache_manual_is_served(self, apache_site: ServedSite) -> None:
        with urlopen(apache_site.url + "en/") as page:
            assert b"Apache HTTP Server" in page.read()

    @pytest.mark.parametrize("site", ["postgresql_site", "sqlite_site", "python_site"])
    def test_other_manuals_are_served(self, request: pytest.FixtureRequest, site: str) -> None:
        served: ServedSite = request.getfixturevalue(site)
        with urlopen(served.url) as page:
            assert b"<title>" in page.read()
