"""Documentation in the themes of its generators: mirrors opened in Chromium beside the site."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from crawl_peers.runs import ROOT, RunFailedError
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from mirror_peers.mirrors import HTTRACK, NO_TEXT, OURS, is_there
from mirror_peers.runs import run_mirror
from mirror_peers.sites import Original
from tests.browsing.chromium import chromium
from tests.browsing.mirror import Mirror
from tests.sites.nginx import serve
from tests.sites.packages import SitePackage, html_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tests.browsing.chromium import Browser
    from tests.browsing.view import View

_SETTLED_SECS = 1.5
_SEARCH_SECS = 12.0
_TEXT_SECS = 5.0
_PAGE_NAME = re.compile(rb"[\"'`(>]([A-Za-z0-9_.~%/-]{1,300}?\.html?)(?=[\"'`#?\\)<])")


@dataclass(frozen=True)
class Search:
    """How a reader searches: by CSS selectors.

    Attributes:
        word: What is typed.
        box: Field for it.
        results: Each result.
        is_sent: Whether Enter leads to a page of results.
        frame: Frame that holds the results; "": the page does.
        button: What is clicked before, to see the field.
    """

    word: str
    box: str
    results: str
    is_sent: bool = False
    frame: str = ""
    button: str = ""


@dataclass(frozen=True)
class Theme:
    """A package, and how it is searched."""

    package: SitePackage
    search: Search | None = None


def _javadoc(word: str, box: str) -> Search:
    return Search(word, box, ".ui-autocomplete li.ui-menu-item")


def _sphinx(word: str) -> Search:
    return Search(word, "input[name=q]", "#search-results ul.search li", is_sent=True)


def _doxygen(word: str) -> Search:
    results = ".SRResult:not([style*='none'])"
    return Search(word, "#MSearchField", results, frame="#MSearchResults")


_DOC = "usr/share/doc"
_RTD = ("libjs-sphinxdoc", "libjs-jquery", "libjs-underscore", "sphinx-rtd-theme-common")
THEMES: Mapping[str, Theme] = {
    "Javadoc 17": Theme(
        SitePackage("libxom-java-doc", f"{_DOC}/libxom-java/apidocs", "xom"),
        _javadoc("element", "#search-input"),
    ),
    "Javadoc 11": Theme(
        SitePackage("libcommons-codec-java-doc", f"{_DOC}/libcommons-codec-java/api", "codec"),
        _javadoc("encode", "#search"),
    ),
    "Doxygen, menu": Theme(
        SitePackage("libconfuse-doc", f"{_DOC}/libconfuse-dev/html", "confuse"), _doxygen("cfg")
    ),
    "Doxygen, tree": Theme(
        SitePackage(
            "libeigen3-doc",
            f"{_DOC}/libeigen3-dev/html",
            "eigen",
            ("libjs-jquery", "libjs-mathjax"),
        ),
        _doxygen("matrix"),
    ),
    "Doxygen, tree, no search": Theme(
        SitePackage("doxygen-doc", f"{_DOC}/doxygen/html", "doxygen")
    ),
    "Sphinx, Read the Docs": Theme(
        SitePackage("python-attr-doc", f"{_DOC}/python-attr-doc/html", "attr", _RTD),
        _sphinx("validator"),
    ),
    "Sphinx, Alabaster": Theme(
        SitePackage("python-aiohttp-doc", f"{_DOC}/python-aiohttp-doc/html", "aiohttp", _RTD[:3]),
        _sphinx("session"),
    ),
    "Sphinx, PyData": Theme(
        SitePackage(
            "groonga-doc",
            f"{_DOC}/groonga-doc/en/html",
            "groonga",
            (*_RTD[:3], "libjs-bootstrap", "python3-pydata-sphinx-theme", "sphinx-common"),
        ),
        _sphinx("column"),
    ),
    "MkDocs": Theme(
        SitePackage(
            "mkdocs-doc",
            f"{_DOC}/mkdocs/html",
            "mkdocs",
            ("libjs-jquery", "libjs-lunr", "libjs-bootstrap4", "fonts-font-awesome"),
        ),
        Search(
            "theme",
            "#mkdocs-search-query",
            "#mkdocs-search-results article",
            button="[data-target='#mkdocs_search_modal']",
        ),
    ),
    "MkDocs, Material": Theme(
        SitePackage("mkdocs-literate-nav-doc", f"{_DOC}/mkdocs-literate-nav-doc/html", "literate"),
        Search("nav", ".md-search__input", ".md-search-result__item"),
    ),
    "GTK-Doc": Theme(SitePackage("libcairo2-doc", "usr/share/gtk-doc/html/cairo", "cairo")),
}
SHOWN = ("served", "disk", "mirror serve")


@dataclass
class Looked:
    """What a browser found in a mirror of a theme, beside the site.

    Attributes:
        theme: Name of the theme.
        package: Name of the package.
        opened: Number of pages that were opened.
        mirrored: Number of pages of our mirror.
        failed: Requests that fail there and not on the site, by way of opening.
        texts: Pages whose text differs, likewise.
        found: Number of results of the search, likewise; empty without a search.
        missing: Pages of the site to which links or scripts lead, and which the mirror lacks.
        cpu: CPU seconds by mirror.
    """

    theme: str
    package: str
    opened: int = 0
    mirrored: int = 0
    failed: dict[str, set[str]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    cpu: dict[str, float] = field(default_factory=dict)


def look_at_theme(name: str, pages: int, max_secs: float) -> Looked:
    """Mirror a theme by each mirror, and open our mirror in Chromium.

    Raises:
        SiteUnavailableError: This machine lacks what it needs.
        RunFailedError: A mirror failed.
    """
    theme = THEMES[name]
    looked = Looked(name, theme.package.name)
    with serve(html_folder(theme.package), theme.package.path) as served:
        site = Original(name, served)
        for mirror in filter(is_there, (HTTRACK, NO_TEXT, OURS)):
            look = _Look(theme, site, looked, pages).look if mirror == OURS else None
            run = run_mirror(mirror, site, None, max_secs, look)
            looked.cpu[mirror] = run.cpu_secs
            looked.mirrored = run.tree.pages
    return looked


class _Look:
    """Opens pages of a mirror as they are served, from the disk, and by ``mirror serve``."""

    def __init__(self, theme: Theme, site: Original, looked: Looked, pages: int) -> None:
        self._theme, self._site, self._looked, self._pages = theme, site, looked, pages
        self._failed_there: set[str] = set()
        self._origin = "{0.scheme}://{0.netloc}".format(urlsplit(site.served.url))

    def look(self, folder: Path) -> None:
        mirror = Mirror.opened(folder)
        files = sorted(file for file in mirror.served if mirror.is_page(file))
        chosen = files[:: max(1, len(files) // self._pages)][: self._pages]
        self._looked.opened = len(chosen)
        self._missing(mirror, self._named_by_scripts(mirror))
        with (
            _serving(folder) as address,
            chromium(has_network=True) as online,
            chromium(has_network=False) as offline,
        ):
            for file in chosen:
                path = file.relative_to(mirror.root).as_posix()
                views = {
                    "served": online.view(mirror.served[file]),
                    "disk": offline.view(file.as_uri()),
                }
                self._compare(
                    path, views["served"], "disk", offline, views["disk"], mirror.root.as_uri()
                )
                view = online.view(f"{address}/{quote(path)}")
                self._compare(path, views["served"], "mirror serve", online, view, address)
                self._missing(mirror, set(map(self._path, views["served"].links)))
            self._search(mirror, address, online, offline)
        for way, failed in self._looked.failed.items():
            new = failed - self._failed_there
            self._looked.failed[way] = {url for url in new if not url.endswith("/favicon.ico")}

    def _compare(
        self, path: str, served: View, way: str, browser: Browser, view: View, root: str
    ) -> None:
        ends = time.monotonic() + _TEXT_SECS
        text = view.text
        while text != served.text and time.monotonic() < ends:
            text = " ".join(
                str(browser.driver.execute_script("return document.body.innerText")).split()
            )
        if text != served.text:
            self._looked.texts.setdefault(way, []).append(path)
        found = {self._original(url, root) for url in view.failed}
        self._looked.failed.setdefault(way, set()).update(found)
        self._failed_there.update(served.failed)

    def _original(self, url: str, root: str) -> str:
        """Return the URL on the site of a file of the mirror."""
        if not url.startswith(f"{root}/") or url.endswith("/favicon.ico"):
            return url
        return f"{self._origin}/{url[len(root) + 1 :].partition('/')[2]}"

    def _path(self, url: str) -> str:
        """Return the path of a URL of the site below the folder that is served, or ""."""
        return self._site.file_at(urldefrag(url).url.partition("?")[0]) or ""

    def _missing(self, mirror: Mirror, paths: set[str]) -> None:
        held = {self._site.file_at(url.partition("?")[0]) for url in mirror.served.values()}
        root = self._site.served.root
        for path in paths - held:
            if path.endswith((".html", ".htm")) and (root / path).is_file():
                self._looked.missing.add(path)

    def _named_by_scripts(self, mirror: Mirror) -> set[str]:
        """Return the pages that scripts of the mirror name, such as those of menus."""
        root, named = self._site.served.root, set()
        for script, url in mirror.served.items():
            beside = self._site.file_at(url)
            if script.suffix != ".js" or beside is None or not script.is_file():
                continue
            for found in _PAGE_NAME.finditer(script.read_bytes()):
                path = urlsplit(urljoin(f"http://_/{beside}", unquote(found[1].decode()))).path[1:]
                if (root / path).is_file():
                    named.add(path)
        return named

    def _search(self, mirror: Mirror, address: str, online: Browser, offline: Browser) -> None:
        search = self._theme.search
        if search is None:
            return
        page = f"{self._site.served.url}index.html"
        files = {url: file for file, url in mirror.served.items() if file.is_file()}
        file = files[page if page in files else self._site.served.url]
        path = quote(file.relative_to(mirror.root).as_posix())
        self._looked.found = {
            "served": _results(online, page, search),
            "disk": _results(offline, file.as_uri(), search),
            "mirror serve": _results(online, f"{address}/{path}", search),
        }


def _results(browser: Browser, page: str, search: Search) -> int:
    """Type a word as a reader does, and count the results once their number stays."""
    browser.view(page)
    ends, known, since = time.monotonic() + _SEARCH_SECS, 0, time.monotonic()
    is_typed = False
    while time.monotonic() < ends:
        with suppress(WebDriverException):  # the page is not ready, or is left
            if not is_typed:
                if search.button and time.monotonic() - since > _SETTLED_SECS:
                    browser.driver.find_element(By.CSS_SELECTOR, search.button).click()
                    since = time.monotonic()
                box = browser.driver.find_element(By.CSS_SELECTOR, search.box)
                browser.driver.execute_script("arguments[0].focus()", box)
                box.send_keys(search.word + (Keys.ENTER if search.is_sent else ""))
                is_typed = True
            if search.frame:
                browser.driver.switch_to.default_content()
                frames = browser.driver.find_elements(By.CSS_SELECTOR, search.frame)
                if frames and frames[0].tag_name == "iframe":
                    browser.driver.switch_to.frame(frames[0])
            found = len(browser.driver.find_elements(By.CSS_SELECTOR, search.results))
            if found != known:
                known, since = found, time.monotonic()
            if known and time.monotonic() - since > _SETTLED_SECS:
                break
        time.sleep(0.1)
    browser.driver.switch_to.default_content()
    return known


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "scrapy", "mirror", "serve", str(folder), "--port", "0"]
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().partition(" ")[0].rstrip("/")
        if not address.startswith("http"):
            raise RunFailedError("mirror serve does not start")
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def themes_table(rows: Sequence[Looked]) -> str:
    """What a reader of each mirror misses, and what it took."""
    lines = [
        "| generator and theme | package | pages | opened "
        "| new failed requests, disk / `mirror serve` "
        "| other text, disk / `mirror serve` | search results, served / disk / `mirror serve` "
        "| pages missing | CPU s, ours / no text / httrack |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        failed = " / ".join(str(len(row.failed.get(way, ()))) for way in SHOWN[1:])
        texts = " / ".join(str(len(row.texts.get(way, ()))) for way in SHOWN[1:])
        found = " / ".join(str(row.found[way]) for way in SHOWN) if row.found else "no search"
        cpu = " / ".join(
            f"{row.cpu[one]:.1f}" if one in row.cpu else "-" for one in (OURS, NO_TEXT, HTTRACK)
        )
        lines.append(
            f"| {row.theme} | {row.package} | {row.mirrored:,} | {row.opened} | {failed} "
            f"| {texts} | {found} | {len(row.missing)} | {cpu} |"
        )
    return "\n".join(lines)
