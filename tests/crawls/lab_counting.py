"""A lab in a process of its own that tells, when it is asked, what it keeps running."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from tests.crawls.command import PROJECT
from tests.crawls.lab import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Counts(NamedTuple):
    """Windows that are remembered, and tasks of the event loop, timers among them."""

    windows: int
    tasks: int


@contextmanager
def counting(path: Path) -> Iterator[tuple[str, Callable[[], Counts]]]:
    """Its address, and what asks it."""
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, str(path)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    asking, answering = process.stdin, process.stdout

    def counts() -> Counts:
        asking.write("\n")
        asking.flush()
        windows, tasks = answering.readline().split()
        return Counts(int(windows), int(tasks))

    try:
        yield answering.readline().strip(), counts
    finally:
        process.kill()
        process.communicate()


def _serve(path: Path) -> None:
    from nicegui import Client, background_tasks

    from crawler.console.lab_options import crawls_of
    from crawler.lab.app.binding import bind
    from crawler.lab.app.lab_server import make_app, serve
    from crawler.lab.app.lab_state import Lab

    def tell() -> None:
        for _ in sys.stdin:
            print(len(Client.instances), len(background_tasks.running_tasks), flush=True)

    bound = bind("127.0.0.1", "0")
    with crawls_of([path]) as made:
        lab = Lab([path], made=made)
        application = make_app(lab, bound, lambda: print(bound.address, flush=True))
        Thread(target=tell, daemon=True).start()
        serve(application, bound.listening)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
