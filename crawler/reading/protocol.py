"""Define the options of reading, and the messages between the parent and its workers.

::

    frame   = length of message (4 bytes) length of payload (8 bytes) message payload
    message = a tuple of plain values, by marshal; its first value says which
    payload = the body of a page, as it came

    parent: ("options", {...})
            ("read", the fields of a ReadingTask, without its body) + body
            ("go",) after "parsed": extract the text; any other message: do not
    worker: ("ready",)
            ("parsed", ...), without a visible digest only if links alone are wanted or if an end
            of the worker or "failed" follows
            ("extracted", ...)
            ("textless", code, detail) of a document
            ("failed", reason)

Lengths are little-endian. Both ends are the same interpreter, so marshal's format is the same; it
is chosen over pickle because it can hold data only: pages are hostile, and one that takes over a
worker shall not thereby have the parent.
"""

from __future__ import annotations

import marshal
import os
import struct
from dataclasses import asdict, astuple, dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.reading.content.content_xml import PackedContent
from crawler.reading.documents.kinds import readable_kinds
from crawler.reading.link_kinds import NAMES, NUMBERS, Follow, followed_kinds
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.reading import Extract, Extracted, Link, Parsed, WallSigns
from neardup import Parameters
from neardup.features.features import Features

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

Message = tuple[Any, ...]

OUT_OF_MEMORY = 77
"""Exit status of a worker without memory left."""

_LENGTHS = struct.Struct("<IQ")
_KEY_BYTES = 16


_CORES = os.cpu_count() or 1
"""Number of cores, asked for once: the system reads a file at each question."""


def _kinds_of_crawls() -> tuple[str, ...]:
    return tuple(kind for kind, follow in followed_kinds("").items() if follow is not Follow.NO)


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Options for reading pages.

    Attributes:
        workers: Number of processes, at most; 0 means one a core.
        timeout_secs: Time that a worker may use for one page, as ``Allowance`` counts it.
        memory_limit_mb: Memory that one worker may use.
        max_links: Maximum number of distinct links of one page.
        max_url_length: Maximum length of a link in characters; longer ones are only counted.
        keep_html: Whether readings carry the body, compressed.
        disabled_url_rules: Names of rules that the keys of links do without.
        parameters: Parameters of the comparison of texts.
        recycle_pages: Number of pages after which a worker is replaced, as glibc and Python do not
            free all memory.
        documents: Kinds of documents whose text is read.
        link_kinds: Kinds of links that are collected.
        document_links: Whether their links are read.
        shows_lines: Whether the content to show is the lines of the text alone, without headings
            and links.
        extractor: One of ``EXTRACTORS`` where nothing but texts is wanted: it finds the main text,
            and links, blocks and content to show are not made; None for a crawl.
        places: Whether places within pages are collected, and the links to them.
    """

    workers: int = 0
    timeout_secs: float = 20.0
    memory_limit_mb: int = 1024
    max_links: int = 100_000
    max_url_length: int = 8192
    keep_html: bool = False
    disabled_url_rules: tuple[str, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    recycle_pages: int = 2000
    documents: frozenset[str] = field(default_factory=readable_kinds)
    link_kinds: tuple[str, ...] = field(default_factory=_kinds_of_crawls)
    document_links: bool = True
    shows_lines: bool = False
    extractor: str | None = None
    places: bool = False

    @property
    def size(self) -> int:
        return self.workers or _CORES


def frame(message: Message, payload_bytes: int = 0) -> bytes:
    """Return a frame without its payload, which is written behind it."""
    packed = marshal.dumps(message)
    return _LENGTHS.pack(len(packed), payload_bytes) + packed


def receive(connection: BufferedReader) -> tuple[Message, bytes] | None:
    """Wait for a frame on the file of a socket; return None when the other end is gone.

    Raises:
        ConnectionError: It went within a frame.
        MemoryError: The payload does not fit.
    """
    lengths = _exactly(connection, _LENGTHS.size)
    if lengths is None:
        return None
    message_bytes, payload_bytes = _LENGTHS.unpack(lengths)
    packed = _exactly(connection, message_bytes)
    payload = _exactly(connection, payload_bytes)
    if packed is None or payload is None:
        return None
    return marshal.loads(packed), payload  # noqa: S302  # see above


def _exactly(connection: BufferedReader, size: int) -> bytes | None:
    buffer = bytearray(size)
    return bytes(buffer) if connection.readinto(buffer) == size else None


class Inbox:
    """Assembles frames without payload from the chunks in which they arrive."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Message]:
        """Yield the messages that this chunk completes."""
        self._waiting += chunk
        while len(self._waiting) >= _LENGTHS.size:
            end = _LENGTHS.size + _LENGTHS.unpack_from(self._waiting)[0]
            if len(self._waiting) < end:
                return
            with memoryview(self._waiting) as waiting:
                message = marshal.loads(waiting[_LENGTHS.size : end])  # noqa: S302  # see above
            del self._waiting[:end]
            yield message


def options_to_wire(options: ReadingOptions) -> Message:
    plain = asdict(options)
    del plain["documents"]  # the parent chooses kinds
    plain["parameters"]["features"] = str(options.parameters.fingerprint_features)
    return "options", plain


def options_from_wire(message: Message) -> ReadingOptions:
    _, plain = message
    features = Features.parsed(plain["parameters"].pop("features"))
    return ReadingOptions(**plain | {"parameters": Parameters(features, **plain["parameters"])})


def parsed_to_wire(parsed: Parsed) -> Message:
    """Flatten the first step's result; links become columns, which marshal writes faster."""
    urls = [link.url for link in parsed.links]
    keys = b"".join(link.key for link in parsed.links)
    texts = [link.text for link in parsed.links]
    marks = bytes(
        link.nofollow | link.is_canonical << 1 | NUMBERS[link.kind] << 2 for link in parsed.links
    )
    others = {at: link.others for at, link in enumerate(parsed.links) if link.others}
    return (
        "parsed",
        urls,
        keys,
        texts,
        marks,
        others,
        tuple(parsed.metadata),
        None if parsed.signs is None else (parsed.signs.skeleton, str(parsed.signs.kind)),
        *parsed[1:2],
        *parsed[3:-1],
    )


def parsed_from_wire(message: Message) -> Parsed:
    _, urls, keys, texts, marks, others, metadata, signs, cut, *rest = message
    cuts = range(0, len(keys), _KEY_BYTES)
    rows = zip(urls, [keys[at : at + _KEY_BYTES] for at in cuts], marks, texts, strict=True)
    # A call of ``Link`` costs more than all else of this, for each link of a page.
    links = [
        tuple.__new__(Link, (url, key, bool(mark & 1), bool(mark & 2), (), NAMES[mark >> 2], text))
        for url, key, mark, text in rows
    ]
    for at, spellings in others.items():
        links[at] = links[at]._replace(others=spellings)
    read = None if signs is None else WallSigns(*signs)
    return Parsed._make((links, cut, Metadata(*metadata), *rest, read))


def extracted_to_wire(extracted: Extracted, *, tired: bool) -> Message:
    """Flatten the second step's result; a tired worker wants to be replaced."""
    extract, *others = extracted
    *facts, content = astuple(extract)
    facts.append(None if content is None else tuple(content))
    return "extracted", facts, others, tired


def extracted_from_wire(message: Message) -> tuple[Extracted, bool]:
    _, (*facts, content), others, tired = message
    facts.append(None if content is None else PackedContent(*content))
    return Extracted(Extract(*facts), *others), tired
