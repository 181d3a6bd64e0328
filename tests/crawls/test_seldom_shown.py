"""A browser shows few pages where it adds nothing, and all that it adds something to."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from crawler.rendering.browser import HEADLESS, WITH_WINDOWS
from crawler.url_rules.render_kinds import LATER_PAGE
from tests.crawls.command import crawl, report, scrapy
from tests.crawls.crawled import exported
from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Response

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.sites.serving import Request

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]

PAGES = 4
"""Pages of each kind."""

APP = '<script src="/app.js"></script>'

# Each of these pages asks for its text, and puts it where its markup says so, or at the end.
SCRIPT = """
fetch("/shown" + location.pathname).then((answer) => answer.text()).then((text) => {
  if (!text) return;
  const place = document.querySelector(".place") || document.body;
  if (place.matches("tbody")) place.innerHTML = `<tr><td>${text}</td></tr>`;
  else if (window.row) {
    const item = window.row.content.cloneNode(true);
    item.firstElementChild.textContent = text;
    place.append(item);
  } else place.append(Object.assign(document.createElement("p"), {textContent: text}));
});
"""

WITH_A_SIGN = {
    "root": "<div class=place id=root></div>",
    "list": "<ul id=items class=place></ul>",
    "rows": "<table><thead><tr><th>Name</thead><tbody class=place></tbody></table>",
    "own": "<app-card class=place></app-card>",
    "filled": "<app-card class=place data='7'>Seven</app-card>",
    "alpine": "<div class=place x-data='{}'>More</div>",
    "vue": "<p>{{ title }}</p><div class=place>More</div>",
    "htmx": "<div class=place hx-get='/part' hx-trigger=load>More</div>",
    "template": "<ul class=place><li>Items</ul><template id=row><li></li></template>",
    "routes": "<a href='#/news'>News</a>",
    "loading": "<div class=place><p>Loading articles</p></div>",
    "spinner": "<div class=place><i id=loading-icon></i>More</div>",
}
"""Markup of pages that say that something may be filled, by the kind of their URLs."""

WITHOUT_A_SIGN = {"heading": "<h2 id='loading'>Loading Extensions</h2>", "plain": "<p>More</p>"}


class Pages(MadeSite):
    """Serves a home, ``/KIND/N`` for each kind, and the texts that their scripts ask for.

    Args:
        kinds: What stands on the pages of a kind.
        filled: Kinds whose scripts are given a text.
        pages: Pages of each kind.
        home: What stands on the home behind its links.
    """

    def __init__(
        self, kinds: Mapping[str, str], filled: set[str], pages: int = PAGES, home: str = ""
    ) -> None:
        super().__init__()
        self._kinds, self._filled, self._pages, self._home = kinds, filled, pages, home
        self.shown: list[str] = []

    @property
    def paths(self) -> list[str]:
        return [f"/{kind}/{number}" for kind in self._kinds for number in range(self._pages)]

    def respond(self, request: Request) -> Response:
        path = request.target
        if path in OF_EVERY_HOST:
            return NOT_FOUND
        if path == "/app.js":
            return Response(SCRIPT.encode(), content_type="text/javascript")
        if path.startswith("/shown/"):
            page = path.removeprefix("/shown")
            self.shown.append(page)
            text = prose(f"added to {page}", 60) if page.split("/")[1] in self._filled else ""
            return Response(text.encode(), content_type="text/plain")
        if path == "/":
            links = "".join(f'<a href="{page}">on</a> ' for page in self.paths)
            return Response(_page("Home", links + self._home))
        found = re.fullmatch(r"/(\w+)/\d+", path)
        if found is None or path not in self.paths:
            return NOT_FOUND
        return Response(_page(path, self._kinds[found[1]] + APP))


def _page(title: str, markup: str) -> bytes:
    """Return a page whose main content is all that it shows."""
    words = f"<h1>{title}</h1><p>{prose(title)}</p>"
    return f"<!DOCTYPE html><title>{title}</title><body>{words}{markup}</body>".encode()


def texts_of(jobdir: Path, site: Pages) -> dict[str, str]:
    return {path: row["text"] or "" for path, row in exported(jobdir, site.origin).items()}


def unfilled(jobdir: Path, site: Pages, kinds: set[str]) -> list[str]:
    """Return the pages of some kinds that are stored without what the browser adds."""
    texts = texts_of(jobdir, site)
    wanted = [path for path in site.paths if path.split("/")[1] in kinds]
    return [path for path in wanted if prose(f"added to {path}", 60)[:60] not in texts[path]]


def test_pages_with_a_sign_are_filled_where_the_first_ones_gain_nothing(tmp_path: Path) -> None:
    kinds = {**WITHOUT_A_SIGN, **WITH_A_SIGN}
    with Pages(kinds, set(WITH_A_SIGN)) as site:
        crawl(f"{site.origin}/", tmp_path, "-a", "scope=host")
        assert unfilled(tmp_path, site, set(WITH_A_SIGN)) == []


@pytest.mark.parametrize("home", ["", "<p>More</p>" + APP])
def test_pages_to_which_a_script_only_appends_are_all_filled(tmp_path: Path, home: str) -> None:
    """The others wait for what the first one gives: they came while it was shown."""
    with Pages({"plain": "<p>More</p>"}, {"plain"}, 12, home) as site:
        crawl(f"{site.origin}/", tmp_path, "-a", "scope=host")
        assert unfilled(tmp_path, site, {"plain"}) == []


def test_of_pages_that_scripts_leave_as_they_are_few_are_shown(tmp_path: Path) -> None:
    with Pages(WITHOUT_A_SIGN, set(), LATER_PAGE, APP) as site:
        crawl(f"{site.origin}/", tmp_path, "-a", "scope=host")
        texts = texts_of(tmp_path, site)
        assert len(site.shown) == 3, "the first two, and one of many"
        assert site.shown[0] == "/"
        assert set(site.paths) < set(texts)


def test_reports_and_the_status_say_which_browser_is_used(tmp_path: Path) -> None:
    used = next(filter(None, map(shutil.which, HEADLESS + WITH_WINDOWS)), "Playwright's own")
    with Pages({"root": WITH_A_SIGN["root"]}, {"root"}) as site:
        crawl(f"{site.origin}/", tmp_path, "-a", "scope=host")
    assert report(tmp_path)["browser"] == used
    assert json.loads((tmp_path / "status.json").read_text())["browser"] == used
    said = scrapy("report", str(tmp_path)).stdout
    assert f"browser for pages that scripts fill: {used}" in said.splitlines()
    page = tmp_path / "report.html"
    assert scrapy("report", "--html", str(page), str(tmp_path)).returncode == 0
    assert used.replace("'", "&#39;") in page.read_text()
