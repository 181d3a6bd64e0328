"""A small crawl to judge again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from neardup import Parameters
from tests.crawler.maintenance.rejudge.captured import Said, capture
from tests.crawler.maintenance.rejudge.texts import LONG, NEAR, SHORT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two texts that are near, their copies, one that is apart."""
    said = [
        ("/long", Said(LONG)),
        ("/near", Said(NEAR)),
        ("/copy", Said(LONG, "other bytes")),
        ("/copy-of-near", Said(NEAR, "other bytes")),
        ("/short", Said(SHORT)),
    ]
    capture(tmp_path / "job", said, Parameters())
    return tmp_path / "job"
