"""``crawl-once watch DIR...``: visit crawls by a clock, and tell what changed."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.commands.crawl import as_options
from crawler.console.command_line import (
    Command,
    check_crawl,
    checked_file,
    refuse_format,
    refuse_urls,
)
from crawler.console.escaping import agrees, say, say_or_go_on
from crawler.console.options import CommandError, among, byte_size, flag, option, read_by
from crawler.spiders.argument_table import SITE
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from crawler.watch.delivery import Receiver
    from crawler.watch.visiting import WatchOptions

_LIMITS = ("max_time", "max_bytes", "max_pages")
_SCHEMES = ("http://", "https://")
_STANDARD_OUTPUT = "-"
_LINES = ".jsonl"

MIN_SECS = 60.0
"""The smallest interval between two visits."""

MAX_SECS = 3_660 * 86_400.0
"""The largest one: ten years."""


_WHEN, _TOLD = "when, and how much", "who is told"
"""Headings of groups of options."""


def _interval(written: str, name: str) -> float:
    return read_by(interval_secs, written, name)


def _limit(name: str) -> Any:
    """Declare an option of a spider, as a limit of each visit."""
    meaning = SITE[name].meaning.replace("the same command", "the next")
    return option(SITE[name].metavar, f"of each visit: {meaning}", group=_WHEN)


@dataclass(frozen=True)
class _GivenOptions:
    every: float = option(
        "TIME",
        "the time between two visits of a directory: 30m, 6h, 1d (default), 2w",
        86_400.0,
        read=_interval,
        group=_WHEN,
    )
    once: bool = flag(
        "visit what is due now, or within a tenth of the interval, and end: for cron and timers of "
        "systemd",
        group=_WHEN,
    )
    revisit: str = option(
        "WHICH",
        "yes (default): ask for every known page; due: for those whose own time has come",
        "yes",
        read=among(lambda: ("yes", "due"), "choice"),
        group=_WHEN,
    )
    max_time: str | None = _limit("max_time")
    max_bytes: str | None = _limit("max_bytes")
    max_pages: str | None = _limit("max_pages")
    min_free: int | None = option(
        "SIZE",
        "stop a visit when less is free on the disk (default 256MiB)",
        read=byte_size,
        group=_WHEN,
    )
    remembered_files: bool = flag(
        "use the files that directories remember, of cookies and URL rules, without a question",
        group=_WHEN,
    )
    output: Sequence[str] = option(
        "FILE",
        "append a line of JSON for each change, - for standard output; may be repeated",
        (),
        names=("-o", ""),
        group=_TOLD,
    )
    atom: str | None = option(
        "FILE", "replace this Atom feed of the newest 100 changes", group=_TOLD
    )
    webhook: Sequence[str] = option(
        "URL", "post the changes of a visit there as JSON; may be repeated", (), group=_TOLD
    )
    command: Sequence[str] = option(
        "CMD",
        "run this command of the shell with the changes as JSON on its standard input; may be "
        "repeated",
        (),
        group=_TOLD,
    )


class WatchCommand(Command):
    """Exit status: 0, 1 where with --once a visit or a receiver failed, 2 wrong use."""

    options = _GivenOptions
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

    def act(self, args: list[str], opts: _GivenOptions) -> None:
        _check(opts, self.given)
        folders = _folders(args)
        self._check_settings()
        files = _agreed_files(folders, is_agreed=opts.remembered_files)
        from crawler.watch.visiting import Signals
        from crawler.watch.watching import Watch

        to_stderr = _STANDARD_OUTPUT in opts.output
        tell = partial(say_or_go_on, to_stderr=to_stderr)
        with (
            Signals() as signals,
            Watch(folders, _options(opts, self.given, files), tell, self.complain) as watch,
        ):
            self.exitcode = watch.run(signals, once=opts.once)

    def _check_settings(self) -> None:
        """Check what is given to each visit, before the first one is due.

        Raises:
            CommandError: A setting or the configuration file is wrong.
        """
        _ = self.host.configuration  # reads it
        if self.given.set:
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
        check_crawl(folder)
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise CommandError(f"a directory is named twice: {' '.join(args)}")
    return folders


def _check(opts: _GivenOptions, given: argparse.Namespace) -> None:
    """Check the options before anything heavy is imported.

    Raises:
        CommandError: One of them is wrong.
        JobError: A file cannot be written.
    """
    from crawler.console.profile import check_profile_options
    from crawler.spiders.argument_table import SITE, check_values
    from crawler.spiders.arguments import secs_of, size_of

    check_profile_options(given)
    if given.pdb:
        raise CommandError("--pdb needs a terminal, which a visit has not; try crawl-once crawl")
    limits = _limits(opts)
    try:
        check_values(limits, SITE)
        secs_of(limits), size_of(limits)
    except ValueError as error:
        raise CommandError(as_options(str(error))) from None
    _check_receivers(opts)


def interval_secs(written: str) -> float:
    """Return the seconds of an interval such as ``30m``, ``6h``, ``1d``, ``2w`` or ``1d12h``.

    Raises:
        ValueError: It is none, or shorter than a minute, or longer than ten years.
    """
    from crawler.spiders.arguments import duration_secs

    secs = duration_secs(written) or 0.0
    if not MIN_SECS <= secs <= MAX_SECS:
        raise ValueError(
            "an interval of a minute to ten years is wanted, such as 30m, 6h, 1d or 2w, "
            f"got {written!r}"
        )
    return secs


def _check_receivers(opts: _GivenOptions) -> None:
    """Check who is told.

    Raises:
        CommandError: An option is wrong.
        JobError: A file cannot be written.
    """
    for url in opts.webhook:
        _check_webhook(url)
    if not all(map(str.strip, opts.command)):
        raise CommandError("--command: a command of the shell is needed, got an empty one")
    files = [file for file in opts.output if file != _STANDARD_OUTPUT]
    for file in files:
        _check_lines(file)
        _check_file(file, "-o")
    if opts.atom == _STANDARD_OUTPUT:
        raise CommandError("--atom -: a file is needed, which is replaced after each visit")
    if opts.atom is not None:
        if Path(opts.atom).resolve() in {Path(file).resolve() for file in files}:
            raise CommandError(f"--atom {opts.atom}: -o writes there too; name another file")
        _check_file(opts.atom, "--atom")


def _check_file(file: str, option: str) -> None:
    """Check that a file can be written.

    Raises:
        CommandError: There is no such directory.
        JobError: It cannot be written.
    """
    from crawler.storage.output_files import check_writable

    check_writable(Path(checked_file(file, option)))


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


def _limits(opts: _GivenOptions) -> dict[str, str]:
    given = {name: getattr(opts, name) for name in _LIMITS}
    return {name: value for name, value in given.items() if value is not None}


def _agreed_files(folders: Sequence[Path], *, is_agreed: bool) -> dict[Path, dict[str, str]]:
    """Return the files that directories remember, once the user has agreed to their use.

    Raises:
        CommandError: The user has not.
    """
    from crawler.watch.visiting import remembered_files

    found = {}
    for folder in folders:
        with suppress(JobError):  # its visit says why
            found[folder.resolve()] = remembered_files(folder)
    named = [
        f"{folder} remembers --{name} {value}"
        for folder, files in found.items()
        for name, value in files.items()
    ]
    if named and not is_agreed:
        if not sys.stdin.isatty():
            raise CommandError(f"{'; '.join(named)}; --remembered-files agrees to their use")
        for line in named:
            say(line)
        if not agrees("use these files?"):
            raise CommandError("nothing is watched, since the files are not to be used")
    return found


def _options(
    opts: _GivenOptions, given: argparse.Namespace, files: dict[Path, dict[str, str]]
) -> WatchOptions:
    """Return the options of the watch; those that were checked are right."""
    from crawler.watch.delivery import JsonLines, UserCommand, Webhook
    from crawler.watch.visiting import WatchOptions

    settings = list(given.set)
    if opts.min_free is not None:
        settings.append(f"CRAWL_MIN_FREE_BYTES={opts.min_free}")
    receivers: list[Receiver] = [JsonLines(file) for file in dict.fromkeys(opts.output)]
    receivers += [Webhook(url) for url in dict.fromkeys(opts.webhook)]
    receivers += [UserCommand(command) for command in dict.fromkeys(opts.command)]
    return WatchOptions(
        opts.every,
        receivers,
        None if opts.atom is None else Path(opts.atom),
        opts.revisit,
        _limits(opts),
        settings,
        getattr(given, "config", None),
        _log_words(given),
        files,
    )


def _log_words(opts: argparse.Namespace) -> list[str]:
    """Return the options about logs, which are those of the visits."""
    words = [
        f"--{name}={getattr(opts, name)}"
        for name in ("loglevel", "logfile", "pidfile")
        if getattr(opts, name) is not None
    ]
    return [*words, "--nolog"] if opts.nolog else words
