from __future__ import annotations

import socket
import threading
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.content.content_xml import PackedContent
from crawler.reading.link_kinds import NAMES
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.protocol import (
    Inbox,
    ReadingOptions,
    extracted_from_wire,
    extracted_to_wire,
    frame,
    options_from_wire,
    options_to_wire,
    parsed_from_wire,
    parsed_to_wire,
    receive,
)
from crawler.reading.reading import Extract, Extracted, Link, Parsed
from neardup import Parameters
from neardup.features.features import Features

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=6,
)
MESSAGES = st.lists(VALUES, min_size=1, max_size=4).map(tuple)
TEXTS = st.none() | st.text(max_size=20)
LINKS = st.builds(
    Link,
    st.text(max_size=20),
    st.binary(min_size=16, max_size=16),
    st.booleans(),
    kind=st.sampled_from(NAMES),
)
CONTENTS = st.none() | st.builds(PackedContent, st.binary(), TEXTS, st.text(max_size=5))
PARSED = st.builds(
    Parsed,
    links=st.lists(LINKS, max_size=5),
    links_cut=st.integers(0, 9),
    metadata=st.builds(Metadata, robots=st.just(("none",)), refresh_secs=st.floats(0, 9)),
    encoding=st.text(max_size=5),
    visible_digest=st.none() | st.binary(min_size=16, max_size=16),
    secs=st.floats(0, 9),
    malformed=st.just((("http://[", "odd"),)),
)


class TestProtocolProperties:
    @given(st.lists(MESSAGES, max_size=5), st.integers(1, 50))
    def test_messages_arrive_whole_in_whatever_chunks(
        self, messages: list[tuple[Any, ...]], size: int
    ) -> None:
        stream = b"".join(map(frame, messages))
        inbox = Inbox()
        arrived: list[tuple[Any, ...]] = []
        for start in range(0, len(stream), size):
            arrived += inbox.feed(stream[start : start + size])
        assert arrived == messages

    @given(PARSED)
    def test_parsed_pages_cross_the_wire(self, parsed: Parsed) -> None:
        (message,) = Inbox().feed(frame(parsed_to_wire(parsed)))
        assert parsed_from_wire(message) == parsed

    @given(
        st.builds(
            Extracted,
            st.builds(Extract, signature=st.none() | st.binary(), content=CONTENTS),
            st.none() | st.binary(),
            st.floats(0, 9),
            TEXTS,
        )
    )
    def test_extracts_cross_the_wire(self, extracted: Extracted) -> None:
        (message,) = Inbox().feed(frame(extracted_to_wire(extracted, tired=True)))
        assert extracted_from_wire(message) == (extracted, True)


def test_workers_compare_by_the_parameters_of_the_parent() -> None:
    parameters = Parameters(Features("character", 4), min_words=7, verify_shingle_size=2)
    (message,) = Inbox().feed(frame(options_to_wire(ReadingOptions(parameters=parameters))))
    assert options_from_wire(message).parameters == parameters


def test_a_body_larger_than_any_buffer_arrives_behind_its_message() -> None:
    ours, theirs = socket.socketpair()
    body = bytes(range(256)) * 20_000
    with ours, theirs, theirs.makefile("rb") as told:
        sender = threading.Thread(
            target=lambda: ours.sendall(frame(("read", "url"), len(body)) + body)
        )
        sender.start()
        assert receive(told) == (("read", "url"), body)
        sender.join()


def test_a_closed_socket_is_the_end() -> None:
    ours, theirs = socket.socketpair()
    with theirs, theirs.makefile("rb") as told:
        ours.sendall(frame(("cut",), 10) + b"short")
        ours.close()
        assert receive(told) is None
        assert receive(told) is None
