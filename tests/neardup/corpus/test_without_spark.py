"""A corpus on one machine needs no Spark, which is an extra of its own."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import importlib, pkgutil, sys
sys.modules["pyspark"] = None
import neardup.corpus
for module in pkgutil.walk_packages(neardup.corpus.__path__, "neardup.corpus."):
    importlib.import_module(module.name)
"""


def test_no_module_of_corpora_imports_it() -> None:
    command = [sys.executable, "-P", "-c", _SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
