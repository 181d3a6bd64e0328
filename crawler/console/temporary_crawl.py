"""Make crawls of archives and other files, in directories that are removed afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from crawler.console.command_line import USAGE_ERROR, CommandError
from crawler.console.escaping import say
from crawler.lab.crawl_source import directory_of
from crawler.maintenance.tally import make_tally
from crawler.pages.verdicts import OF_TEXTS
from crawler.spiders.file_pages import page_files
from crawler.storage.database import FILE_NAME, open_for_reading
from neardup.installing import start_python
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

_SETTINGS = ("FEEDS={}", "WARC_ENABLED=False", "METRICS_PORT=", "FLEET_ENABLED=False")
"""Settings that a configuration may give each crawl, and nobody wants for this one."""


@contextmanager
def crawls_of(paths: Sequence[Path]) -> Iterator[Mapping[Path, Path]]:
    """Make a crawl of each path that is no crawl directory; it exists while the block lasts.

    Yields:
        The crawl directories of these paths.

    Raises:
        CommandError: There are no pages in one of them that could be read.
    """
    with ExitStack() as stack:
        made = {}
        for path in paths:
            if directory_of(path) is None:
                place = stack.enter_context(TemporaryDirectory(prefix="crawl-once-"))
                for number in (signal.SIGTERM, signal.SIGHUP):
                    if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one
                        signal.signal(number, _leave)  # so that the directory goes
                made[path] = _replayed(path, Path(place) / "crawl")
        yield made


def _leave(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)


def _replayed(path: Path, folder: Path) -> Path:
    try:
        is_of_lines = bool(page_files(str(path))) and path.is_file()
    except ValueError as error:
        raise CommandError(f"{str(error).removeprefix('-a warc: ')}; no crawl either") from None
    say(f"{path}: no crawl directory, so that a temporary crawl is made of it", to_stderr=True)
    settings = (*_SETTINGS, f"PROGRESS_ENABLED={sys.stderr.isatty()}")
    options = [word for setting in settings for word in ("-s", setting)]
    with start_python(
        ["-m", "crawler.api.crawl_child", "replay", str(path), str(folder), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches it by this process alone
    ) as process:
        try:
            status = process.wait()
        except BaseException:
            process.kill()
            raise
    # Of a damaged archive the rest is of use, a file of lines is to be mended.
    if status == USAGE_ERROR or (status and is_of_lines) or not (folder / FILE_NAME).exists():
        raise CommandError(f"{path}: no crawl could be made of it, see above")
    _tell(path, folder)
    return folder


def _tell(path: Path, folder: Path) -> None:
    with closing(open_for_reading(folder)) as connection:
        verdicts = make_tally(connection, visit=1).verdicts
    left_out = [
        f"{count:,} {verdict}"
        for verdict, count in verdicts.items()
        if count and verdict not in OF_TEXTS
    ]
    without = f", left out: {', '.join(left_out)}" if left_out else ""
    count = sum(verdicts[verdict] for verdict in OF_TEXTS)
    say(f"{path}: {many(count, 'page')} with a text{without}", to_stderr=True)
