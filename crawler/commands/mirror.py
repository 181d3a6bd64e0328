"""``crawl-once mirror URL [DIR]``: a site on disk, complete, browsable offline."""

from __future__ import annotations

import os
import signal
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.commands.crawl import SpiderCommand, parted
from crawler.console.command_line import INTERRUPTED, Command
from crawler.console.options import JSON, CommandError, byte_size, flag, number, option
from crawler.spiders.argument_table import MIRROR
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from crawler.spiders.argument_table import Argument

STATE_FOLDER = ".mirror"

_OF_CRAWLS = frozenset({"revisit"})
"""Arguments that the mirror chooses itself."""

_OF_SITES = frozenset({"max_depth", "sitemaps", "search", "keep_versions", "gone"})
"""Arguments of a mirror that mean nothing for one page."""


_FETCHED, _WRITTEN = "how it is fetched", "what is written"
"""Headings of groups of options."""


@dataclass(frozen=True)
class _FetchOptions:
    """The options of commands that fetch pages with what they need, beside those of the spider."""

    login: bool = flag(
        "log in first, in a window of Chromium, whose cookies are then sent; needs the extra "
        "render and a display",
        group=_FETCHED,
    )
    max_file_bytes: int | None = option(
        "SIZE", "larger files are not fetched (default 32MiB)", read=byte_size, group=_FETCHED
    )


class FetchingCommand(SpiderCommand):
    """A command that fetches pages with what they need."""

    first = "url"
    options = _FetchOptions

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        signal.signal(signal.SIGHUP, _as_for_termination())
        super().run(args, opts)

    def arguments(self) -> dict[str, str]:
        found = super().arguments()
        if self.given.login and "cookies" in found:
            raise CommandError("give one of --login and --cookies")
        return found

    def check(self, arguments: dict[str, str]) -> None:
        from crawler.spiders.arguments import check_site

        check_site(arguments, MIRROR, is_mirror=True)

    def crawl(self, arguments: dict[str, str], place: str | None, opts: Any) -> int:
        """Log in if that is wanted, and fetch."""
        from crawler.spiders.mirror import MirrorSpider

        if opts.max_file_bytes is not None:
            maximum = opts.max_file_bytes
            self.host.settings.set("DOWNLOAD_MAXSIZE", maximum, priority="cmdline")
        MirrorSpider.check_arguments(arguments)
        if not opts.login:
            return self.fetch(arguments, place, opts)
        from crawler.console.login import login_cookies

        first = arguments["url"].partition(",")[0].strip()
        with login_cookies(first, self.host.settings) as arguments["cookies"]:
            return self.fetch(arguments, place, opts)

    @abstractmethod
    def fetch(self, arguments: dict[str, str], place: str | None, opts: Any) -> int:
        """Do what the command is for; return the exit status."""


class SingleFileCommand(FetchingCommand):
    """Writes one page with all it needs to one file."""

    word = "mirror single-file"
    usage = "[options] URL FILE.html"
    summary = "Fetch one page with all it needs, and write it to one file"
    table: ClassVar[Mapping[str, Argument]] = {
        name: argument for name, argument in MIRROR.items() if name not in _OF_CRAWLS | _OF_SITES
    }

    def places(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        from crawler.urls.seeds import split_seeds

        urls, out = parted(args, "a URL")
        if len(urls) != 1 or len(split_seeds(urls[0])) != 1 or out is None:
            raise CommandError("a URL and a file are needed, such as page.html")
        return urls[0], out

    def fetch(self, arguments: dict[str, str], place: str | None, opts: _FetchOptions) -> int:
        from crawler.console.temporary_mirror import single_file

        assert place is not None  # it is required
        return single_file(Path(place), arguments, self)


class OwnedCommand(Command):
    """A command about a mirror that is there."""

    own_errors = (ValueError,)

    def act(self, args: list[str], opts: Any) -> None:
        if len(args) != 1:
            got = "none" if not args else " ".join(args)
            raise CommandError(f"the directory of one mirror is needed, got {got}")
        folder = Path(args[0])
        if not (folder / STATE_FOLDER).is_dir():
            raise CommandError(f"{folder}: no mirror in it (no {STATE_FOLDER}/)")
        self.exitcode = self.act_on(folder, opts)

    @abstractmethod
    def act_on(self, folder: Path, opts: Any) -> int:
        """Do the command's work on the folder of a mirror; return the exit status."""


@dataclass(frozen=True)
class _CheckOptions:
    deep: bool = flag("read the WARC files through, too")


class CheckCommand(OwnedCommand):
    """Exit status: 0 complete, 1 problems found, 2 it cannot be checked."""

    options = _CheckOptions
    word = "mirror check"
    usage = "[--deep] DIR"
    summary = "Check that a mirror is complete; fetches nothing"

    def act_on(self, folder: Path, opts: _CheckOptions) -> int:
        from crawler.console.mirror_checks import check

        return check(folder, self.progress, deep=opts.deep)


@dataclass(frozen=True)
class _ServeOptions:
    port: str | None = option("N", "port (default 8765, or any)")
    host: str = option("H", "address to listen on (default 127.0.0.1)", "127.0.0.1")


class ServeCommand(OwnedCommand):
    """Serves until Ctrl-C."""

    options = _ServeOptions
    word = "mirror serve"
    usage = "[--port N] [--host H] DIR"
    summary = "Serve a mirror on this machine, for pages whose scripts do not run from the disk"

    def act_on(self, folder: Path, opts: _ServeOptions) -> int:
        from crawler.console.mirror_server import serve

        return serve(folder, opts.host, opts.port)


@dataclass(frozen=True)
class _PackOptions:
    format: str = option(
        "zip|zim",
        "zip (default), or zim for Kiwix, which needs the extra zim; several by commas",
        "zip",
    )


class PackCommand(OwnedCommand):
    """Packs a mirror as it is."""

    options = _PackOptions
    word = "mirror pack"
    usage = "[--format zip|zim] DIR"
    summary = "Pack a mirror in one file beside its folder; fetches nothing"

    def act_on(self, folder: Path, opts: _PackOptions) -> int:
        from crawler.console.mirror_packing import ZIM, ZIP, formats_of, pack

        return pack(folder, formats_of(opts.format, (ZIP, ZIM)), self.progress)


@dataclass(frozen=True)
class _HistoryOptions:
    json: bool = flag(JSON)


class HistoryCommand(OwnedCommand):
    """Lists what ``--keep-versions`` kept."""

    options = _HistoryOptions
    word = "mirror history"
    usage = "[--json] DIR"
    summary = "List the earlier versions of a mirror, with the page of what changed after each"

    def act_on(self, folder: Path, opts: _HistoryOptions) -> int:
        from crawler.mirror.reports import kept_versions

        versions = list(kept_versions(folder))
        lines = [
            f"{folder / each.entry}, what changed then: {folder / each.changes}"
            if each.changes
            else str(folder / each.entry)
            for each in versions
        ]
        none = f"{folder}: no earlier version is kept; mirror --keep-versions keeps them"
        self.say_result(
            opts, lambda: {"versions": [each._asdict() for each in versions]}, lines or [none]
        )
        return os.EX_OK


@dataclass(frozen=True)
class _ProveOptions:
    pages: int = option("N", "open N pages (default 20), spread evenly", 20, read=number(1))
    player: str | None = option(
        "FOLDER",
        "open the pages of the mirror's WACZ file in ReplayWeb.page, which is in FOLDER, instead "
        "of those on the disk",
    )


class ProveCommand(OwnedCommand):
    """Exit status: 0 all as recorded, 1 some are worse, 2 it cannot be proved."""

    options = _ProveOptions
    word = "mirror prove"
    uses_profile = True
    usage = "[--pages N] [--player FOLDER] DIR"
    summary = "Open pages of a mirror in Chromium, without a network, beside what was recorded"
    description = f"{summary}. It needs the extra render."

    def act_on(self, folder: Path, opts: _ProveOptions) -> int:
        from crawler.console.mirror_checks import prove

        player = Path(opts.player) if opts.player else None
        return prove(folder, self.host.settings, opts.pages, self.progress, player)


@dataclass(frozen=True)
class _MirrorOptions(_FetchOptions):
    dry_run: bool = flag(
        "write nothing, and count what would be fetched, by host: reads pages, and of files only "
        "the size",
        group=_WRITTEN,
    )
    warc: bool = flag("record everything in WARC files below DIR/warc", group=_WRITTEN)
    wacz: bool = flag("as --warc, and pack them as a WACZ file", group=_WRITTEN)
    format: str | None = option(
        "zip|zim|wacz",
        "pack the mirror at the end, in DIR.zip or DIR.zim (for Kiwix; needs the extra zim); wacz: "
        "as --wacz; several by commas",
        group=_WRITTEN,
    )


class MirrorCommand(FetchingCommand):
    """Exit status.

    0 done, also up to a limit; 1 incomplete, a file is only a part, or problems found; 2 an
    argument is wrong; 130 stopped by the user.
    """

    options = _MirrorOptions
    usage = "[options] URL [DIR]  |  mirror [options] DIR  |  mirror check DIR  |  ..."
    summary = "Mirror a site: browsable offline, the same bytes stored once"
    description = (
        "Fetch every page of a site and what the pages need, and rewrite the links, so that "
        "DIR/index.html opens without a network. The same command goes on with a mirror that "
        "was stopped, and updates one that is finished: only what changed is fetched, and "
        "DIR/changes.json says what. A file of which only a part came is kept, named at the "
        "end (exit status 1) and by mirror check, and asked for again the next time."
    )
    table: ClassVar[Mapping[str, Argument]] = {
        name: argument for name, argument in MIRROR.items() if name not in _OF_CRAWLS
    }
    verbs: ClassVar[Mapping[str, type[Command]]] = {
        command.word.partition(" ")[2]: command
        for command in (
            CheckCommand,
            ServeCommand,
            PackCommand,
            ProveCommand,
            HistoryCommand,
            SingleFileCommand,
        )
    }

    def fetch(self, arguments: dict[str, str], place: str | None, opts: _MirrorOptions) -> int:
        """Mirror a site, or count what that would fetch."""
        from crawler.console.crawling import usual_folder
        from crawler.console.mirror_packing import WACZ, ZIM, ZIP, formats_of, pack, tell_outdated
        from crawler.console.mirror_run import Mirroring

        settings = self.host.settings
        formats = formats_of(opts.format, (ZIP, ZIM, WACZ)) if opts.format is not None else []
        packs = opts.wacz or WACZ in formats
        if opts.warc or packs:
            settings.set("WARC_ENABLED", True, priority="cmdline")
        folder = Path(place) if place else usual_folder(settings, arguments["url"])
        if opts.dry_run:
            from crawler.console.temporary_mirror import dry_run

            return dry_run(folder, arguments, self)
        status = Mirroring(folder, arguments, self, packs=packs).run()
        packed = [name for name in formats if name != WACZ and status != INTERRUPTED]
        if packed:
            status = pack(folder, packed, self.progress) or status
        tell_outdated(folder, packed)
        return status

    def places(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        """Return URLs and folder; one argument is enough if the folder is a mirror."""
        if len(args) == 1 and (Path(args[0]) / STATE_FOLDER).is_dir():
            from crawler.console.crawling import known_url

            return known_url(Path(args[0])), args[0]
        if len(args) == 1 and (Path(args[0]) / "index.html").is_file():
            raise CommandError(
                f"{args[0]}: has no {STATE_FOLDER}, so that it can be read, and neither updated "
                "nor checked; update the mirror that it is a copy of"
            )
        if args and not any("://" in word for word in args):
            if args[0] in self.verbs:
                raise CommandError(f"{args[0]} comes first: mirror {args[0]} ...")
            if hint := did_you_mean(args[0], self.verbs):
                raise CommandError(f"no command mirror {args[0]}{hint}")
        urls, folder = parted(args, "a URL", is_known=is_known)
        return ",".join(urls), folder

    def missing(self) -> str:
        return f"a URL is needed; try: {self.host.program} mirror https://docs.python.org/3/"


def _as_for_termination() -> Any:
    """Return a handler of SIGHUP that acts as SIGTERM; under nohup the one that is set."""
    if signal.getsignal(signal.SIGHUP) != signal.SIG_DFL:
        return signal.getsignal(signal.SIGHUP)
    return lambda *_: os.kill(os.getpid(), signal.SIGTERM)
