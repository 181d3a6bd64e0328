"""What a page may do in the browser, and what becomes of it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.rendering.browser import arguments
from crawler.rendering.rendered_pages import Cookie, PageToRender, RenderingError, RenderOptions
from crawler.rendering.renderer import Renderer
from tests.crawler.rendering.pages import (
    HTML,
    document,
    fetch,
    own_browsers,
    own_browsers_and_pages,
    render,
)
from tests.sites.changing import ChangingSite
from tests.waiting import until, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.exchange import Exchange

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]

PAGE = "http://www.example.com/a"
SHORT = RenderOptions(page_secs=6.0)
"""For pages that take all of their time; a busy machine has opened a page long before."""


@pytest.fixture(autouse=True)
def _nothing_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    tmp_path_factory.getbasetemp()  # which is made when it is first asked for
    with tempfile.TemporaryDirectory(prefix="r-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield
        assert not own_browsers()
        assert not list(Path(folder).iterdir())


def text(exchange: Exchange, body: str, *, origin: str = "*") -> None:
    headers = {"Access-Control-Allow-Origin": origin} if origin else {}
    exchange.answer(body.encode(), "text/plain", headers=headers)


def filling(url: str) -> str:
    return f"fetch('{url}').then(r => r.text()).then(t => p.textContent = t)"


def test_text_that_scripts_fetch_is_in_the_dom_and_the_page_is_not_fetched_again() -> None:
    with ChangingSite() as site, ChangingSite() as other:
        site.added["/data"] = lambda exchange: text(exchange, "grüße from here", origin="")
        site.added["/app.js"] = lambda exchange: exchange.answer(
            filling("/data").encode(), "text/javascript"
        )
        elsewhere = other.at("/data").replace("127.0.0.1", "127.0.0.2")
        other.added["/data"] = lambda exchange: text(exchange, "from elsewhere")
        body = b'<meta charset=latin1><p id=p>-</p><script src="/app.js"></script>'
        here, there = render((site.at("/p"), body), (site.at("/q"), document(filling(elsewhere))))
        assert "/p" not in site.paths()
        assert "/q" not in site.paths()
    assert "grüße from here" in here.body.decode()
    assert b'<meta charset="utf-8">' in here.body
    assert b"latin1" not in here.body
    assert [each.status for each in here.subrequests] == [200, 200]
    assert b"from elsewhere" in there.body
    assert not here.missed + there.missed
    assert not here.failed + there.failed


def test_the_browser_reaches_no_host_by_itself() -> None:
    """Neither names nor addresses, by any of the ways that no route sees."""
    connected = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        listening.settimeout(0.1)
        done = threading.Event()

        def accept() -> None:
            while not done.is_set():
                try:
                    connected.append(listening.accept())
                except TimeoutError:
                    continue

        thread = threading.Thread(target=accept)
        thread.start()
        script = f"""
            new WebSocket('ws://127.0.0.1:{port}/');
            new WebSocket('ws://localhost:{port}/');
            new EventSource('http://127.0.0.1:{port}/');
            navigator.sendBeacon('http://127.0.0.1:{port}/', 'x');
            new Image().src = 'http://127.0.0.1:{port}/';
            fetch('http://127.0.0.1:{port}/', {{method: 'POST', mode: 'no-cors', body: 'x'}});
            const code = "fetch('http://127.0.0.1:{port}/'); new WebSocket('ws://127.0.0.1:{port}/')";
            new Worker(URL.createObjectURL(new Blob([code])));
            p.textContent = typeof RTCPeerConnection + navigator.serviceWorker;
            const link = document.createElement('link');
            link.rel = 'preconnect'; link.href = 'http://127.0.0.1:{port}/';
            document.head.append(link);
        """

        async def refusing(_: object) -> None:
            return None

        async def rendered() -> bytes:
            # What is refused is waited for to the end.
            renderer = Renderer(RenderOptions(page_secs=4, with_files=True), refusing)
            try:
                return (await renderer.render(PageToRender(PAGE, document(script), 200, HTML))).body
            finally:
                await renderer.close()

        body = asyncio.run(rendered())
        done.set()
        thread.join()
    assert b"undefined" in body
    assert not connected


def test_a_page_that_hangs_costs_its_time_and_the_next_one_is_rendered() -> None:
    pages = [
        document("for (;;) alert('again')"),
        document("setTimeout(() => { while (true) {} }, 0)"),
        document("p.textContent = confirm('?') + String(prompt('?'))"),
    ]
    results = render(*((PAGE, page) for page in pages), options=SHORT)
    assert [each.failed for each in results] == ["time", "time", ""]
    assert b"falsenull" in results[2].body
    assert all(each.secs < 60 for each in results)


def test_a_page_that_never_rests_is_read_as_it_is_when_its_time_is_over() -> None:
    ticking = "setInterval(() => { p.textContent = 'tick'; fetch('/data'); }, 50)"
    with ChangingSite() as site:
        site.added["/data"] = lambda exchange: text(exchange, "d")
        (page,) = render((site.at("/"), document(ticking)), options=SHORT)
    assert b"tick" in page.body
    assert "time" in page.missed


def test_downloads_windows_and_other_pages_are_not_opened() -> None:
    script = """
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob(['x'])); link.download = 'x.bin';
        document.body.append(link); link.click();
        const blank = document.createElement('a');
        blank.href = '/window'; blank.target = '_blank'; document.body.append(blank); blank.click();
        window.open('/other');
        const form = document.createElement('form');
        form.method = 'post'; form.action = '/posted'; document.body.append(form); form.submit();
        setTimeout(() => { location = '/next?x=1'; p.textContent = 'stayed'; }, 100);
    """
    with ChangingSite() as site:
        (page,) = render((site.at("/"), document(script)))
        assert not site.paths()
        assert sorted(page.routes) == [site.at("/next?x=1"), site.at("/window")]
    assert b"stayed" in page.body
    assert not page.failed


def test_a_crash_costs_one_page() -> None:
    async def rendered() -> tuple[str, str, int]:
        renderer = Renderer(RenderOptions(concurrency=2), fetch)
        try:
            hanging = asyncio.ensure_future(
                renderer.render(PageToRender(PAGE, document("while (true) {}"), 200, HTML))
            )
            busy = await until(
                lambda: [pid for pid in own_browsers_and_pages() if cpu_ticks(pid) > 50],
                pause_secs=0.05,
            )
            os.kill(busy[0], signal.SIGKILL)
            first = await hanging
            second = await renderer.render(PageToRender(PAGE, document("p.id = 'q'"), 200, HTML))
            return first.failed, second.failed, renderer.browsers_started
        finally:
            await renderer.close()

    assert asyncio.run(rendered()) == ("crash", "", 1)


def cpu_ticks(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except (OSError, ValueError, IndexError):
        return 0


def test_a_page_that_takes_all_memory_is_ended() -> None:
    script = "const held = []; for (;;) held.push(new Uint8Array(3e7).fill(1))"
    options = RenderOptions(page_secs=60.0, max_browser_mb=500)
    bomb, after = render((PAGE, document(script)), (PAGE, document("")), options=options)
    assert bomb.failed == "crash"
    assert bomb.secs < 60
    assert not after.failed


def test_a_flood_of_requests_is_cut() -> None:
    script = "for (let i = 0; i < 400; i++) fetch('/f' + i); p.textContent = 'flooded'"
    with ChangingSite() as site:
        options = RenderOptions(max_subrequests=20, page_secs=60.0)
        (page,) = render((site.at("/"), document(script)), options=options)
        assert len(site.paths()) <= 20
    assert "too many requests" in page.missed
    assert b"flooded" in page.body


def test_bytes_of_a_page_are_bounded() -> None:
    with ChangingSite() as site:
        site.added["/big"] = lambda exchange: text(exchange, "x" * 200_000)
        options = RenderOptions(max_page_bytes=100_000)
        huge = "p.textContent = 'y'.repeat(200000)"
        answer, dom = render(
            (site.at("/"), document(filling("/big"))), (PAGE, document(huge)), options=options
        )
    assert "too many bytes" in answer.missed
    assert dom.failed == "too many bytes"


def test_routes_of_an_application_are_noted() -> None:
    script = """
        history.pushState({}, '', '/pushed');
        setTimeout(() => history.replaceState({}, '', '#/hash'));
    """
    body = (
        """<p id=p onclick="location.href='/clicked'">a</p><b onclick='router.push("/b")'>b</b>"""
    )
    (page,) = render((PAGE, document(script, body)))
    origin = "http://www.example.com"
    wanted = [f"{origin}/pushed", f"{origin}/pushed#/hash", f"{origin}/clicked", f"{origin}/b"]
    assert sorted(page.routes) == sorted(wanted)


def test_a_selector_is_waited_for() -> None:
    script = "setTimeout(() => { p.className = 'ready'; p.textContent = 'late' }, 1500)"
    options = RenderOptions(wait_for=".ready", page_secs=8)
    late, never = render((PAGE, document(script)), (PAGE, document("")), options=options)
    assert b"late" in late.body
    assert "time" in never.missed


def test_scrolling_loads_what_comes_with_it() -> None:
    script = """
        let rows = 0;
        const add = () => {
            const row = document.createElement('p');
            row.style.height = '900px'; row.textContent = 'row ' + rows++;
            document.body.append(row);
        };
        add(); add();
        addEventListener('scroll', () => { if (rows < 8) add() });
    """
    still, scrolled = (
        render((PAGE, document(script)), options=RenderOptions(behaviours=behaviours))[0].body
        for behaviours in ((), ("scroll",))
    )
    assert b"row 7" in scrolled
    assert b"row 7" not in still


def test_what_opens_is_clicked_and_nothing_else() -> None:
    body = """
        <button onclick="p.textContent += ' more'">Show more</button>
        <button aria-expanded=false onclick="p.textContent += ' menu'">Menu</button>
        <div role=tab aria-selected=false onclick="p.textContent += ' tab'">Second</div>
        <details ontoggle="p.textContent += ' details'"><summary>D</summary>x</details>
        <button aria-expanded=false onclick="p.textContent += ' DELETED'">Delete all</button>
        <form action=/sent><button aria-expanded=false>Go</button></form>
        <a href=/away aria-expanded=false onclick="p.textContent += ' AWAY'">Read more</a>
        <p id=p></p>
    """
    (page,) = render((PAGE, document("", body)), options=RenderOptions(behaviours=("click",)))
    said = page.body.partition(b'<p id="p">')[2].partition(b"</p>")[0].decode()
    assert sorted(said.split()) == ["details", "menu", "more", "tab"]
    assert not page.routes


def test_a_click_that_leaves_the_page_leaves_its_dom() -> None:
    body = """<p id=p>first</p><button aria-expanded=false
        onclick="history.pushState({}, '', '/second'); p.textContent = 'second'">More</button>"""
    (page,) = render((PAGE, document("", body)), options=RenderOptions(behaviours=("click",)))
    assert b">first<" in page.body
    assert page.routes == ("http://www.example.com/second",)


def test_open_shadow_roots_are_declared_and_styles_of_scripts_written() -> None:
    script = """
        const root = p.attachShadow({mode: 'open'}); root.innerHTML = '<b>in the shadow</b>';
        const style = document.createElement('style'); document.head.append(style);
        style.sheet.insertRule('.made { color: red }');
    """
    (page,) = render((PAGE, document(script)), options=RenderOptions(for_disk=True))
    assert b'<template shadowrootmode="open"><b>in the shadow</b></template>' in page.body
    assert b".made { color: red; }" in page.body


def test_cookies_are_given_and_storage_does_not_pass_to_the_next_page() -> None:
    script = """
        p.textContent = document.cookie + '|' + localStorage.length;
        localStorage.x = 1; document.cookie = 'own=1';
    """
    given = [Cookie("session", "s1", "www.example.com")]
    first, second = render((PAGE, document(script)), (PAGE, document(script)), cookies=given)
    assert b"session=s1|0" in first.body
    assert b"session=s1|0" in second.body


def test_a_cookie_that_the_browser_refuses_costs_no_page_and_no_other_cookie(
    caplog: pytest.LogCaptureFixture,
) -> None:
    given = [Cookie("good", "g1", "www.example.com"), Cookie("odd", "a;b", "", path="nowhere")]
    page = (PAGE, document("p.textContent = document.cookie"))
    for shown in render(page, page, cookies=given):
        assert b"good=g1" in shown.body
    ours = [one.getMessage() for one in caplog.records if one.name.startswith("crawler.")]
    assert ours == ["the browser does not take the cookie odd of "]


def test_names_of_elements_hide_nothing_of_the_document() -> None:
    body = """<form name=head><input name=shadowRoot></form><img name=documentElement>
        <img name=querySelectorAll><img name=createElement><img name=doctype><p id=p>-</p>"""
    (page,) = render((PAGE, document("p.textContent = 'seen'", body)))
    assert not page.failed
    assert b"seen" in page.body


def test_a_picture_is_taken() -> None:
    options = RenderOptions(screenshots=True)
    (page,) = render((PAGE, document("p.textContent = 'seen'")), options=options)
    assert page.screenshot is not None
    assert page.screenshot[:4] == b"RIFF"
    assert page.screenshot[8:12] == b"WEBP"


def test_browsers_are_replaced_while_others_finish() -> None:
    async def rendered() -> tuple[list[str], int]:
        renderer = Renderer(RenderOptions(concurrency=2, pages_per_browser=2), fetch)
        try:
            pages = await asyncio.gather(
                *(
                    renderer.render(PageToRender(PAGE, document(f"p.id = 'p{n}'"), 200, HTML))
                    for n in range(5)
                )
            )
            await renderer.render(PageToRender(PAGE, document(""), 200, HTML))
            mains = [
                pid
                for pid in own_browsers()
                # The headless shell of Debian is started by a script that has its arguments.
                if arguments(pid)[0] != b"/bin/sh"
                if not any(one.startswith(b"--type=") for one in arguments(pid))
            ]
            assert len(mains) == 1
            return [each.failed for each in pages], renderer.browsers_started
        finally:
            await renderer.close()

    assert asyncio.run(rendered()) == ([""] * 5, 3)


def test_where_no_browser_starts_not_every_page_waits_for_one(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\necho x >> {tries}\nexit 1\n")
    program.chmod(0o755)

    async def rendered() -> list[str]:
        renderer = Renderer(RenderOptions(browser_path=str(program)), fetch)
        failures = []
        for _ in range(5):
            with pytest.raises(RenderingError) as failure:
                await renderer.render(PageToRender(PAGE, b"<p>"))
            failures.append(str(failure.value))
        await renderer.close()
        return failures

    failures = asyncio.run(rendered())
    assert len(set(failures)) == 1
    assert tries.read_text().count("x") == 1


def test_a_browser_that_was_killed_is_replaced() -> None:
    async def rendered() -> tuple[str, int]:
        renderer = Renderer(RenderOptions(), fetch)
        try:
            await renderer.render(PageToRender(PAGE, document(""), 200, HTML))
            for pid in own_browsers():
                with suppress(ProcessLookupError):  # it may end with the one killed before it
                    os.kill(pid, signal.SIGKILL)
            await asyncio.to_thread(wait_until, lambda: not own_browsers())
            pages = [
                await renderer.render(PageToRender(PAGE, document(""), 200, HTML)) for _ in range(2)
            ]
            return pages[1].failed, renderer.browsers_started
        finally:
            await renderer.close()

    assert asyncio.run(rendered()) == ("", 2)
