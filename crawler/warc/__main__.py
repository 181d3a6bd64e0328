"""``python -m crawler.warc FOLDER [--wacz]``: index and pack the WARC files of a folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from crawler.console.escaping import plain_logs, say
from crawler.storage.errors import JobError
from crawler.warc.index_and_pack import finish
from crawler.warc.sources import ArchiveError

USAGE_ERROR = 2


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 2 if it fails, 1 if something in the archive cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m crawler.warc", description="index and pack the WARC files of a folder"
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wacz", action="store_true", help="pack them as a WACZ file as well")
    parser.add_argument(
        "--crawl",
        type=Path,
        metavar="DIR",
        help="crawl directory, from which the WACZ file has titles and texts of kept pages; "
        "by default the folder above, if it is one",
    )
    given = parser.parse_args(arguments)
    plain_logs()
    try:
        done = finish(given.folder, given.wacz, crawl=given.crawl)
    except (ArchiveError, JobError) as error:
        say(f"{parser.prog}: {error}", to_stderr=True)
        return USAGE_ERROR
    say(f"{done.cdxj}: {done.captures:,} captures")
    if done.wacz is not None:
        say(str(done.wacz))
    return int(done.damaged > 0)


if __name__ == "__main__":
    sys.exit(main())
