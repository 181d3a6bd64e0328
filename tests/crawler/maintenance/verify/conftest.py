"""A crawl directory for each test, copied from one that is made once a file."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.crawler.maintenance.verify.crawled import make

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "job"
    make(folder)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "job")
