"""A progress bar, on a terminal."""

import os
import sys
from collections.abc import Iterator

from neardup.command_line.rows.row import Row, RowSource

_REFRESHED_EVERY = 64


def shown(source: RowSource) -> Iterator[Row]:
    """Yield the rows of a source, with a bar on standard error where that is a terminal.

    Elsewhere nothing is written, and rich is not even imported.
    """
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return _with_bar(source)
    return source.rows


def _with_bar(source: RowSource) -> Iterator[Row]:
    from rich.console import Console  # noqa: PLC0415  (a tenth of a second)
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.fields[texts]:,} texts"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%" if source.total else ""),
        TimeRemainingColumn(),
    )
    # Transient: the summary takes its place.
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=source.total, texts=0)
        for number, row in enumerate(source.rows, start=1):
            if number % _REFRESHED_EVERY == 0:
                progress.update(task, completed=source.position(), texts=number)
            yield row
