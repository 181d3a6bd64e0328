"""Changes reach each receiver in order: once in a file, at least once elsewhere."""

from __future__ import annotations

import json
import shlex
import socket
import sys
import time
from base64 import b64encode
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

from crawler.storage.database import Database
from crawler.watch.delivery import BATCH, JsonLines, UserCommand, Webhook, deliver_all
from crawler.watch.watch_store import PageChange, WatchStore
from tests.crawler.commands.in_process import run
from tests.sites.serving import QuietServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.watch.delivery import Receiver


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    folder.mkdir()
    Database(folder).close()
    return folder


@pytest.fixture
def store(crawl: Path) -> Iterator[WatchStore]:
    with closing(WatchStore(crawl)) as opened:
        yield opened


def note(store: WatchStore, *names: str) -> None:
    """Note a change for each name, which becomes its id."""
    with store.changing():
        for name in names:
            store.add(PageChange(name, "/crawl", "http://a/", "changed", "2026-11-28", None, "new"))


def ids(text: str) -> list[str]:
    return [json.loads(line)["id"] for line in text.splitlines()]


def deliver(store: WatchStore, *receivers: Receiver) -> list[str]:
    return list(deliver_all(store, receivers, lambda: False))


class Hook:
    """A server that takes what is posted, or answers with a status for so many times."""

    def __init__(self) -> None:
        self.got: list[list[str]] = []
        self.refusals: list[int] = []
        self.authorized: list[str | None] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                posted = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/json"
                hook.authorized.append(self.headers["Authorization"])
                status = hook.refusals.pop(0) if hook.refusals else 204
                if status == 204:
                    hook.got.append([change["id"] for change in json.loads(posted)["changes"]])
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.url = f"{self.origin}/hook"


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    thread = Thread(target=made.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def slow() -> Iterator[tuple[str, Event]]:
    """A server that sends a byte of its answer's head at a time, and tells when it was left."""
    left = Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65_536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
                    while not left.wait(0.05):
                        connection.sendall(b"x")

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/hook", left
        left.set()
        thread.join()


class TestHostileWebhooks:
    def test_one_that_sends_a_byte_at_a_time_is_left(
        self, store: WatchStore, slow: tuple[str, Event]
    ) -> None:
        url, _ = slow
        webhook = Webhook(url, timeout_secs=30, total_secs=0.5)
        store.register([webhook.name])
        note(store, "a")
        assert "was left after 0.5 s" in deliver(store, webhook)[0]
        began = time.monotonic()
        assert "was left" in deliver(store, webhook)[0], "while the first try hangs"
        assert time.monotonic() - began < 20

    @pytest.mark.parametrize("status", [200, 302, 503])
    def test_body_of_an_answer_is_not_read(self, store: WatchStore, status: int) -> None:
        """Neither of one that is taken, nor of one after which it is asked again."""
        sent = 0

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                nonlocal sent
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                with suppress(OSError):
                    while sent < 600_000_000:
                        sent += self.wfile.write(bytes(100_000))

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = QuietServer(("127.0.0.1", 0), Handler)
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        webhook = Webhook(f"http://127.0.0.1:{server.server_address[1]}/hook", retries=1)
        store.register([webhook.name])
        note(store, "a")
        said = deliver(store, webhook)
        server.shutdown()
        server.server_close()
        thread.join()
        assert said == ([] if status == 200 else said)
        assert bool(said) is (status != 200)
        assert sent < 50_000_000


class TestJsonLines:
    def test_changes_are_appended_once(self, store: WatchStore, tmp_path: Path) -> None:
        file = tmp_path / "changes.jsonl"
        file.write_text('{"id": "of another"}\n')
        lines = JsonLines(str(file))
        store.register([lines.name])
        note(store, "a", "b")
        assert deliver(store, lines) == []
        note(store, "c")
        assert deliver(store, lines) == deliver(store, lines) == []
        assert ids(file.read_text()) == ["of another", "a", "b", "c"]

    @pytest.mark.parametrize("written", [0, 1, 2, 3])
    def test_lines_of_a_killed_process_are_neither_lost_nor_repeated(
        self, store: WatchStore, tmp_path: Path, written: int
    ) -> None:
        """It was killed after so many whole lines, in the middle of the next one."""
        file = tmp_path / "changes.jsonl"
        file.write_text('{"id": "before"}\n')
        lines = JsonLines(str(file))
        store.register([lines.name])
        note(store, "a", "b", "c")
        store.note_place(lines.name, file.stat().st_size)
        texts = [f"{noted.json}\n" for noted in store.untaken(lines.name, BATCH)]
        half = texts[written][:20] if written < len(texts) else ""
        with file.open("a") as begun:
            begun.write("".join(texts[:written]) + half)
        assert deliver(store, lines) == []
        assert ids(file.read_text()) == ["before", "a", "b", "c"]

    def test_lines_of_others_behind_those_of_a_killed_process_stay(
        self, store: WatchStore, tmp_path: Path
    ) -> None:
        file = tmp_path / "changes.jsonl"
        lines = JsonLines(str(file))
        store.register([lines.name])
        note(store, "a", "b")
        store.note_place(lines.name, 0)
        first = store.untaken(lines.name, BATCH)[0]
        file.write_text(f"{first.json}\nno JSON\n[1]\n")
        assert deliver(store, lines) == []
        first_line, *others, last = file.read_text().splitlines()
        assert others == ["no JSON", "[1]"]
        assert ids(f"{first_line}\n{last}\n") == ["a", "b"]

    def test_a_file_that_was_replaced_gets_what_is_left(
        self, store: WatchStore, tmp_path: Path
    ) -> None:
        file = tmp_path / "changes.jsonl"
        lines = JsonLines(str(file))
        store.register([lines.name])
        note(store, "a")
        store.note_place(lines.name, 1_000_000)
        file.write_text("")
        assert deliver(store, lines) == []
        assert ids(file.read_text()) == ["a"]

    def test_a_file_that_cannot_be_written_is_told_and_tried_again(
        self, store: WatchStore, tmp_path: Path
    ) -> None:
        file = tmp_path / "changes.jsonl"
        file.mkdir()
        lines = JsonLines(str(file))
        store.register([lines.name])
        note(store, "a")
        (problem,) = deliver(store, lines)
        assert problem.startswith(f"{file}: Is a directory; ")
        file.rmdir()
        assert deliver(store, lines) == []
        assert ids(file.read_text()) == ["a"]

    def test_standard_output_gets_lines_too(
        self, store: WatchStore, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = JsonLines("-")
        store.register([lines.name])
        note(store, "a")
        assert deliver(store, lines) == []
        assert ids(capsys.readouterr().out) == ["a"]


class TestWebhook:
    def test_changes_are_posted_in_batches(self, store: WatchStore, hook: Hook) -> None:
        webhook = Webhook(hook.url)
        store.register([webhook.name])
        names = [f"{number}" for number in range(BATCH + 1)]
        note(store, *names)
        assert deliver(store, webhook) == []
        assert hook.got == [names[:BATCH], names[BATCH:]]

    def test_a_busy_server_is_asked_again(self, store: WatchStore, hook: Hook) -> None:
        webhook = Webhook(hook.url)
        store.register([webhook.name])
        note(store, "a")
        hook.refusals = [503]
        assert deliver(store, webhook) == []
        assert hook.got == [["a"]]

    def test_what_is_refused_is_told_and_sent_the_next_time(
        self, store: WatchStore, hook: Hook
    ) -> None:
        webhook = Webhook(hook.url, retries=0)
        store.register([webhook.name])
        note(store, "a")
        hook.refusals = [500, 404]
        answers = [deliver(store, webhook), deliver(store, webhook)]
        assert [f"answers HTTP {status}; the changes are handed over" for status in (500, 404)] == [
            problem.partition(f"{hook.origin} ")[2].rpartition(" after")[0]
            for (problem,) in answers
        ]
        note(store, "b")
        assert deliver(store, webhook) == []
        assert hook.got == [["a", "b"]]

    def test_a_server_that_is_away_is_told(self, store: WatchStore) -> None:
        with socket.socket() as held:  # nothing listens there, and nothing else will
            held.bind(("127.0.0.1", 0))
            origin = f"http://127.0.0.1:{held.getsockname()[1]}"
            webhook = Webhook(f"{origin}/hook", retries=0)
            store.register([webhook.name])
            note(store, "a")
            (problem,) = deliver(store, webhook)
        told = f"the webhook at {origin} does not answer: Connection refused; "
        assert problem.startswith(told)

    def test_a_secret_is_sent_and_neither_stored_nor_printed(
        self, store: WatchStore, hook: Hook
    ) -> None:
        webhook = Webhook(hook.url.replace("//", "//ann:secret@") + "?token=secret", retries=0)
        store.register([webhook.name])
        note(store, "a")
        hook.refusals = [403]
        (problem,) = deliver(store, webhook)
        assert hook.authorized == ["Basic YW5uOnNlY3JldA=="]
        assert "secret" not in problem
        assert b"secret" not in (store.folder / "watch.db").read_bytes()

    def test_a_password_is_sent_as_it_was_before_it_was_put_into_a_url(
        self, store: WatchStore, hook: Hook
    ) -> None:
        webhook = Webhook(hook.url.replace("://", "://u%3Aser:p%40ss%2Fw%C3%B6rd@"))
        store.register([webhook.name])
        note(store, "a")
        assert deliver(store, webhook) == []
        said = b64encode("u:ser:p@ss/w\u00f6rd".encode()).decode()
        assert hook.authorized == [f"Basic {said}"]

    @pytest.mark.parametrize(
        "url",
        [
            "http://h:99999/secret",
            "http://h:abc/secret",
            "http://[::1/secret",
            "ftp://h/secret",
            "/",
        ],
    )
    def test_a_wrong_url_is_told_and_not_printed(self, url: str, tmp_path: Path) -> None:
        with closing(Database(tmp_path)):
            pass
        done = run("watch", str(tmp_path), "--webhook", url)
        assert done.returncode == 2
        assert "--webhook: a URL with http:// or https:// and a host is needed" in done.stderr
        assert "secret" not in done.stdout + done.stderr

    def test_a_redirect_is_not_followed(self, store: WatchStore, hook: Hook) -> None:
        webhook = Webhook(hook.url)
        store.register([webhook.name])
        note(store, "a")
        hook.refusals = [301]
        (problem,) = deliver(store, webhook)
        assert "answers HTTP 301; " in problem


class TestUserCommand:
    def test_it_reads_the_changes(self, store: WatchStore, tmp_path: Path) -> None:
        out = tmp_path / "out"
        command = UserCommand(f"cat > {shlex.quote(str(out))}")
        store.register([command.name])
        note(store, "a", "b")
        assert deliver(store, command) == []
        assert [change["id"] for change in json.loads(out.read_text())["changes"]] == ["a", "b"]

    def test_one_that_fails_is_told_and_run_again(self, store: WatchStore, tmp_path: Path) -> None:
        once, out = tmp_path / "once", tmp_path / "out"
        command = UserCommand(f"test -e {once} && cat > {out}")
        store.register([command.name])
        note(store, "a")
        (problem,) = deliver(store, command)
        assert "ended with exit status 1; " in problem
        once.touch()
        assert deliver(store, command) == []
        assert "a" in out.read_text()

    def test_one_that_does_not_end_is_ended(self, store: WatchStore) -> None:
        command = UserCommand(f"{sys.executable} -c 'import time; time.sleep(1000)'", 0.2)
        store.register([command.name])
        note(store, "a")
        (problem,) = deliver(store, command)
        assert "was ended after 0.2 s; " in problem

    def test_one_that_reads_nothing_is_no_failure(self, store: WatchStore) -> None:
        command = UserCommand("true")
        store.register([command.name])
        note(store, *(f"{number}" * 10_000 for number in range(BATCH)))
        assert deliver(store, command) == []
