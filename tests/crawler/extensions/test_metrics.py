"""The port at which metrics are served."""

from __future__ import annotations

import pytest

from crawler.job_registry import listening


def test_a_port_is_taken_until_it_is_closed() -> None:
    with listening("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ValueError, match=r"cannot listen at 127\.0\.0\.1"):
            listening("127.0.0.1", port)
    listening("127.0.0.1", port).close()


def test_a_host_of_another_machine_is_refused() -> None:
    with pytest.raises(ValueError, match=r"METRICS_PORT: cannot listen at 192\.0\.2\.1:1024: "):
        listening("192.0.2.1", 1024)
