"""``crawl-once label DIR``: say of pairs of pages whether they are duplicates."""

from __future__ import annotations

import shutil
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, refuse_format
from crawler.console.escaping import say, say_coloured
from crawler.console.lab_options import add_pair_options, one_of, paths_of, shown_pairs
from crawler.suggestions import did_you_mean
from neardup.plurals import many

if TYPE_CHECKING:
    import argparse

    from crawler.lab.pair_label import Label

_LIMIT = 200
_DEEDS = ("pair", "remove", "export", "import", "list")


class LabelCommand(PlainCommand):
    """Labels are kept at once, also beside the process that crawls."""

    usage = "[--distance BITS] DIR  |  label DIR --pair URL URL duplicate|different  |  ..."
    summary = "Say of near pairs of pages whether they are duplicates"
    description = (
        "Without an option it shows pairs, those first from which most can be learned, and "
        "takes a key for each, on a terminal without Enter: d = duplicate, n = not, "
        "s = skip, b = back, r = remove the label, m = all of it, q = quit. Labels "
        "stand in crawl.db, or in FILE.labels.jsonl beside a file; crawl-once sweep and the lab "
        "compare distances with them."
    )

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        add_pair_options(parser, _LIMIT)
        parser.add_argument(
            "--pair",
            nargs=3,
            metavar=("URL", "URL", "LABEL"),
            help="label two pages: duplicate or different",
        )
        parser.add_argument(
            "--remove", nargs=2, metavar=("URL", "URL"), help="take back the label of two pages"
        )
        parser.add_argument("--list", action="store_true", help="print all labels")
        parser.add_argument(
            "-o", "--export", metavar="FILE", help="write all labels as JSON lines; - prints them"
        )
        parser.add_argument(
            "--import", metavar="FILE", help="take labels that were exported; - reads them"
        )

        from crawler.console.page_options import add_page_options

        add_page_options(parser)

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Label, or do what an option says."""
        paths = paths_of(args)
        from crawler.lab.pair_label import NAMES

        deed = one_of(opts, _DEEDS)
        if deed == "pair" and opts.pair[2] not in NAMES:
            hint = did_you_mean(opts.pair[2], NAMES) or f"; there are {' and '.join(NAMES)}"
            raise CommandError(f"--pair: no label {opts.pair[2]!r}{hint}")
        if deed in {"pair", "remove"}:
            self._change(paths, opts)
        elif deed == "list":
            _list(paths)
        elif deed == "export":
            _export(paths, opts.export)
        elif deed == "import":
            _import(paths, getattr(opts, "import"))
        else:
            self._walk(args, opts)

    def _walk(self, args: list[str], opts: argparse.Namespace) -> None:
        from crawler.console.labelling import Labelling, page_through, typed_keys
        from crawler.lab.labels import read_labels

        with shown_pairs(args, opts, self.progress) as (found, _, pairs):
            unlabelled = [pair for pair in pairs if pair.label is None]
            if not unlabelled:
                why = (
                    "all pairs at these distances are labelled" if pairs else "no pair is that near"
                )
                say(f"nothing to label: {why}")
                return
            is_screen = sys.stdout.isatty()
            walk = Labelling(
                found,
                unlabelled,
                say_coloured,
                is_coloured=is_screen,
                screen=shutil.get_terminal_size if is_screen else None,
                page=page_through if is_screen else None,
            )
            try:
                walk.walk(typed_keys("d/n/s/b/r/m/q> "))
            finally:
                total = many(len(read_labels(found.sources.paths)), "label")
                say(f"{walk.summary()}; {total} in all")

    def _change(self, paths: list[Path], opts: argparse.Namespace) -> None:
        from crawler.console.temporary_crawl import crawls_of
        from crawler.lab.crawl_sources import loaded
        from crawler.lab.labels import remove_label, store_labels
        from crawler.lab.pair_label import DUPLICATE, label_of
        from crawler.lab.sides import place_of

        urls = opts.pair[:2] if opts.pair else opts.remove
        with crawls_of(paths) as made:
            found = loaded(paths, self.progress, made=made)
            self.progress.end()
            pages = found.session.pages
            first, second = (pages[place_of(pages, url)] for url in urls)
            if opts.pair:
                label = label_of(first, second, is_duplicate=opts.pair[2] == DUPLICATE)
                store_labels(found.sources.paths, [label])
                say(_line(label))
            elif remove_label(found.sources.paths, first.text_digest, second.text_digest):
                say(f"label removed: {first.url} {second.url}")
            else:
                raise CommandError(f"{first.url} and {second.url} are not labelled")


def _list(paths: list[Path]) -> None:
    from crawler.lab.labels import read_labels

    labels = read_labels(paths)
    for label in labels:
        say(_line(label))
    if not labels:
        say("no labels")


def _export(paths: list[Path], name: str) -> None:
    refuse_format(name, "-o", "labels are lines of JSON")
    from crawler.lab.labels import read_labels
    from crawler.lab.pair_label import export_labels
    from crawler.storage.output_files import check_output

    if name != "-":
        check_output(Path(name))
    labels = read_labels(paths)
    if name == "-":
        export_labels(labels, sys.stdout)
        return
    try:
        from neardup.files.durable import named_file

        with named_file(Path(name)) as file, TextIOWrapper(file, encoding="utf-8") as text:
            export_labels(labels, text)
    except OSError as error:
        raise CommandError(f"--export {name}: {error.strerror}") from None
    say(f"{many(len(labels), 'label')} in {name}")


def _import(paths: list[Path], name: str) -> None:
    from crawler.lab.labels import store_labels
    from crawler.lab.pair_label import import_labels

    try:
        if name == "-":
            labels = list(import_labels(sys.stdin, "standard input"))
        else:
            with Path(name).open(encoding="utf-8", errors="replace") as file:
                labels = list(import_labels(file, name))
    except OSError as error:
        raise CommandError(f"--import {name}: {error.strerror}") from None
    store_labels(paths, labels)
    origin = "standard input" if name == "-" else name
    say(f"{many(len(labels), 'label')} taken from {origin}")


def _line(label: Label) -> str:
    return f"{label.name:<9}  {label.first_url}  {label.second_url}"
