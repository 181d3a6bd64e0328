"""Run a worker: read the pages that come over a socket, one at a time, until it is closed.

Started by ``process.py`` as ``python -m crawler.reading.reading_worker FD PARENT_PID``.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from typing import TYPE_CHECKING

from lxml.etree import XPathError

from crawler.reading.memory_limits import (
    OUT_OF_MEMORY,
    Deadman,
    Weariness,
    die_with,
    leave_signals_to_parent,
    limit_memory,
)
from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import extracted_to_wire, frame, parsed_to_wire, receive
from crawler.reading.reading_options import ReadingOptions
from crawler.reading.steps import ReadingTask

if TYPE_CHECKING:
    from crawler.reading.protocol import Message
    from crawler.reading.steps import Parsed

# A living parent ends a worker before that.
_GRACE_SECS = 30
# trafilatura walks trees by recursion, and libxml2 makes them up to 2,048 deep.
_DEPTH = 10_000


def main() -> int:
    """Serve one parent; return the exit status."""
    leave_signals_to_parent()
    die_with(int(sys.argv[2]))
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(_DEPTH)
    connection = socket.socket(fileno=int(sys.argv[1]))
    try:
        _Server(connection).serve()
    except MemoryError:
        # Any other way to end needs memory.
        os._exit(OUT_OF_MEMORY)
    except ConnectionError:
        return 0  # the parent has gone, or has given this worker up
    return 0


class _Server:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def serve(self) -> None:
        first = receive(self._connection)
        if first is None:
            return
        options = _options(first[0])
        limit_memory(options.memory_limit_mb)
        self._reader = PageReader(options)
        self._deadman = Deadman(options.timeout_secs + _GRACE_SECS)
        self._weariness = Weariness(options.recycle_pages, options.recycle_growth_mb)
        self._send(("ready",))
        while (received := receive(self._connection)) is not None:
            message, body = received
            _, url, content_type, links_only = message
            self._read(ReadingTask(url, body, content_type, links_only))

    def _read(self, job: ReadingTask) -> None:
        try:
            with self._deadman:
                parsed = self._parse(job)
            self._send(parsed_to_wire(parsed))
            if job.links_only:
                return
            answer = receive(self._connection)
            if answer is not None and answer[0][0] == "go":
                with self._deadman:
                    extracted = self._reader.extract()
                self._send(extracted_to_wire(extracted, tired=self._weariness.is_tired()))
        except XPathError as error:
            # With tested expressions and whole trees the only cause is that no memory is left.
            raise MemoryError from error
        except (MemoryError, ConnectionError):
            raise
        except Exception as error:  # one page's trouble is not the next one's
            self._send(("failed", f"{type(error).__name__}: {str(error)[:500]}"))
        finally:
            self._reader.forget()

    def _parse(self, job: ReadingTask) -> Parsed:
        parsed = self._reader.parse(job)
        if job.links_only:
            return parsed
        try:
            return self._reader.see(parsed)
        except Exception:
            # The links at least must not be lost, and freeing the tree makes room for them.
            self._reader.forget()
            self._send(parsed_to_wire(parsed))
            raise

    def _send(self, message: Message) -> None:
        self._connection.sendall(frame(message))


def _options(message: Message) -> ReadingOptions:
    return ReadingOptions(**dict(message[1]))


if __name__ == "__main__":
    sys.exit(main())
