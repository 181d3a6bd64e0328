"""The servers on which a fleet may run."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["redis_url", "cluster_url"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(request.param)
    return found
