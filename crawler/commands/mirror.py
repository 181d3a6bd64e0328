"""``scrapy mirror URL [DIR]``: a site on disk, complete, browsable offline."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.console.command_line import CommandError, HelpFormatter, complain, refuse_options
from crawler.mirror.errors import MirrorError
from crawler.options import Options, did_you_mean
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_SPIDER_OPTIONS = (
    ("--scope", "KIND", "prefix (the folder of the URL, default), host or domain"),
    ("--allow", "REGEX", "only pages whose URL contains a match"),
    ("--deny", "REGEX", "no pages whose URL contains a match"),
    ("--accept", "NAMES", "files other than pages: only these, such as css,js,png or '*.min.*'"),
    ("--reject", "NAMES", "files and pages that are not fetched, such as zip,iso"),
    ("--links", "KINDS", "kinds of links to follow beside the usual: +comment,-script, all, none"),
    ("--sitemaps", "yes|no", "take pages from the sitemaps that robots.txt names (default yes)"),
    (
        "--text",
        "yes|no",
        "read the text of pages (default yes); no: a third of the CPU, but no URL rule is learned, "
        "so that a site whose URLs never end (session ids, calendars) needs --max-pages",
    ),
    ("--max-pages", "N", "stop after so many pages; the same command goes on"),
    ("--max-depth", "N", "links away from the URL, at most"),
    ("--max-bytes", "SIZE", "stop when the mirror has so many bytes, such as 500M"),
)


_CHOICES = {
    "--render": (
        "auto",
        ("auto", "always", "no"),
        "store pages as Chromium shows them: auto (where nothing is said), those that show more "
        "there; always, all with scripts; no (default); docs/rendering.md",
    ),
    "--screenshots": (
        "yes",
        ("yes", "no"),
        "keep a picture of each page below DIR/.mirror/screenshots (default no)",
    ),
}
"""Options that need no value: what they stand for then, their values, what they mean."""


class MirrorCommand(ScrapyCommand):
    """Exit status.

    0 done, also up to a limit; 1 incomplete, a file is only a part, or problems found; 2 an
    argument is wrong; 130 stopped by the user.
    """

    requires_project = True
    requires_crawler_process = True

    def __init__(self) -> None:
        super().__init__()
        self._options: list[str] = []

    def syntax(self) -> str:
        return "[options] URL [DIR]  |  mirror [options] DIR  |  mirror --check DIR"

    def short_desc(self) -> str:
        return "Mirror a site: browsable offline, the same bytes stored once"

    def long_desc(self) -> str:
        return (
            "Fetch every page of a site and what the pages need, and rewrite the links, so that "
            "DIR/index.html opens without a network. The same command goes on with a mirror that "
            "was stopped, and updates one that is finished: only what changed is fetched, and "
            "DIR/changes.json says what. A file of which only a part came is kept, named at the "
            "end (exit status 1) and by --check, and asked for again the next time."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        from crawler.spiders.mirror import REQUISITES

        super().add_options(parser)
        parser.formatter_class = HelpFormatter
        group = parser.add_argument_group("mirror")
        group.add_argument(
            "--check", action="store_true", help="prove that a mirror is whole; fetches nothing"
        )
        group.add_argument(
            "--requisites",
            choices=sorted(REQUISITES),
            help="styles, images and the like: from the host of the site (default) or all",
        )
        for option, (usual, values, meaning) in _CHOICES.items():
            metavar = "|".join(values)
            group.add_argument(option, nargs="?", const=usual, metavar=metavar, help=meaning)
        for option, metavar, meaning in _SPIDER_OPTIONS:
            group.add_argument(option, metavar=metavar, help=meaning)
        group.add_argument(
            "--max-file-bytes", metavar="SIZE", help="larger files are not fetched (default 32MiB)"
        )
        group.add_argument(
            "--rules",
            metavar="FILE",
            help="learned URL rules of another crawl, from scrapy rules DIR --export FILE",
        )
        group.add_argument(
            "--warc", action="store_true", help="record everything in WARC files below DIR/warc"
        )
        group.add_argument(
            "--wacz", action="store_true", help="as --warc, and pack them as a WACZ file"
        )
        self._options = [name for action in parser._actions for name in action.option_strings]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        if opts.warc or opts.wacz:
            self.settings.set("WARC_ENABLED", True, priority="cmdline")
        if opts.max_file_bytes:
            self.settings.set("DOWNLOAD_MAXSIZE", _size(opts.max_file_bytes), priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from crawler.console.mirror_run import check

        signal.signal(signal.SIGHUP, _as_for_termination())
        try:
            refuse_options(args, self._options)
            args = _with_places(args, opts)
            self.exitcode = check(_one_folder(args)) if opts.check else self._mirror(args, opts)
            sys.stdout.flush()
        except (CommandError, ValueError, JobError, MirrorError) as error:
            self.exitcode = complain(self, _in_our_words(str(error)))
        except BrokenPipeError:  # whoever reads has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            self.exitcode = complain(self, f"cannot write: {error.strerror}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _mirror(self, args: Sequence[str], opts: argparse.Namespace) -> int:
        from crawler.console.mirror_run import Mirroring
        from crawler.spiders.mirror import MirrorSpider

        assert self.settings is not None
        assert self.crawler_process is not None
        url, folder = self._places(args)
        arguments = _arguments(url, opts)
        MirrorSpider.check_arguments(arguments)
        mirroring = Mirroring(
            folder, arguments, self.settings, self.crawler_process, packs=opts.wacz
        )
        return mirroring.run()

    def _places(self, args: Sequence[str]) -> tuple[str, Path]:
        """Return URL and folder; one argument is enough if the folder is a mirror."""
        from crawler.console.mirror_run import known_url
        from crawler.mirror.paths import STATE_FOLDER
        from crawler.spiders.mirror import MirrorSpider
        from crawler.urls.seeds import host_folder

        assert self.settings is not None
        if len(args) == 1 and (Path(args[0]) / STATE_FOLDER).is_dir():
            return known_url(Path(args[0])), Path(args[0])
        if len(args) == 2 and "://" not in args[1]:
            return args[0], Path(args[1])
        if len(args) == 1:
            parent = Path(str(Options(self.settings).raw("MIRROR_DIRECTORY")))
            MirrorSpider.check_arguments({"url": args[0]})
            return args[0], parent / host_folder(args[0])
        got = "nothing" if not args else " ".join(args)
        raise CommandError(
            f"a URL is needed (several are separated by commas), and a directory or none, got {got}"
        )


_ARGUMENT = re.compile(r"-a ([a-z_]+)")


def _as_for_termination() -> Any:
    """Return a handler of SIGHUP that acts as SIGTERM; under nohup the one that is set."""
    if signal.getsignal(signal.SIGHUP) != signal.SIG_DFL:
        return signal.getsignal(signal.SIGHUP)
    return lambda *_: os.kill(os.getpid(), signal.SIGTERM)


def _in_our_words(message: str) -> str:
    """Replace the arguments of the spider in a message by options."""
    message = message.replace("give -a url=https://...", "give a URL such as https://...")
    return _ARGUMENT.sub(lambda found: "--" + found[1].replace("_", "-"), message)


def _with_places(args: Sequence[str], opts: argparse.Namespace) -> list[str]:
    """Return URL and directory also where one of them followed an option that needs no value.

    Raises:
        CommandError: It is nearly one of the option's values.
    """
    places = list(args)
    for option, (usual, values, _) in _CHOICES.items():
        name = option.removeprefix("--")
        given = getattr(opts, name)
        if given is None or given in values:
            continue
        hint = did_you_mean(given, values)
        if hint:
            raise CommandError(f"{option} must be {' or '.join(values)}, got {given!r}{hint}")
        places.insert(0 if "://" in given else len(places), given)
        setattr(opts, name, usual)
    return places


def _size(written: str) -> int:
    from crawler.spiders.mirror import byte_count

    try:
        return byte_count(written)
    except ValueError as error:
        raise UsageError(f"--max-file-bytes: {error}", print_help=False) from None


def _one_folder(args: Sequence[str]) -> Path:
    if len(args) != 1:
        got = "none" if not args else " ".join(args)
        raise CommandError(f"--check takes one directory, got {got}")
    return Path(args[0])


def _arguments(url: str, opts: argparse.Namespace) -> dict[str, str]:
    names = [option.removeprefix("--").replace("-", "_") for option, *_ in _SPIDER_OPTIONS]
    found = {
        name: getattr(opts, name)
        for name in [*names, "requisites", "rules", "render", "screenshots"]
    }
    return {"url": url} | {name: value for name, value in found.items() if value is not None}
