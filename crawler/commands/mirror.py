"""``crawl-once mirror URL [DIR]``: a site on disk, complete, browsable offline."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.console.command_line import INTERRUPTED, CommandError
from crawler.console.spider_command import SpiderCommand, import_scrapy, parted
from crawler.spiders.argument_table import MIRROR
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from crawler.spiders.argument_table import Argument

STATE_FOLDER = ".mirror"

_PROVED = 20
"""Pages that ``--prove`` opens where no number is given."""

_OF_CRAWLS = frozenset({"revisit"})
"""Arguments that the mirror chooses itself."""

_WRITTEN = ("format", "warc", "wacz", "search", "keep_versions", "gone")
"""Options of what a mirror writes, which its other uses would not follow."""

_USUAL = {
    "render": (
        "auto",
        "store pages as Chromium shows them: auto (where nothing is said), those that show more "
        "there; always, all with scripts; no (default auto with the extra render, else no; "
        "docs/rendering.md)",
    ),
    "keep_versions": (
        "yes",
        "keep the state before each update below DIR/.mirror/versions, and show what changed in "
        "DIR/versions.html (default no)",
    ),
    "search": (
        "yes",
        "write DIR/search.html, a search of pages that works from the disk (default no)",
    ),
    "screenshots": (
        "yes",
        "keep a picture of each page below DIR/.mirror/screenshots (default no)",
    ),
}
"""Options that need no value: what they stand for then, and what they mean."""


class MirrorCommand(SpiderCommand):
    """Exit status.

    0 done, also up to a limit; 1 incomplete, a file is only a part, or problems found; 2 an
    argument is wrong; 130 stopped by the user.
    """

    usage = (
        "[options] URL [DIR]  |  mirror [options] DIR  |  mirror --check DIR  |  mirror --serve DIR"
    )
    summary = "Mirror a site: browsable offline, the same bytes stored once"
    description = (
        "Fetch every page of a site and what the pages need, and rewrite the links, so that "
        "DIR/index.html opens without a network. The same command goes on with a mirror that "
        "was stopped, and updates one that is finished: only what changed is fetched, and "
        "DIR/changes.json says what. A file of which only a part came is kept, named at the "
        "end (exit status 1) and by --check, and asked for again the next time."
    )
    table: ClassVar[Mapping[str, Argument]] = {
        name: argument for name, argument in MIRROR.items() if name not in _OF_CRAWLS
    }
    first = "url"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="check that a mirror is complete; fetches nothing"
        )
        parser.add_argument(
            "--deep", action="store_true", help="with --check: read the WARC files through, too"
        )
        parser.add_argument(
            "--prove",
            metavar="N",
            nargs="?",
            const=str(_PROVED),
            help="open N pages (default 20) of a mirror in Chromium, without a network, beside "
            "what was recorded; needs the extra render",
        )
        parser.add_argument(
            "--player",
            metavar="FOLDER",
            help="with --prove: open the pages of the mirror's WACZ file in ReplayWeb.page, which "
            "is in FOLDER, instead of those on the disk",
        )
        parser.add_argument(
            "--serve",
            action="store_true",
            help="serve a mirror on this machine, for pages whose scripts do not run from the disk",
        )
        parser.add_argument("--port", metavar="N", help="with --serve: port (default 8765, or any)")
        parser.add_argument(
            "--host", metavar="H", help="with --serve: address to listen on (default 127.0.0.1)"
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="count what would be fetched, by host: reads pages, and of files only the size",
        )
        parser.add_argument(
            "--pack",
            metavar="zip|zim",
            help="pack a mirror in one file beside its folder; fetches nothing",
        )
        parser.add_argument(
            "--single-file",
            action="store_true",
            help="write one page with all it needs to one file: mirror --single-file URL OUT.html",
        )
        parser.add_argument(
            "--login",
            action="store_true",
            help="log in first, in a window of Chromium, whose cookies the mirror then sends; "
            "needs the extra render and a display",
        )
        super().add_own_options(parser)
        group = parser.add_argument_group("what is written")
        group.add_argument(
            "--max-file-bytes", metavar="SIZE", help="larger files are not fetched (default 32MiB)"
        )
        group.add_argument(
            "--warc", action="store_true", help="record everything in WARC files below DIR/warc"
        )
        group.add_argument(
            "--wacz", action="store_true", help="as --warc, and pack them as a WACZ file"
        )
        group.add_argument(
            "--format",
            metavar="zip|zim|wacz",
            help="pack the mirror at the end, in DIR.zip or DIR.zim (for Kiwix; needs the extra "
            "zim); wacz: as --wacz; several by commas",
        )

    def add_argument_option(
        self, group: argparse._ArgumentGroup, name: str, argument: Argument
    ) -> None:
        if name not in _USUAL:
            super().add_argument_option(group, name, argument)
            return
        usual, meaning = _USUAL[name]
        metavar = "|".join(argument.choices)
        group.add_argument(_option(name), nargs="?", const=usual, metavar=metavar, help=meaning)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        signal.signal(signal.SIGHUP, _as_for_termination())
        super().run(args, opts)

    def crawl(self, args: list[str], opts: argparse.Namespace) -> int:
        """Mirror a site, check a mirror, or serve it."""
        _check_modes(opts)
        args = _with_places(args, opts)
        if opts.check:
            from crawler.console.mirror_run import check

            return check(_one_folder(args, "--check"), deep=opts.deep)
        if opts.prove is not None:
            return self._prove(args, opts)
        if opts.pack is not None:
            from crawler.console.mirror_packing import ZIM, ZIP, formats_of, pack

            formats = formats_of(opts.pack, (ZIP, ZIM), "--pack")
            pack(_one_folder(args, "--pack"), formats)
            return os.EX_OK
        if opts.serve:
            from crawler.console.mirror_server import serve

            folder = _one_folder(args, "--serve")
            return serve(folder, opts.host or "127.0.0.1", opts.port)
        from crawler.spiders.arguments import check_site

        arguments = self.arguments(opts)
        if opts.login and "cookies" in arguments:
            raise CommandError("give one of --login and --cookies")
        if opts.single_file:
            urls, out = parted(args, "a URL")
            if len(urls) != 1 or out is None:
                raise CommandError("--single-file takes a URL and a file, such as page.html")
            named: Path | None = Path(out)
        else:
            urls, named = self._places(args, is_known="url" in arguments)
        if urls:
            arguments["url"] = ",".join(urls)
        check_site(arguments, MIRROR, is_mirror=True)
        if not opts.login:
            return self._mirror(arguments, named, opts)
        from crawler.console.login import login_cookies

        first = arguments["url"].partition(",")[0].strip()
        with login_cookies(first, self.host.settings) as arguments["cookies"]:
            return self._mirror(arguments, named, opts)

    def _prove(self, args: list[str], opts: argparse.Namespace) -> int:
        from crawler.console.mirror_proof import prove

        if not args and not opts.prove.isdecimal():  # --prove DIR
            args, opts.prove = [opts.prove], str(_PROVED)
        if not (opts.prove.isdecimal() and int(opts.prove)):
            raise CommandError(f"--prove takes a number of pages, got {opts.prove!r}")
        player = Path(opts.player) if opts.player else None
        return prove(_one_folder(args, "--prove"), self.host.settings, int(opts.prove), player)

    def _mirror(
        self, arguments: dict[str, str], named: Path | None, opts: argparse.Namespace
    ) -> int:
        import_scrapy()
        from crawler.console.mirror_packing import WACZ, ZIM, ZIP, formats_of, pack, tell_outdated
        from crawler.console.mirror_run import Mirroring, usual_folder
        from crawler.spiders.arguments import byte_count
        from crawler.spiders.mirror import MirrorSpider

        settings = self.host.settings
        formats = (
            formats_of(opts.format, (ZIP, ZIM, WACZ), "--format") if opts.format is not None else []
        )
        opts.wacz = opts.wacz or WACZ in formats
        if opts.warc or opts.wacz:
            settings.set("WARC_ENABLED", True, priority="cmdline")
        if opts.max_file_bytes:
            try:
                size = byte_count(opts.max_file_bytes)
            except ValueError as error:
                raise CommandError(f"--max-file-bytes: {error}") from None
            settings.set("DOWNLOAD_MAXSIZE", size, priority="cmdline")
        MirrorSpider.check_arguments(arguments)
        if opts.single_file:
            from crawler.console.temporary_mirror import single_file

            assert named is not None  # it is required
            return single_file(named, arguments, settings, lambda: self.host.crawler_process)
        folder = named or usual_folder(settings, arguments["url"])
        if opts.dry_run:
            from crawler.console.temporary_mirror import dry_run

            return dry_run(folder, arguments, settings, lambda: self.host.crawler_process)
        mirroring = Mirroring(folder, arguments, settings, packs=opts.wacz)
        status = mirroring.run(lambda: self.host.crawler_process)
        packed = [name for name in formats if name != WACZ and status != INTERRUPTED]
        if packed:
            pack(folder, packed)
        tell_outdated(folder, packed)
        return status

    def _places(self, args: Sequence[str], *, is_known: bool) -> tuple[list[str], Path | None]:
        """Return URLs and folder; one argument is enough if the folder is a mirror."""
        if len(args) == 1 and (Path(args[0]) / STATE_FOLDER).is_dir():
            from crawler.console.mirror_run import known_url

            return [known_url(Path(args[0]))], Path(args[0])
        if not args and not is_known:
            raise CommandError(
                f"a URL is needed; try: {self.host.program} mirror https://docs.python.org/3/"
            )
        if len(args) == 1 and (Path(args[0]) / "index.html").is_file():
            raise CommandError(
                f"{args[0]}: has no {STATE_FOLDER}, so that it can be read, and neither updated "
                "nor checked; update the mirror that it is a copy of"
            )
        urls, folder = parted(args, "a URL", is_known=is_known)
        return urls, Path(folder) if folder is not None else None


def _as_for_termination() -> Any:
    """Return a handler of SIGHUP that acts as SIGTERM; under nohup the one that is set."""
    if signal.getsignal(signal.SIGHUP) != signal.SIG_DFL:
        return signal.getsignal(signal.SIGHUP)
    return lambda *_: os.kill(os.getpid(), signal.SIGTERM)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _with_places(args: Sequence[str], opts: argparse.Namespace) -> list[str]:
    """Return URL and directory also where one of them followed an option that needs no value.

    Raises:
        CommandError: It is nearly one of the option's values.
    """
    places = list(args)
    for name, (usual, _) in _USUAL.items():
        option, values = _option(name), MIRROR[name].choices
        given = getattr(opts, name)
        if given is None or given in values:
            continue
        hint = did_you_mean(given, values)
        if hint:
            raise CommandError(f"{option} must be {' or '.join(values)}, got {given!r}{hint}")
        places.insert(0 if "://" in given else len(places), given)
        setattr(opts, name, usual)
    return places


def _check_modes(opts: argparse.Namespace) -> None:
    modes = ("check", "prove", "serve", "dry_run", "pack", "single_file")
    if opts.login and any(getattr(opts, name) for name in ("check", "prove", "serve", "pack")):
        raise CommandError("--login goes with a mirror that is made or updated")
    given = [_option(name) for name in modes if getattr(opts, name) not in {None, False}]
    if len(given) > 1:
        raise CommandError(f"give one of {' and '.join(given)}")
    alone = [mode for mode in given if mode != "--dry-run"]  # which counts for any mirror
    left_out = [_option(name) for name in _WRITTEN if getattr(opts, name) not in {None, False}]
    if alone and left_out:
        raise CommandError(f"{left_out[0]} goes with a mirror, and not with {alone[0]}")
    for name in ("port", "host"):
        if getattr(opts, name) is not None and not opts.serve:
            raise CommandError(f"--{name} goes with --serve")
    if opts.deep and not opts.check:
        raise CommandError("--deep goes with --check")
    if opts.player is not None and opts.prove is None:
        raise CommandError("--player goes with --prove")


def _one_folder(args: Sequence[str], option: str) -> Path:
    if len(args) != 1:
        got = "none" if not args else " ".join(args)
        raise CommandError(f"{option} takes one directory, got {got}")
    folder = Path(args[0])
    if not (folder / STATE_FOLDER).is_dir():
        raise CommandError(f"{folder}: no mirror in it (no {STATE_FOLDER}/)")
    return folder
