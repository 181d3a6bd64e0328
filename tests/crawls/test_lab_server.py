"""The server of a running lab: whom it answers, what it opens, how it ends."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from crawler.lab.app.lab_server import MAX_WINDOWS
from neardup.installing import install_command
from tests.crawls.command import PROJECT, scrapy
from tests.crawls.lab import Page, RunningLab, end, lab, start_lab
from tests.crawls.lab_counting import Counts, counting
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers

    Counted = tuple[str, Callable[[], Counts]]

_LINES = '{"id": 1, "url": "http://a.example/", "text": "some words of a text"}\n'
VERSION = version("nicegui")
SCRIPT = f"/_nicegui/{VERSION}/static/nicegui.js"
_SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


_WITHOUT_NICEGUI = """
import sys
from importlib.machinery import PathFinder


class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, *rest):
        return None if name.partition(".")[0] == "nicegui" else super().find_spec(name, *rest)


sys.meta_path[sys.meta_path.index(PathFinder)] = Without

from scrapy.cmdline import execute

execute(["scrapy", *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    file.write_text(_LINES)
    return file


@pytest.fixture(scope="module")
def running(texts: Path) -> Iterator[RunningLab]:
    with lab(str(texts)) as one:
        yield one


@pytest.fixture(scope="module")
def guarded(texts: Path) -> Iterator[RunningLab]:
    with lab(str(texts), "--host", "0.0.0.0") as one:
        yield one


@pytest.fixture(scope="module")
def counted(texts: Path) -> Iterator[Counted]:
    with counting(texts) as found:
        yield found


def ask(
    port: int, target: str, headers: dict[str, str], method: str = "GET"
) -> tuple[int, str, str]:
    """Status, body and cookie of an answer; the target goes out as it is written."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read().decode("utf-8", "replace")
        return answer.status, body, answer.headers.get("Set-Cookie", "")


def upgrade(port: int, headers: dict[str, str], target: str = _SOCKET) -> int:
    """The status of an answer to a websocket's opening."""
    lines = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        **headers,
    }
    with closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as connection:
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        connection.sendall(f"GET {target} HTTP/1.1\r\n{head}\r\n".encode())
        return int(connection.recv(1024).split()[1])


class TestRefused:
    def test_its_own_address_is_answered(self, running: RunningLab) -> None:
        host = f"127.0.0.1:{running.port}"
        status, body, _ = ask(running.port, "/", {"Host": host})
        assert (status, "crawl lab" in body) == (200, True)
        assert ask(running.port, SCRIPT, {"Host": host})[0] == 200
        assert upgrade(running.port, {"Host": host, "Origin": f"http://{host}"}) == 101

    @pytest.mark.parametrize(
        "headers",
        [
            {"Host": "evil.example"},
            {"Host": "evil.example:{port}"},
            {"Host": "127.0.0.1:{port}", "Origin": "http://evil.example"},
            {"Host": "127.0.0.1:{port}", "Origin": "null"},
            {"Host": "127.0.0.1:{port}", "Sec-Fetch-Site": "cross-site"},
        ],
    )
    def test_strangers_are_not(self, headers: dict[str, str], running: RunningLab) -> None:
        sent = {name: value.format(port=running.port) for name, value in headers.items()}
        for target in ("/", _SOCKET, SCRIPT, "/favicon.ico"):
            assert ask(running.port, target, sent)[0] == 403
        assert upgrade(running.port, sent) == 403

    def test_bound_to_all_addresses_it_wants_its_token(self, guarded: RunningLab) -> None:
        host = {"Host": f"127.0.0.1:{guarded.port}"}
        address, _, token = guarded.address.partition("?token=")
        assert address == f"http://127.0.0.1:{guarded.port}/"
        for target in ("/", "/?token=wrong", _SOCKET, SCRIPT):
            assert ask(guarded.port, target, host)[0] == 403
        assert upgrade(guarded.port, host) == 403
        assert upgrade(guarded.port, host, f"{_SOCKET}&token={token}") == 403
        status, _, cookie = ask(guarded.port, f"/?token={token}", host)
        assert status == 303
        with_cookie = {**host, "Cookie": cookie.partition(";")[0]}
        assert ask(guarded.port, "/", with_cookie)[0] == 200
        assert upgrade(guarded.port, with_cookie) == 101


class TestFiles:
    @pytest.mark.parametrize(
        "target",
        [
            "/../../../../etc/passwd",
            "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
            "/_nicegui/{version}/static/../../../../../../../../etc/passwd",
            "/_nicegui/{version}/static/%2e%2e/%2e%2e/%2e%2e/client.py",
            "/_nicegui/{version}/static/..%2f..%2fclient.py",
            "/_nicegui/{version}/static//etc/passwd",
            "/_nicegui/{version}/static/%2fetc%2fpasswd",
            "/_nicegui/{version}/resources/x/../../../../etc/passwd",
            "/_nicegui/{version}/resources/codehilite/%2e%2e/%2e%2e/client.py",
            "/_nicegui/{version}/esm/nicegui-echart/%2e%2e/%2e%2e/%2e%2e/client.py",
            "/_nicegui/{version}/esm/nicegui-echart/..%2f..%2fechart.py",
            "/_nicegui/{version}/libraries/../../client.py",
            "/_nicegui/{version}/components/../../client.py",
            "/_nicegui/{version}/dynamic_resources/../client.py",
            "/_nicegui/auto/static/etc/passwd",
            "/style.css", "/static/style.css", "/texts.jsonl", "/docs", "/openapi.json", "/redoc",
            "/etc/passwd", "/%00", "/..\\..\\etc\\passwd", "/?path=/etc/passwd", "//etc/passwd",
        ],
    )  # fmt: skip
    def test_no_path_reaches_a_file_that_is_not_the_pages_own(
        self, target: str, running: RunningLab
    ) -> None:
        target = target.replace("{version}", VERSION)
        status, body, _ = ask(running.port, target, {"Host": f"127.0.0.1:{running.port}"})
        assert "root:" not in body
        assert "def __init__" not in body
        assert status in ((200,) if target.startswith("/?") else (400, 403, 404)), body[:200]

    @pytest.mark.parametrize("target", ["/", "/_nicegui/client/x/upload/1", "/upload"])
    def test_nothing_is_uploaded(self, target: str, running: RunningLab) -> None:
        host = {"Host": f"127.0.0.1:{running.port}", "Content-Length": "0"}
        assert ask(running.port, target, host, "POST")[0] == 403


class TestProcess:
    def test_it_ends_with_ctrl_c_and_leaves_nothing_behind(
        self, texts: Path, tmp_path: Path
    ) -> None:
        process = start_lab(str(texts), "--port", "0", "--no-browser", cwd=tmp_path)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        stdout, stderr = end(process)
        assert stdout == ""
        made, found, ending = stderr.splitlines()
        assert "a temporary crawl is made of it" in made
        assert found.endswith("with a text")
        assert ending == "(Ctrl-C ends it)"
        assert process.returncode == 130
        assert list(tmp_path.iterdir()) == []

    def test_without_nicegui_it_says_what_to_install(self, texts: Path) -> None:
        command = [sys.executable, "-c", _WITHOUT_NICEGUI, "lab", str(texts)]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert install_command("lab") in done.stderr
        assert len(done.stderr.splitlines()) == 1

    def test_a_window_that_is_closed_leaves_nothing_running(
        self, counted: Counted, browsers: Browsers
    ) -> None:
        address, counts = counted

        def come_and_go() -> None:
            for _ in range(3):
                Page(browsers.online, address)
            assert counts().windows >= 1
            browsers.online.driver.get("about:blank")
            wait_until(lambda: counts().windows == 0)

        come_and_go()
        settled = counts().tasks
        come_and_go()
        wait_until(lambda: counts().tasks <= settled)

    def test_windows_are_bounded_and_a_program_shuts_nobody_out(
        self, counted: Counted, browsers: Browsers
    ) -> None:
        """A person comes before and after a program that asks for all windows and more."""
        address, counts = counted
        port = int(address.split(":")[2].strip("/"))
        host = {"Host": f"127.0.0.1:{port}"}
        person = Page(browsers.online, address)
        found = [ask(port, "/", host)[0] for _ in range(MAX_WINDOWS + 10)]
        assert found == [200] * (MAX_WINDOWS + 10)
        assert counts().windows == MAX_WINDOWS
        for tab in ("Evidence", "Compare"):
            person.tab(tab)
            person.one(f".q-tab--active[name='{tab}'], .q-tab--active")
            person = Page(browsers.online, address)

    def test_a_taken_port_is_one_line(self, texts: Path) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            done = scrapy("lab", str(texts), "--port", str(taken.getsockname()[1]))
        assert done.returncode == 2
        assert "in use" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), "a crawl directory or a file is needed, got none"),
            (("no/such/place",), "no such file"),
            (("--port", "70000", "README.md"), "--port takes a number from 0 to 65535"),
            (("--port", "http", "README.md"), "--port takes a number"),
            (("--host", "no.such.host.invalid", "README.md"), "no address of this machine"),
            (("--host", "192.0.2.1", "README.md"), "192.0.2.1"),
            (("--prot", "1", "x"), ""),
        ],
    )
    def test_what_a_user_gets_wrong_is_one_line(
        self, arguments: tuple[str, ...], words: str
    ) -> None:
        done = scrapy("lab", *arguments)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr
