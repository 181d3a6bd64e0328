"""``crawl-once watch DIR...``: visit crawls by a clock, and tell what changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import (
    CommandError,
    PlainCommand,
    directory_hint,
    refuse_format,
    refuse_urls,
)
from crawler.console.escaping import say_or_go_on
from crawler.console.spider_command import as_options
from crawler.spiders.argument_table import SITE
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from crawler.watch.delivery import Receiver
    from crawler.watch.watching import WatchOptions

_LIMITS = ("max_time", "max_bytes", "max_pages")
_REVISITS = ("yes", "due")
_SCHEMES = ("http://", "https://")
_STANDARD_OUTPUT = "-"
_LINES = ".jsonl"


class WatchCommand(PlainCommand):
    """Exit status: 0, 1 where with --once a visit or a receiver failed, 2 wrong use."""

    after_interrupt = "ended at once; the next start goes on"
    uses_profile = True
    usage = "[options] DIR [DIR ...]"
    summary = "Visit crawls again when they are due, and tell what changed, with diffs"
    description = (
        "Visit crawl directories again and again, one after the other, with what is remembered of "
        "their crawls, and tell which pages are new, changed, gone or back. What always changes "
        "(clocks, dates, counters, boilerplate) is left out. Ctrl-C ends a visit safely, a second "
        "one at once; the next start goes on. Exit status: 0, 1 where with --once a visit or a "
        "receiver of changes failed, 2 wrong use."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("when, and how much")
        group.add_argument(
            "--every",
            metavar="TIME",
            default="1d",
            help="the time between two visits of a directory: 30m, 6h, 1d (default), 2w",
        )
        group.add_argument(
            "--once",
            action="store_true",
            help="visit what is due now, or within a tenth of the interval, and end: for cron and "
            "timers of systemd",
        )
        group.add_argument(
            "--revisit",
            metavar="WHICH",
            default="yes",
            help="yes (default): ask for every known page; due: for those whose own time has come",
        )
        for name in _LIMITS:
            meaning = f"of each visit: {SITE[name].meaning.replace('the same command', 'the next')}"
            option = f"--{name.replace('_', '-')}"
            group.add_argument(option, metavar=SITE[name].metavar, help=meaning)
        group.add_argument(
            "--min-free",
            metavar="SIZE",
            help="stop a visit when less is free on the disk (default 256MiB)",
        )
        group = parser.add_argument_group("who is told")
        group.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            action="append",
            help="append a line of JSON for each change, - for standard output; may be repeated",
        )
        group.add_argument(
            "--atom", metavar="FILE", help="replace this Atom feed of the newest 100 changes"
        )
        group.add_argument(
            "--webhook",
            metavar="URL",
            action="append",
            default=[],
            help="post the changes of a visit there as JSON; may be repeated",
        )
        group.add_argument(
            "--command",
            metavar="CMD",
            action="append",
            default=[],
            help="run this command of the shell with the changes as JSON on its standard input; "
            "may be repeated",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Watch, until a signal comes."""
        _check(opts)
        folders = _folders(args)
        self._check_settings(opts)
        from crawler.watch.visiting import Signals
        from crawler.watch.watching import Teller, Watch

        to_stderr = _STANDARD_OUTPUT in (opts.output or ())
        teller = Teller(partial(say_or_go_on, to_stderr=to_stderr), self.complain)
        with Signals() as signals, Watch(folders, _options(opts), teller) as watch:
            self.exitcode = watch.run(signals, once=opts.once)

    def _check_settings(self, opts: argparse.Namespace) -> None:
        """Check what is given to each visit, before the first one is due.

        Raises:
            CommandError: A setting or the configuration file is wrong.
        """
        _ = self.host.configuration  # reads it
        if opts.set:
            from crawler.options import check_names, check_values

            try:
                check_names(self.host.settings)
                check_values(self.host.settings)
            except ValueError as error:
                raise CommandError(str(error)) from None


def _folders(args: Sequence[str]) -> list[Path]:
    """Return the crawl directories.

    Raises:
        CommandError: There is none, or one of them is twice there or a mirror's.
        JobError: There is no crawl in one of them.
    """
    from crawler.mirror.paths import STATE_FOLDER
    from crawler.storage.database import require_crawl
    from crawler.storage.errors import JobError

    if not args:
        raise CommandError("a crawl directory is needed; try: crawl-once watch crawls/HOST")
    refuse_urls(args)
    folders = [Path(word) for word in args]
    for folder in folders:
        if (folder / STATE_FOLDER).is_dir():
            raise CommandError(
                f"{folder}: a mirror, which is not watched; "
                f"crawl-once mirror {folder} brings it up to date"
            )
        try:
            require_crawl(folder)
        except JobError as error:
            hint = "" if folder.exists() else directory_hint(folder)
            raise CommandError(f"{error}{hint}") from None
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise CommandError(f"a directory is named twice: {' '.join(args)}")
    return folders


def _check(opts: argparse.Namespace) -> None:
    """Check the options before anything heavy is imported.

    Raises:
        CommandError: One of them is wrong.
        JobError: A file cannot be written.
    """
    from crawler.console.profile import check_profile_options
    from crawler.spiders.arguments import byte_count, secs_of, size_of, whole_number
    from crawler.watch.schedule import interval_secs

    check_profile_options(opts)
    if opts.pdb:
        raise CommandError("--pdb needs a terminal, which a visit has not; try crawl-once crawl")
    if opts.revisit not in _REVISITS:
        hint = did_you_mean(opts.revisit, _REVISITS)
        raise CommandError(f"--revisit must be yes or due, got {opts.revisit!r}{hint}")
    limits = _limits(opts)
    try:
        interval_secs(opts.every)
    except ValueError as error:
        raise CommandError(f"--every: {error}") from None
    try:
        secs_of(limits), size_of(limits)
        whole_number("max_pages", limits.get("max_pages", ""))
    except ValueError as error:
        raise CommandError(as_options(str(error))) from None
    try:
        if opts.min_free is not None:
            byte_count(opts.min_free)
    except ValueError as error:
        raise CommandError(f"--min-free: {error}") from None
    _check_receivers(opts)


def _check_receivers(opts: argparse.Namespace) -> None:
    """Check who is told.

    Raises:
        CommandError: An option is wrong.
        JobError: A file cannot be written.
    """
    for url in opts.webhook:
        _check_webhook(url)
    if not all(map(str.strip, opts.command)):
        raise CommandError("--command: a command of the shell is needed, got an empty one")
    files = [file for file in opts.output or () if file != _STANDARD_OUTPUT]
    for file in files:
        _check_lines(file)
        _check_file(file)
    if opts.atom == _STANDARD_OUTPUT:
        raise CommandError("--atom -: a file is needed, which is replaced after each visit")
    if opts.atom is not None:
        if Path(opts.atom).resolve() in {Path(file).resolve() for file in files}:
            raise CommandError(f"--atom {opts.atom}: -o writes there too; name another file")
        _check_file(opts.atom)


def _check_file(file: str) -> None:
    """Check that a file can be written.

    Raises:
        CommandError: There is no such directory.
        JobError: It cannot be written.
    """
    from crawler.storage.output_files import check_output, check_writable

    if not Path(file).parent.is_dir():
        raise CommandError(f"{file}: no such directory: {Path(file).parent}")
    check_output(Path(file))
    check_writable(Path(file))


def _check_lines(file: str) -> None:
    """Check that the name of a file promises what it gets.

    Raises:
        CommandError: It promises another format.
    """
    refuse_format(file, "-o", "changes are lines of JSON")
    if Path(file).suffix.lower() != _LINES:
        raise CommandError(
            f"-o {file}: changes are lines of JSON; name a file that ends in {_LINES}, "
            f"such as changes{_LINES}"
        )


def _check_webhook(url: str) -> None:
    """Check a URL, which may hold a secret and is not printed.

    Raises:
        CommandError: It is none.
    """
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    try:
        host = parse_url(url).host
    except LocationParseError:
        host = None
    if not url.startswith(_SCHEMES) or not host:
        raise CommandError(
            "--webhook: a URL with http:// or https:// and a host is needed, such as "
            "https://example.org/hook"
        )


def _limits(opts: argparse.Namespace) -> dict[str, str]:
    given = {name: getattr(opts, name) for name in _LIMITS}
    return {name: value for name, value in given.items() if value is not None}


def _options(opts: argparse.Namespace) -> WatchOptions:
    """Return the options of the watch; those that were checked are right."""
    from crawler.spiders.arguments import byte_count
    from crawler.watch.delivery import JsonLines, UserCommand, Webhook
    from crawler.watch.schedule import interval_secs
    from crawler.watch.visiting import VisitOptions
    from crawler.watch.watching import WatchOptions

    settings = list(opts.set)
    if opts.min_free is not None:
        settings.append(f"CRAWL_MIN_FREE_BYTES={byte_count(opts.min_free)}")
    receivers: list[Receiver] = [JsonLines(file) for file in dict.fromkeys(opts.output or ())]
    receivers += [Webhook(url) for url in dict.fromkeys(opts.webhook)]
    receivers += [UserCommand(command) for command in dict.fromkeys(opts.command)]
    visits = VisitOptions(
        opts.revisit, _limits(opts), settings, getattr(opts, "config", None), _log_words(opts)
    )
    return WatchOptions(
        interval_secs(opts.every), visits, receivers, None if opts.atom is None else Path(opts.atom)
    )


def _log_words(opts: argparse.Namespace) -> list[str]:
    """Return the options about logs, which are those of the visits."""
    words = [
        f"--{name}={getattr(opts, name)}"
        for name in ("loglevel", "logfile", "pidfile")
        if getattr(opts, name) is not None
    ]
    return [*words, "--nolog"] if opts.nolog else words
