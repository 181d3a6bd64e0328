"""Mirrors of applications that find by ``<base href>`` where they are."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.crawls.mirrored import check, mirror
from tests.crawls.test_mirror_served import serving
from tests.sites.changing import ChangingSite
from tests.sites.needing import PIXEL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers

# As Angular's router finds its route, and an application its files.
ROUTER = """
const strip = path => path.replace(/[/]index[.]html$/, '').replace(/[/]$/, '');
const base = strip(new URL(document.querySelector('base').getAttribute('href'), location).pathname);
const route = strip(location.pathname);
if (!route.startsWith(base)) throw Error('no route');
const views = {'': 'Home view', '/users/1.html': 'User view', '/users/1': 'User view'};
const view = views[route.slice(base.length)];
const image = document.createElement('img');
image.onload = () => { document.querySelector('h2').textContent = view; };
image.src = document.baseURI + 'pixel.png';
"""


def shell(title: str, more: str = "") -> bytes:
    return f"""<!DOCTYPE html><html><head><title>{title}</title><base href="/app/">
<link rel="icon" href="pixel.png"></head><body><h1>{title}</h1><h2>empty</h2>
<a href="users/1">user</a> <a href="./">home</a> <a href="/old">old</a> {more}
<p id="part">A part.</p><script>{ROUTER}</script></body></html>""".encode()


@contextmanager
def application() -> Iterator[ChangingSite]:
    with ChangingSite() as site:
        site.added["/app/"] = lambda exchange: exchange.answer(shell("Home"))
        site.added["/app/users/1"] = lambda exchange: exchange.answer(shell("User"))
        site.added["/app/pixel.png"] = lambda exchange: exchange.answer(PIXEL, "image/png")
        site.added["/old"] = lambda exchange: exchange.redirect("/app/users/1#part")
        yield site


def test_changes_name_failed_urls_that_never_had_a_file(tmp_path: Path) -> None:
    with application() as site:
        lost = '<a href="/lost">lost</a> <a href="/broken">broken</a> <img src="/none.png">'
        site.added["/app/"] = lambda exchange: exchange.answer(shell("Home", lost))
        site.added["/broken"] = lambda exchange: exchange.answer(b"", status=500)
        once = ("--scope", "host", "-s", "RETRY_ENABLED=False")
        for _ in range(2):
            found = mirror(f"{site.origin}/app/", tmp_path / "m", *once)
            changes = found.json("changes.json")
            reasons = {one["url"]: one["reason"] for one in changes["failed"]}
            assert reasons == {
                site.at("/lost"): "HTTP 404",
                site.at("/broken"): "HTTP 500",
                site.at("/none.png"): "HTTP 404",
            }
            assert changes["gone"] == []


def test_an_application_finds_its_route_and_files(browsers: Browsers, tmp_path: Path) -> None:
    with application() as site:
        found = mirror(f"{site.origin}/app/", tmp_path / "m", "--scope", "host")
    host = site.origin.removeprefix("http://").replace(":", "+")
    home, user = f"{host}/app/index.html", f"{host}/app/users/1.html"
    assert b'<base href="./">' in found.read(home)
    assert b'<base href="../">' in found.read(user)
    assert check(found.folder).returncode == 0
    for path, view in ((home, "Home view"), (user, "User view")):
        seen = browsers.offline.view((found.folder / path).as_uri())
        assert view in seen.text
        links = [link.rpartition("/app/")[2] for link in seen.links]
        assert links == ["users/1.html", "index.html", "users/1.html#part"]
    with serving(found.folder) as address:
        assert "User view" in browsers.online.view(f"{address}/{user}").text
