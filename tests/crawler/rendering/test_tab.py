"""A page is read once it has no work left, and not before, however long its machine takes."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from crawler.rendering.rendered_pages import PageToRender, RenderOptions, SubAnswer
from crawler.rendering.renderer import Renderer
from tests.crawler.rendering.pages import HTML, document, own_browsers_and_pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.rendering.rendered_pages import RenderedPage, SubRequest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]

PAGE = "http://www.example.com/a"
OLD_QUIET_SECS = 0.4
"""A page that was quiet for so long was taken for finished once."""

SAID = SubAnswer(200, (("Content-Type", "text/plain"),), b"what was to come")
SHOW = "p.textContent = "
SLEEP = "const sleep = (ms) => new Promise((done) => setTimeout(done, ms));"
ASK = f"fetch('/data').then((a) => a.text()).then((t) => {{ {SHOW} t }})"


def shown(
    script: str, answer: Callable[[SubRequest], Awaitable[SubAnswer | None]], page_secs: float = 20
) -> RenderedPage:
    async def rendered() -> RenderedPage:
        renderer = Renderer(RenderOptions(page_secs=page_secs), answer)
        try:
            return await renderer.render(PageToRender(PAGE, document(script), 200, HTML))
        finally:
            await renderer.close()

    return asyncio.run(rendered())


async def at_once(_: SubRequest) -> SubAnswer | None:
    return SAID


async def late(_: SubRequest) -> SubAnswer | None:
    await asyncio.sleep(4 * OLD_QUIET_SECS)
    return SAID


async def to_a_page_without_time(_: SubRequest) -> SubAnswer | None:
    """Answer while the page's process gets no time."""
    loop = asyncio.get_running_loop()
    for pid in own_browsers_and_pages():
        os.kill(pid, signal.SIGSTOP)
        loop.call_later(4 * OLD_QUIET_SECS, os.kill, pid, signal.SIGCONT)
    return SAID


async def never(_: SubRequest) -> SubAnswer | None:
    await asyncio.Event().wait()
    return None


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        (ASK, late),
        (ASK, to_a_page_without_time),
        (f"setTimeout(() => {{ {ASK} }}, 900)", at_once),
        (
            f"{SLEEP} (async () => {{ for (let i = 0; i < 5; i++) await sleep(700); {ASK} }})()",
            late,
        ),
        (
            f"{SLEEP} (async () => {{ for (let i = 0; i < 11; i++) {{ await sleep(800); "
            f"{SHOW} p.textContent + i; }} {ASK} }})()",
            at_once,
        ),
        (
            "let i = 0; const id = setInterval(() => { if (++i == 5) { clearInterval(id); "
            f"{ASK} }} }}, 600)",
            at_once,
        ),
        (
            f"(async () => {{ for (let i = 0; i < 6; i++) await fetch('/' + i); {ASK} }})()",
            late,
        ),
        (
            "const busy = (n) => { const end = performance.now() + 700; "
            f"while (performance.now() < end); if (n) setTimeout(busy, 0, n - 1); else {ASK} }};"
            "setTimeout(busy, 0, 3)",
            at_once,
        ),
        (
            f"{SLEEP} (async () => {{ const given = setTimeout(() => {{ {SHOW} 'sorry' }}, 900); "
            f"await sleep(500); clearTimeout(given); {ASK} }})()",
            at_once,
        ),
    ],
    ids=[
        "late answer",
        "page without time",
        "timer",
        "timers one after the other",
        "timers that show something",
        "interval that ends",
        "requests one after the other",
        "busy script",
        "timer that is cleared",
    ],
)
def test_a_page_is_read_when_its_work_is_done(
    script: str, answer: Callable[[SubRequest], Awaitable[SubAnswer | None]]
) -> None:
    page = shown(script, answer)
    assert SAID.body in page.body
    assert not page.missed


@pytest.mark.parametrize(
    "script",
    [
        "const poll = () => setTimeout(poll, 30); poll();",
        "setInterval(() => 0, 100);",
        f"const clock = () => {{ {SHOW} Date.now(); setTimeout(clock, 400) }}; clock();",
        "const draw = () => requestAnimationFrame(draw); draw();",
        "navigator.serviceWorker?.register('/worker.js'); new WebSocket('wss://www.example.com/');",
        "new EventSource('/events');",
        "fetch('/data');",
    ],
    ids=["poll", "interval", "clock", "frames", "sockets", "events", "unread"],
)
def test_a_page_that_goes_on_for_ever_is_read_before_its_time_is_over(script: str) -> None:
    page = shown(f"{SHOW} 'here'; {script}", at_once)
    assert page.body
    assert page.secs < 12
    assert "time" not in page.missed


def test_an_answer_that_does_not_come_is_told() -> None:
    page = shown(f"{SHOW} 'here'; {ASK}", never, page_secs=2.5)
    assert b"here" in page.body
    assert page.unanswered == ("http://www.example.com/data",)
    assert "requests without an answer" in page.missed
