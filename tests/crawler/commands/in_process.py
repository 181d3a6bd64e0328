"""A ``scrapy`` command in this process: a fifth of the time of one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from unittest.mock import patch

from scrapy.cmdline import execute

from tests.crawls.command import PROJECT


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str, stdin: str = "") -> Done:
    """Run a command that fetches nothing, as the user of the project does."""
    output, errors = io.StringIO(), io.StringIO()
    # Scrapy finds the project by the folder, and leaves its name in the environment.
    with (
        contextlib.chdir(PROJECT),
        patch.dict(os.environ),
        patch.object(sys, "path", [*sys.path]),
        patch.object(sys, "argv", ["scrapy", *arguments]),
        patch.object(sys, "stdin", io.StringIO(stdin)),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            execute(["scrapy", *arguments])
            code: object = 0
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return Done(code, output.getvalue(), errors.getvalue())
