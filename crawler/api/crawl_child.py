"""Run ``crawl-once`` for another process, and stop as at Ctrl-C when that one has ended."""

from __future__ import annotations

import os
import signal
import sys
import threading

from crawler.console.command_line import INTERRUPTED
from crawler.program import main


def _stop_with_parent() -> None:
    """Wait until the other end of standard input is closed, then stop the crawl."""
    # Not by sys.stdin: its lock would be held when the interpreter ends.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    status = main(sys.argv[1:])
    # Its parent stops it in this way, and knows that it did.
    sys.exit(0 if status == INTERRUPTED else status)
