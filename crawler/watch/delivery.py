"""Hand changes on: lines of JSON, a webhook, a command of the user, an Atom feed (RFC 4287).

Each receiver takes the changes in their order, and what it did not take is offered again after the
next visit. A file has each change once, also where a process was killed while it wrote; a webhook
or a command may get a change a second time then, with the same id.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from abc import ABC, abstractmethod
from base64 import b64encode
from contextlib import suppress
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote
from xml.etree import ElementTree as ET

import urllib3
from urllib3.util import parse_url

from neardup.files.durable import named_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crawler.watch.watch_store import Noted, PageChange, WatchStore

BATCH = 100
"""Hand over at most this many changes at a time."""

TIMEOUT_SECS = 30.0
"""A webhook has this time to answer."""

RETRIES = 3
"""A webhook is asked again this many times, after 1, 2 and 4 seconds."""

TOTAL_SECS = 120.0
"""A webhook is left after this time, tries and waiting included."""

COMMAND_SECS = 600.0
"""A command has this time for the changes that it gets at once."""

MAX_ENTRIES = 100
"""A feed has the newest entries, at most this many."""

_STANDARD_OUTPUT = "-"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SAFE = "!#$%&'()*+,/:;=?@[]~"
_BACKOFF_SECS = 0.5
_RETRIED = (408, 425, 429, 500, 502, 503, 504)

ET.register_namespace("", _NAMESPACE)


class DeliveryError(Exception):
    """A receiver that did not take changes; the message says why."""


class Receiver(ABC):
    """Takes changes.

    Attributes:
        name: Its name in ``watch.db``, which tells it from all others.
    """

    name: str

    def deliver(self, store: WatchStore, is_stopped: Callable[[], bool]) -> None:
        """Hand over all changes that were not taken yet, or some until it is stopped.

        Raises:
            DeliveryError: The others are handed over after the next visit.
        """
        while not is_stopped() and (changes := store.untaken(self.name, BATCH)):
            self.take(changes, store)
            store.note_taken(self.name, changes[-1].number)

    @abstractmethod
    def take(self, changes: Sequence[Noted], store: WatchStore) -> None:
        """Take some changes, or raise ``DeliveryError``."""


class JsonLines(Receiver):
    """A file with one change a line, to which lines are appended; ``-`` is standard output."""

    def __init__(self, file: str) -> None:
        self._file = file
        is_stdout = file == _STANDARD_OUTPUT
        self.name = "lines -" if is_stdout else f"lines {Path(file).resolve()}"

    def deliver(self, store: WatchStore, is_stopped: Callable[[], bool]) -> None:
        """Append what is not there yet, also where a killed process was writing."""
        place = store.place(self.name)
        if self._file != _STANDARD_OUTPUT and place is not None:
            try:
                self._recover(store, place)
            except OSError as error:
                raise DeliveryError(f"{self._file}: {error.strerror}") from None
        super().deliver(store, is_stopped)

    def take(self, changes: Sequence[Noted], store: WatchStore) -> None:
        lines = "".join(f"{noted.json}\n" for noted in changes)
        if self._file == _STANDARD_OUTPUT:
            sys.stdout.write(lines)
            sys.stdout.flush()
            return
        path = Path(self._file)
        try:
            with path.open("ab") as file:
                store.note_place(self.name, file.tell())
                file.write(lines.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DeliveryError(f"{self._file}: {error.strerror}") from None

    def _recover(self, store: WatchStore, place: int) -> None:
        """Note the lines that a killed process wrote, and cut off the one that it began."""
        path = Path(self._file)
        if not path.exists():
            return
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            # A file that is shorter was replaced by another one.
            file.seek(place if place <= size else 0)
            written = file.read()
            if written and not written.endswith(b"\n"):
                whole = written.rpartition(b"\n")
                file.truncate(size - len(whole[2]))
                written = b"".join(whole[:2])
        ids = set(filter(None, map(_id_of, written.splitlines())))
        for noted in store.untaken(self.name, BATCH):
            if noted.change.id not in ids:
                break
            store.note_taken(self.name, noted.number)


def _id_of(line: bytes) -> str | None:
    """Return the id of a change, None where a line is of something else."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return str(found["id"]) if isinstance(found, dict) and "id" in found else None


class Webhook(Receiver):
    """A URL to which changes are posted as JSON.

    Args:
        url: The URL.
        timeout_secs: Time that it has to answer.
        retries: How often it is asked again where it does not answer, or answers that it is busy.
        total_secs: Time for all of it, however slowly bytes come.

    Of an answer the status alone is read.
    """

    def __init__(
        self,
        url: str,
        timeout_secs: float = TIMEOUT_SECS,
        retries: int = RETRIES,
        total_secs: float = TOTAL_SECS,
    ) -> None:
        self._url = url
        self._retries = retries
        self._total_secs = total_secs
        self._thread: Thread | None = None
        parsed = parse_url(url)
        self._host = parsed._replace(auth=None, path=None, query=None, fragment=None).url
        self._headers = {} if parsed.auth is None else _authorization(parsed.auth)
        # A URL may be as good as a password, so that it is stored and printed nowhere.
        self.name = f"webhook {hashlib.sha256(url.encode()).hexdigest()}"
        retry = urllib3.Retry(
            retries,
            status=0,  # urllib3 would read the answers that it drops
            allowed_methods=None,
            backoff_factor=_BACKOFF_SECS,
            respect_retry_after_header=False,
        )
        self._pool = urllib3.PoolManager(retries=retry, timeout=timeout_secs)

    def take(self, changes: Sequence[Noted], store: WatchStore) -> None:
        body = message(changes).encode()
        headers = {
            **self._headers,
            "Content-Type": "application/json",
            "User-Agent": "crawl-once",
        }
        status = self._within_time(lambda: self._post(body, headers))
        if isinstance(status, urllib3.exceptions.HTTPError):
            raise DeliveryError(f"the webhook at {self._host} does not answer: {_cause(status)}")
        if status is None:
            raise DeliveryError(
                f"the webhook at {self._host} was left after {self._total_secs:g} s"
            )
        if not 200 <= status < 300:
            raise DeliveryError(f"the webhook at {self._host} answers HTTP {status}")

    def _within_time(
        self, post: Callable[[], int | urllib3.exceptions.HTTPError]
    ) -> int | urllib3.exceptions.HTTPError | None:
        """Return what a call returns; None where it takes too long, or an earlier one still does.

        The call goes on in its thread, since nothing ends a read that brings a byte now and then.
        """
        if self._thread is not None and self._thread.is_alive():
            return None
        found: list[int | urllib3.exceptions.HTTPError] = []
        self._thread = Thread(target=lambda: found.append(post()), daemon=True)
        self._thread.start()
        self._thread.join(self._total_secs)
        return found[0] if found else None

    def _post(self, body: bytes, headers: Mapping[str, str]) -> int | urllib3.exceptions.HTTPError:
        for tried in range(self._retries + 1):
            try:
                answer = self._pool.request(
                    "POST",
                    self._url,
                    body=body,
                    headers=headers,
                    redirect=False,
                    preload_content=False,
                )
            except urllib3.exceptions.HTTPError as error:
                return error
            answer.close()
            if answer.status not in _RETRIED:
                break
            time.sleep(_BACKOFF_SECS * 2**tried if tried < self._retries else 0)
        return answer.status


def _authorization(written: str) -> dict[str, str]:
    """Return the header of HTTP authentication for ``user:password`` as a URL has it."""
    user, _, password = written.partition(":")
    credentials = f"{unquote(user)}:{unquote(password)}".encode()
    return {"Authorization": f"Basic {b64encode(credentials).decode()}"}


class UserCommand(Receiver):
    """A command of the user for the shell, which reads changes as JSON from standard input."""

    def __init__(self, command: str, timeout_secs: float = COMMAND_SECS) -> None:
        self._command = command
        self._timeout_secs = timeout_secs
        # It may hold a secret, as the URL of a webhook may.
        self.name = f"command {hashlib.sha256(command.encode()).hexdigest()}"
        self._shown = " ".join(command.split(maxsplit=1)[:1])

    def take(self, changes: Sequence[Noted], store: WatchStore) -> None:
        with subprocess.Popen(  # noqa: S602  # the user's own command
            self._command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=sys.stderr.fileno() if sys.stderr is not None else None,
            start_new_session=True,
            text=True,
            encoding="utf-8",
        ) as process:
            try:
                process.communicate(message(changes), self._timeout_secs)
            except BaseException as error:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                raise DeliveryError(
                    f"the command {self._shown} was ended after {self._timeout_secs:g} s"
                ) from None
        if process.returncode:
            raise DeliveryError(
                f"the command {self._shown} ended with exit status {process.returncode}"
            )


def message(changes: Sequence[Noted]) -> str:
    """Return what a webhook and a command get: ``{"changes": [...]}``."""
    return f'{{"changes": [{", ".join(noted.json for noted in changes)}]}}'


def deliver_all(
    store: WatchStore, receivers: Sequence[Receiver], is_stopped: Callable[[], bool]
) -> Iterator[str]:
    """Hand the changes to all receivers, until it is stopped; yield why each that failed did.

    Changes that all receivers took which there ever were are removed, but for the newest ones.
    """
    for receiver in receivers:
        try:
            receiver.deliver(store, is_stopped)
        except DeliveryError as error:
            yield f"{error}; the changes are handed over after the next visit"
    store.prune()


def _cause(error: urllib3.exceptions.HTTPError) -> str:
    """Return the words of the last failure, without those of the library around them."""
    reason = getattr(error, "reason", None) or error
    for one in (reason.__cause__, *reason.args[::-1]):
        if isinstance(one, OSError) and one.strerror:
            return one.strerror
    return str(reason).rpartition(": ")[2] or type(reason).__name__


def write_feed(path: Path, changes: Sequence[PageChange], now: float) -> None:
    """Replace a feed as a whole.

    Args:
        path: The file.
        changes: The changes, the newest first; the first ``MAX_ENTRIES`` become entries.
        now: Seconds since 1970, the date of a feed without entries.

    Raises:
        OSError: It cannot be written.
    """
    feed = make_feed(path.resolve().as_uri(), changes[:MAX_ENTRIES], now)
    path.parent.mkdir(parents=True, exist_ok=True)
    with named_file(path) as file:
        file.write(feed)


def make_feed(place: str, changes: Sequence[PageChange], now: float) -> bytes:
    """Return a feed as XML in UTF-8.

    Args:
        place: What tells the feed from others for good, such as the URI of its file.
        changes: The changes, the newest first.
        now: Seconds since 1970.
    """
    feed = ET.Element(f"{{{_NAMESPACE}}}feed")
    updated = changes[0].when if changes else datetime.fromtimestamp(now, UTC).isoformat()
    _add(feed, "id", uuid.uuid5(uuid.NAMESPACE_URL, place).urn)
    _add(feed, "title", "Changed pages")
    _add(feed, "updated", updated)
    _add(_add(feed, "author"), "name", "crawl-once watch")
    _add(feed, "generator", "crawl-once")
    for change in changes:
        _add_entry(feed, change)
    ET.indent(feed)
    written: bytes = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return written


def _add_entry(feed: ET.Element, change: PageChange) -> None:
    entry = _add(feed, "entry")
    _add(entry, "id", change.id)
    _add(entry, "title", f"{change.title or change.url}: {change.kind}")
    _add(entry, "updated", change.when)
    _add(entry, "link", rel="alternate", href=quote(change.url, safe=_SAFE))
    _add(entry, "category", term=change.kind)
    _add(entry, "summary", change.summary, type="text")
    _add(entry, "content", _html(change), type="html")


def _html(change: PageChange) -> str:
    parts = [f"<p>{escape(change.summary)}</p>"]
    parts += [f"<p><del>{escape(passage)}</del></p>" for passage in change.removed]
    parts += [f"<p><ins>{escape(passage)}</ins></p>" for passage in change.added]
    return "".join(parts)


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    """Add an element; characters that XML does not have are left out."""
    clean = {key: _NO_XML.sub("", value) for key, value in attributes.items()}
    element = ET.SubElement(parent, f"{{{_NAMESPACE}}}{name}", clean)
    element.text = _NO_XML.sub("", text) or None
    return element
