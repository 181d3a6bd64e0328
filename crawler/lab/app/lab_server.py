"""The server of the lab: one process, one socket, nothing that is not its own."""

from __future__ import annotations

import logging
import os
import sys
import webbrowser
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from fastapi import FastAPI
from nicegui import Client, background_tasks, ui
from starlette.responses import PlainTextResponse

from crawler.lab.app.frame import Frame
from crawler.lab.app.guard import Door, Guard
from crawler.lab.app.policy import SecurityHeaders
from crawler.lab.app.theme import use_themes

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp

    from crawler.lab.app.binding import Bound
    from crawler.lab.app.lab_state import Lab

RECONNECT_SECS = 5.0
MOST_WINDOWS = 64
"""At a time, two MB each; what was asked for and never opened counts for a minute."""

_FOLDER = Path(__file__).parent
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<rect x="1" y="3" width="9" height="10" rx="1" fill="#2f6fb3"/>'
    '<rect x="6" y="1" width="9" height="10" rx="1" fill="#b9772b" fill-opacity=".75"/></svg>'
)


def make_app(lab: Lab, bound: Bound, announce: Callable[[], None]) -> ASGIApp:
    """The application behind its guard; it reads what comes as long as it runs.

    Args:
        lab: What it shows; closed when the application ends.
        bound: Where it listens.
        announce: Called as soon as somebody would be answered.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        background_tasks.create(lab.keep_growing(), name="lab")
        announce()
        yield
        lab.close()
        # On Python 3.11 a task may miss that it was cancelled, of which NiceGUI complains.
        logging.getLogger("nicegui").setLevel(logging.CRITICAL)

    # Its loggers would print what a stranger asked for that is not there.
    logging.getLogger("nicegui").setLevel(logging.ERROR)
    ui.add_head_html(f"<style>{_styles()}</style>", shared=True)
    use_themes()

    @ui.page("/")
    def page(tab: str = "", tried: str = "") -> PlainTextResponse | None:
        if len(Client.instances) > MOST_WINDOWS:
            ui.context.client.delete()
            return PlainTextResponse("too many windows: close some, or wait a minute\n", 503)
        Frame(lab, tab, tried).build()
        return None

    served = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        served,
        title="crawl lab",
        favicon=_ICON,
        dark=None,
        language="en-US",
        reconnect_timeout=RECONNECT_SECS,
        tailwind=False,
        gzip_middleware_factory=None,  # it stays on this machine, as a rule
        show_welcome_message=False,
    )
    return Guard(SecurityHeaders(served), Door.of(bound))


def _styles() -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(_FOLDER.glob("*.css")))


def serve(application: ASGIApp, listening: socket.socket) -> None:
    """Serve until the process is told to stop.

    Raises:
        KeyboardInterrupt: By Ctrl-C; all is closed by then.
    """
    config = uvicorn.Config(
        application,
        log_level="error",
        access_log=False,
        ws="wsproto",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])


def open_browser(address: str) -> None:
    """Show the address in the user's browser, where there is a display to show it on."""
    has_display = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_display:
        webbrowser.open(address)
