"""Run a command that may not write where permissions forbid it, as root otherwise may."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]

_WITHOUT_RIGHTS_OF_ROOT = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--")


def run_read_only(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours while a folder and the files in it cannot be written to."""
    bounded = _WITHOUT_RIGHTS_OF_ROOT if os.getuid() == 0 else ()
    if bounded and shutil.which(bounded[0]) is None:
        pytest.skip("setpriv (util-linux) is not installed")
    inner = [each for each in folder.rglob("*") if each.is_file()]
    for each in (*inner, folder):
        each.chmod(0o555)
    command = [*bounded, sys.executable, "-m", "crawler", *arguments]
    try:
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    finally:
        for each in (folder, *inner):
            each.chmod(0o755)
