"""The port at which metrics are served."""

from __future__ import annotations

import pytest

from crawler.metrics_server import release, reserve, take


def test_a_reserved_port_is_taken_once() -> None:
    first = take("127.0.0.1", 0)
    port = first.getsockname()[1]
    first.close()
    reserve("127.0.0.1", port)
    with pytest.raises(ValueError, match=r"cannot listen at 127\.0\.0\.1"):
        reserve("127.0.0.1", port)
    taken = take("127.0.0.1", port)
    assert taken.getsockname()[1] == port
    taken.close()
    reserve("127.0.0.1", port)
    release("127.0.0.1", port)
    take("127.0.0.1", port).close()


def test_a_host_of_another_machine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"METRICS_PORT: cannot listen at 192\.0\.2\.1:1024: "):
        reserve("192.0.2.1", 1024)
