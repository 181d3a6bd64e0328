"""An application of scripts: one shell at every URL, filled by a script from data of the server."""

from __future__ import annotations

import json
import re
from threading import Event, Lock
from typing import TYPE_CHECKING

from tests.sites.prose import document, prose
from tests.sites.serving import NOT_FOUND, OF_EVERY_HOST, MadeSite, Response

if TYPE_CHECKING:
    from tests.sites.serving import Request

_SHELL = (
    '<!DOCTYPE html><html><head><title>App</title></head><body><div id="root"></div>'
    "<noscript>You need to enable JavaScript to run this app.</noscript>"
    '<script src="/static/app.js"></script></body></html>'
)
_SCRIPT = """
(async () => {
  const root = document.getElementById("root");
  if (!root) return;
  const show = (data) => {
    root.innerHTML = `<h1>${data.title}</h1><p>${data.text}</p>` +
      data.links.map((link) => `<a href="${link}">on</a>`).join(" ");
    if (data.button) {
      const button = document.createElement("span");
      button.style.cursor = "pointer";
      button.textContent = "next";
      button.addEventListener("click", () => history.pushState({}, "", data.button));
      root.append(button);
    }
    if (data.went) history.pushState({}, "", data.went);
  };
  try {
    const answer = await fetch("/data" + location.pathname);
    show(await answer.json());
  } catch (error) {
    root.innerHTML = "<h1>Something went wrong</h1><p>Please try again later.</p>";
  }
})();
"""


_LOADED = '<script src="/static/app.js"></script>'
_FRAME = f"<p>{prose('what stands on each page', 60)}</p>"
PAGES = 12
"""How many pages of each kind ``/mixed`` leads to."""


class ScriptedSite(MadeSite):
    """Serves routes on a loopback port while a ``with`` block lasts.

    ``/`` is the home, ``/route/N`` leads to ``/route/2N+1`` and ``/route/2N+2``; each tenth says
    what the one before it says but for a word. ``/plain`` needs no script. ``/mixed`` leads to
    pages ``/partly/N`` with a frame of words that the script fills, and ``/still/N`` with all its
    words.

    Args:
        routes: How many routes there are.
        has_data: Whether the server has data; else it fails for each.
    """

    def __init__(self, routes: int, *, has_data: bool = True) -> None:
        super().__init__()
        self.routes = routes
        self.has_data = has_data
        self.released = Event()
        """Set unless data are to wait for their answers."""

        self.released.set()
        self._asked: list[str] = []
        self._lock = Lock()

    @property
    def asked(self) -> list[str]:
        """What was asked for so far, in the order of arrival."""
        with self._lock:
            return list(self._asked)

    def paths(self) -> set[str]:
        """The paths of all pages."""
        return {"/", "/plain", *(f"/route/{number}" for number in range(self.routes))}

    def respond(self, request: Request) -> Response:
        path = request.target
        if path in OF_EVERY_HOST:
            return NOT_FOUND
        with self._lock:
            self._asked.append(path)
        if path == "/static/app.js":
            return Response(_SCRIPT.encode(), content_type="text/javascript")
        if path.startswith("/data/"):
            self.released.wait(60)
            if not self.has_data:
                return Response(b"{}", 500, "application/json")
            data = self._data(path.removeprefix("/data"))
            return Response(json.dumps(data).encode(), content_type="application/json")
        return Response(_page(path))

    def _data(self, path: str) -> dict[str, object]:
        if path.startswith("/partly/"):
            return {"title": path, "text": filled(path), "links": []}
        found = re.fullmatch(r"/route/(\d+)", path)
        if found is None:
            links = ["/route/0", "/plain"]
            return {"title": "Home", "text": prose("home", 80), "links": links}
        number = int(found[1])
        following = [number * 2 + 1, number * 2 + 2]
        links = [f"/route/{each}" for each in following if each < self.routes]
        is_near = number % 10 == 9
        text = prose(f"route {number - is_near}", 120) + (" Once more." if is_near else "")
        data: dict[str, object] = {"title": f"Route {number - is_near}", "text": text}
        # One way on is a script's alone.
        data["button" if number == 0 else "went"] = links.pop() if links else ""
        return data | {"links": links}


def filled(path: str) -> str:
    """What the script of ``/partly/N`` fills in, which the page does not say as it comes."""
    return prose(f"what is filled in at {path}", 150)


def _page(path: str) -> bytes:
    """Return a page as it comes."""
    kind = path.split("/")[1]
    if kind == "plain":
        return document("Plain", prose("a plain page", 120))
    if kind == "still":
        return document(path, f"{prose(path, 150)}{_LOADED}")
    if kind == "partly":
        return document(path, f"{_FRAME}<div id='root'></div>{_LOADED}")
    if kind == "mixed":
        links = [f"/{kind}/{number}" for number in range(PAGES) for kind in ("partly", "still")]
        return document("Mixed", "".join(f'<a href="{one}">on</a> ' for one in links))
    return _SHELL.encode()
