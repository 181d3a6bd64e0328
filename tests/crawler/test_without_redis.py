"""A crawl alone needs no client of Redis, which is an extra."""

from __future__ import annotations

import subprocess
import sys

IMPORTED = """
import importlib, pkgutil, sys
sys.modules["redis"] = None
import crawler.addon, crawler.commands, crawler.spiders, crawler.downloadermiddlewares
from scrapy.settings import Settings
from crawler.job_registry import job_options
for package in (crawler.commands, crawler.spiders, crawler.downloadermiddlewares):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
for name in ("scheduling.scheduler", "pipelines", "extensions.job_keeping", "extensions.limits"):
    importlib.import_module(f"crawler.{name}")
print(job_options(Settings()).reading.workers >= 0)
"""


def test_all_that_a_crawl_alone_needs_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
