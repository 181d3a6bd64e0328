"""Be a worker: read the pages that come over a socket, one at a time, until it is closed."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import resource
import socket
import sys
from typing import TYPE_CHECKING

from lxml.etree import XPathError

from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.metadata.metadata_record import PageHeaders
from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import (
    OUT_OF_MEMORY,
    ReadingOptions,
    extracted_to_wire,
    frame,
    options_from_wire,
    parsed_to_wire,
    receive,
)
from crawler.reading.reading import ReadingTask

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.reading.protocol import Message
    from crawler.reading.reading import Parsed

_M_MXFAST = 1

# A page is made of tens of thousands of objects that reference counts free. To look for cycles
# among them after each 700 costs 3 % of a page.
_COLLECTED_OBJECTS = 50_000
_FIRST_PAGE = b"<title>A page</title><p>3 May 2020<p>" + b"It has a paragraph with sentences. " * 20
# trafilatura walks trees by recursion, and libxml2 makes them up to 2,048 deep.
_DEPTH = 10_000


def limit_memory(limit_mb: int) -> None:
    """Make allocations beyond a limit fail.

    ``RLIMIT_DATA`` counts written memory, heap and anonymous mappings alike (Linux 4.7), whereas
    ``RLIMIT_AS`` counts libraries and reservations too. macOS knows neither.
    """
    limit = limit_mb << 20
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    # A crash is an answer here; a gigabyte of core dump for each would fill the disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def spare_allocator() -> None:
    """Let glibc join freed pieces of memory at once, so that a page lies in one piece.

    It would keep small ones apart, and go through tens of thousands of them when the tree of a page
    has been freed: a tenth of the time that libxml2 takes.
    """
    with contextlib.suppress(AttributeError, OSError):  # no other C library has it
        ctypes.CDLL(None).mallopt(_M_MXFAST, 0)


def prepared() -> Callable[[int], int]:
    """Do what each worker would do for itself, and return what a worker does."""
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(_DEPTH)
    gc.set_threshold(_COLLECTED_OBJECTS)
    spare_allocator()
    # What is loaded for the first page that has a text is shared too.
    reader = PageReader(ReadingOptions())
    reader.see(reader.parse(ReadingTask("http://page.invalid/", _FIRST_PAGE, "text/html")))
    reader.extract()
    gc.freeze()  # modules and tables are not walked through: a twentieth of a page
    return work


def work(descriptor: int) -> int:
    """Read pages, and return the exit status."""
    try:
        with contextlib.suppress(ConnectionError):  # the parent has gone, or has given it up
            _Server(socket.socket(fileno=descriptor)).serve()
    except MemoryError:
        # Any other way to end needs memory.
        os._exit(OUT_OF_MEMORY)
    return 0


class _Server:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._told = connection.makefile("rb")

    def serve(self) -> None:
        first = receive(self._told)
        if first is None:
            return
        options = options_from_wire(first[0])
        self._left = options.recycle_pages
        limit_memory(options.memory_limit_mb)
        self._reader = PageReader(options)
        self._send(("ready",))
        while (received := receive(self._told)) is not None:
            message, body = received
            task = ReadingTask(*message[1:])
            self._read(task._replace(body=body, headers=PageHeaders(*task.headers)))

    def _read(self, job: ReadingTask) -> None:
        try:
            parsed = self._parse(job)
            self._send(parsed_to_wire(parsed))
            if job.links_only:
                return
            answer = receive(self._told)
            if answer is not None and answer[0][0] == "go":
                extracted = self._reader.extract()
                self._left -= 1
                self._send(extracted_to_wire(extracted, tired=self._left <= 0))
        except UnreadableError as error:
            self._send(("textless", str(error.why), error.words))
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
