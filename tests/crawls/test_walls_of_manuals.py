"""Manuals are full of short pages, and of pages on logins and errors: none of them is a wall."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from tests.crawls.command import crawl, pages, report
from tests.sites.packages import PACKAGES
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from tests.sites.serving import Request

PAGES = 300


class FolderSite(MadeSite):
    """Serves the files of a folder, whose index is ``index.html`` or in English."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def respond(self, request: Request) -> Response:
        path = self._folder / unquote(urlsplit(request.target).path).lstrip("/")
        found = next((each for each in (path, path / "index.html") if each.is_file()), None)
        if found is None:
            return NOT_FOUND
        kind = mimetypes.guess_type(found.name)[0] or "text/html"
        return Response(found.read_bytes(), content_type=kind)


@pytest.mark.parametrize(
    ("package", "start"),
    [
        ("apache2-doc", "en/index.html"),
        ("python3.11-doc", "contents.html"),
        ("postgresql-doc-15", "index.html"),
        ("openjdk-17-doc", "allclasses-index.html"),
    ],
)
def test_no_page_of_a_manual_is_called_a_wall(tmp_path: Path, package: str, start: str) -> None:
    folder = Path("/") / PACKAGES[package].folder
    if not (folder / start).is_file():
        pytest.skip(f"{package} is not installed: no {folder / start}")
    with FolderSite(folder) as site:
        bounds = ("-a", "scope=host", "-a", f"max_pages={PAGES}", "-s", "DOWNLOAD_DELAY=0")
        crawl(f"{site.origin}/{start}", tmp_path, *bounds, "-s", "CRAWL_LEARN_URL_RULES=False")
    counts = report(tmp_path)["verdicts"]
    assert sum(counts.values()) >= PAGES
    assert counts["soft_404"] == counts["wall"] == 0
    assert all(page["text"] for page in pages(tmp_path, "--verdict", "too_short"))
