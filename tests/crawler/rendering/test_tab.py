"""A page is read once it has no work left, and not before, however long its machine takes."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.rendering.rendered_pages import PageToRender, RenderOptions, SubAnswer
from crawler.rendering.renderer import Renderer
from tests.crawler.rendering.pages import HTML, document, own_browsers_and_pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from crawler.rendering.rendered_pages import RenderedPage, SubRequest

    Case = tuple[str, Callable[[SubRequest], Awaitable[SubAnswer | None]]]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]

OLD_QUIET_SECS = 0.4
"""A page that was quiet for so long was taken for finished once."""

SAID = SubAnswer(200, (("Content-Type", "text/plain"),), b"what was to come")
SHOW = "p.textContent = "
SLEEP = "const sleep = (ms) => new Promise((done) => setTimeout(done, ms));"
ASK = f"fetch('/data').then((a) => a.text()).then((t) => {{ {SHOW} t }})"


def shown(pages: Mapping[str, Case], options: RenderOptions) -> dict[str, RenderedPage]:
    """Render pages of different hosts in one browser."""
    urls = {name: f"http://www.example-{number}.com/a" for number, name in enumerate(pages)}
    answers = {urlsplit(urls[name]).netloc: answer for name, (_, answer) in pages.items()}

    async def answer(wanted: SubRequest) -> SubAnswer | None:
        return await answers[urlsplit(wanted.url).netloc](wanted)

    async def rendered() -> dict[str, RenderedPage]:
        renderer = Renderer(options, answer)
        try:
            found = await asyncio.gather(
                *(
                    renderer.render(PageToRender(urls[name], document(script), 200, HTML))
                    for name, (script, _) in pages.items()
                )
            )
        finally:
            await renderer.close()
        return dict(zip(pages, found, strict=True))

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


DONE_LATER: dict[str, Case] = {
    "late answer": (ASK, late),
    "timer": (f"setTimeout(() => {{ {ASK} }}, 900)", at_once),
    "timers one after the other": (
        f"{SLEEP} (async () => {{ for (let i = 0; i < 5; i++) await sleep(700); {ASK} }})()",
        late,
    ),
    "timers that show something": (
        f"{SLEEP} (async () => {{ for (let i = 0; i < 11; i++) {{ await sleep(800); "
        f"{SHOW} p.textContent + i; }} {ASK} }})()",
        at_once,
    ),
    "interval that ends": (
        "let i = 0; const id = setInterval(() => { if (++i == 5) { clearInterval(id); "
        f"{ASK} }} }}, 600)",
        at_once,
    ),
    "requests one after the other": (
        f"(async () => {{ for (let i = 0; i < 6; i++) await fetch('/' + i); {ASK} }})()",
        late,
    ),
    "busy script": (
        "const busy = (n) => { const end = performance.now() + 700; "
        f"while (performance.now() < end); if (n) setTimeout(busy, 0, n - 1); else {ASK} }};"
        "setTimeout(busy, 0, 3)",
        at_once,
    ),
    "timer that is cleared": (
        f"{SLEEP} (async () => {{ const given = setTimeout(() => {{ {SHOW} 'sorry' }}, 900); "
        f"await sleep(500); clearTimeout(given); {ASK} }})()",
        at_once,
    ),
}


def test_a_page_is_read_when_its_work_is_done() -> None:
    for name, page in shown(DONE_LATER, RenderOptions(page_secs=60, concurrency=8)).items():
        assert SAID.body in page.body, name
        assert not page.missed, name


def test_a_page_without_time_is_read_when_its_work_is_done() -> None:
    (page,) = shown({"": (ASK, to_a_page_without_time)}, RenderOptions()).values()
    assert SAID.body in page.body
    assert not page.missed


NEVER_DONE = {
    "poll": "const poll = () => setTimeout(poll, 30); poll();",
    "interval": "setInterval(() => 0, 100);",
    "clock": f"const clock = () => {{ {SHOW} Date.now(); setTimeout(clock, 400) }}; clock();",
    "frames": "const draw = () => requestAnimationFrame(draw); draw();",
    "sockets": "navigator.serviceWorker?.register('/worker.js'); "
    "new WebSocket('wss://www.example.com/');",
    "events": "new EventSource('/events');",
    "unread": "fetch('/data');",
}


def test_a_page_that_goes_on_for_ever_is_read_before_its_time_is_over() -> None:
    pages: dict[str, Case] = {
        name: (f"{SHOW} 'here'; {script}", at_once) for name, script in NEVER_DONE.items()
    }
    for name, page in shown(pages, RenderOptions(concurrency=1)).items():
        assert page.body, name
        assert page.secs < 12, name
        assert "time" not in page.missed, name


def test_an_answer_that_does_not_come_is_told() -> None:
    case = (f"{SHOW} 'here'; {ASK}", never)
    (page,) = shown({"": case}, RenderOptions(page_secs=2.5)).values()
    assert b"here" in page.body
    assert page.unanswered == ("http://www.example-0.com/data",)
    assert "requests without an answer" in page.missed
