"""``scrapy pages DIR``: the pages of a crawl, through Scrapy's exporters."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, one_directory
from crawler.console.escaping import say
from crawler.feeds.exporters import EXPORTERS, export
from crawler.options import did_you_mean
from crawler.pages.export import KEPT_FILTER, export_pages
from crawler.pages.verdicts import VERDICTS
from crawler.storage.database import open_for_reading
from crawler.storage.output_files import check_output

if TYPE_CHECKING:
    import argparse
    import sqlite3
    from collections.abc import Callable


class PagesCommand(PlainCommand):
    """Exports one row a URL, its newest capture; the row of a kept page has the text."""

    usage = "[-o FILE] [--verdict V] [--without-boilerplate] DIR"
    summary = "Export the pages of a crawl as jsonl, json, csv, xml or parquet"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            default="-:jsonl",
            help="where to; the ending gives the format, FILE:FORMAT names it (default: jsonl to "
            "standard output)",
        )
        parser.add_argument(
            "--verdict",
            metavar="V",
            help="without it, all URLs are exported, a row a URL; with it, only these: "
            f"{KEPT_FILTER} (every page whose text is stored, each once), "
            f"{', '.join(VERDICTS)}",
        )
        parser.add_argument(
            "--without-boilerplate",
            action="store_true",
            help="leave out of the texts what ten pages of their host and a tenth of all repeat; a "
            "text that is nothing else stays whole; words, digests and fingerprints are those of "
            "the whole text",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Export a crawl directory."""
        folder = Path(one_directory(args))
        choices = (KEPT_FILTER, *VERDICTS)
        if opts.verdict is not None and opts.verdict not in choices:
            if "," in opts.verdict:
                raise CommandError(f"--verdict {opts.verdict}: one verdict is taken; export each")
            hint = did_you_mean(opts.verdict, choices)
            raise CommandError(f"--verdict {opts.verdict}: no such verdict{hint}")
        name, kind = _destination(opts.output)
        with closing(open_for_reading(folder)) as connection:
            clean = _without_boilerplate(connection, folder) if opts.without_boilerplate else None
            count = export(export_pages(connection, opts.verdict, clean), name, kind)
        if name != "-":
            say(f"{count:,} rows in {name}", to_stderr=True)


def _without_boilerplate(
    connection: sqlite3.Connection, folder: Path
) -> Callable[[str, str], str] | None:
    """Return what cleans a text given the URL of its page, None where nothing is repeated."""
    from crawler.pages.boilerplate import HostBoilerplate

    boilerplate = HostBoilerplate(connection.execute)
    if boilerplate.is_any_known:
        return boilerplate.text_without
    say(f"{folder}: no host is known to repeat anything, so texts are whole", to_stderr=True)
    return None


def _destination(output: str) -> tuple[str, str]:
    """Return file name and format of ``-o FILE`` or ``-o FILE:FORMAT``."""
    name, colon, kind = output.rpartition(":")
    if not colon or kind not in EXPORTERS:
        name, kind = output, Path(output).suffix.lstrip(".").lower()
    if name == "-" and not kind:
        kind = "jsonl"
    if kind not in EXPORTERS:
        raise CommandError(
            f"-o {output}: its ending names no format; there are {', '.join(EXPORTERS)}"
        )
    if name != "-":
        if not Path(name).parent.is_dir():
            raise CommandError(f"-o {output}: no such directory: {Path(name).parent}")
        check_output(Path(name))
    return name, kind
