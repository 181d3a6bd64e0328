"""An empty folder of a mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.mirror.folder import MirrorFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "sites" / "mirror"


@pytest.fixture
def mirror(root: Path) -> Iterator[MirrorFolder]:
    with MirrorFolder(root) as folder:
        yield folder
