"""``crawl-once lab``: a crawl in the browser, and what other parameters would make of its pages."""

from __future__ import annotations

import importlib.util
from contextlib import closing
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand
from crawler.console.escaping import say
from crawler.console.lab_options import paths_of
from neardup.installing import install_command

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

HOST = "127.0.0.1"


class ServeLabCommand(PlainCommand):
    """Reads beside a running crawl, in a process of its own."""

    after_interrupt = ""  # that is how it is ended
    usage = "[--port N] [--host H] [--no-browser] DIR [DIR...] | FILE [FILE...]"
    summary = "Look at a crawl in the browser, and try other parameters on its pages"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        from crawler.lab.app.binding import USUAL_PORT

        parser.add_argument(
            "--port",
            metavar="N",
            help=f"port (default: {USUAL_PORT} if it is free, else any other); 0: any",
        )
        parser.add_argument(
            "--host",
            metavar="H",
            default=HOST,
            help=f"the address to bind to ({HOST}); any but a loopback one asks for a token",
        )
        parser.add_argument(
            "--no-browser", action="store_true", help="print the address, open nothing"
        )

        from crawler.console.page_options import add_page_options

        add_page_options(parser, without=("host",))  # --host is the address to bind to

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve until Ctrl-C."""
        if not args:
            raise CommandError("a crawl directory or a file is needed, got none")
        paths = paths_of(args)
        if importlib.util.find_spec("nicegui") is None:
            raise CommandError(
                f"NiceGUI is not installed: {install_command('lab')}; "
                "crawl-once sweep, pairs and compare do without"
            )
        _serve(paths, opts)


def _serve(paths: list[Path], opts: argparse.Namespace) -> None:
    from crawler.console.page_options import page_selection
    from crawler.console.temporary_crawl import crawls_of
    from crawler.lab.app.binding import BindingError, bind
    from crawler.lab.app.lab_server import make_app, open_browser, serve
    from crawler.lab.app.lab_state import Lab

    selection = page_selection(opts)
    try:
        bound = bind(opts.host, opts.port)
    except BindingError as error:
        raise CommandError(str(error)) from None
    with bound.listening, crawls_of(paths) as made:
        lab = Lab(paths, selection, made)

        def announce() -> None:
            say(bound.address, flush=True)
            say("(Ctrl-C ends it)", to_stderr=True)
            if not opts.no_browser:
                open_browser(bound.address)

        with closing(lab):
            serve(make_app(lab, bound, announce), bound.listening)
