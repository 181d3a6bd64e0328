"""Where the lab listens, and when it wants a token."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from crawler.lab.app import binding
from crawler.lab.app.binding import BindingError, bind


class TestBind:
    def test_any_free_port_of_this_machine(self) -> None:
        with bind("127.0.0.1", "0").listening as listening:
            address, port = listening.getsockname()
        assert address == "127.0.0.1"
        assert port > 0

    def test_the_usual_port_or_any_other_where_that_is_taken(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            monkeypatch.setattr(binding, "USUAL_PORT", taken.getsockname()[1])
            bound = bind("127.0.0.1", None)
            with bound.listening:
                assert bound.port not in (0, taken.getsockname()[1])
                assert bound.address == f"http://127.0.0.1:{bound.port}/"

    def test_a_port_that_is_asked_for_and_taken_is_refused(self) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = str(taken.getsockname()[1])
            with pytest.raises(BindingError, match="in use"):
                bind("127.0.0.1", port)

    @pytest.mark.parametrize("port", ["-1", "65536", "http", "", "8.0", "٣"])
    def test_what_is_no_port_is_refused(self, port: str) -> None:
        with pytest.raises(BindingError, match="--port takes a number from 0 to 65535"):
            bind("127.0.0.1", port)

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
    def test_no_token_is_needed_on_a_loopback_address(self, host: str) -> None:
        bound = bind(host, "0")
        with bound.listening:
            assert bound.token is None

    def test_every_other_address_has_a_token_and_each_another_one(self) -> None:
        tokens = set()
        for _ in range(2):
            bound = bind("0.0.0.0", "0")
            with bound.listening:
                assert bound.token is not None
                assert len(bound.token) >= 32
                assert bound.address == f"http://127.0.0.1:{bound.port}/?token={bound.token}"
                tokens.add(bound.token)
        assert len(tokens) == 2
