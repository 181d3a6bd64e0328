"""``crawl-once links DIR``: what is wrong with the links of a site, and the graph of its links."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from crawler.console.command_line import Command, one_directory
from crawler.console.escaping import say
from crawler.console.options import JSON, CommandError, flag, number, option
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.fault import Fault, FaultExample, FaultKind
    from crawler.maintenance.site_faults import SiteReport


@dataclass(frozen=True)
class _LinksOptions:
    output: str | None = option(
        "FILE",
        "export the links there; the ending gives the format: jsonl, json, csv, xml, parquet or "
        "graphml; FILE:FORMAT names it; - is standard output (jsonl)",
        names=("-o", ""),
    )
    limit: int | None = option(
        "N", "examples of each fault (default 5, with --json 100)", read=number(1)
    )
    fail_on: str | None = option(
        "FAULTS",
        "end with status 1 where one of these is found or not known: names of --json, or how they "
        "begin, such as broken,orphans",
    )
    check_external: int | None = option(
        "N",
        "ask N links to other sites, at most, whether they are dead; each once a day",
        read=number(1),
    )
    json: bool = flag(JSON)


class LinksCommand(Command):
    """Finds faults of a crawled site, or exports its links."""

    options = _LinksOptions
    usage = "[--limit N] [--check-external N] [--json] DIR | -o FILE DIR"
    uses_profile = True
    summary = "Find broken links, redirects, orphans and repeated titles; export the links"
    description = (
        "Say what a site's owner would mend: broken links with the pages that have them, circles "
        "and chains of redirects, canonical URLs and translations that contradict, pages without "
        "a link to them, titles and descriptions that are missing or repeated, pages at several "
        "URLs. With -o, export each link of each page: source, target, kind, text, follow, broken. "
        "Nothing is fetched but with --check-external. crawl-once report --html makes a page of it."
    )

    def act(self, args: list[str], opts: _LinksOptions) -> None:
        folder = one_directory(args)
        if opts.check_external is not None:
            self._ask(Path(folder), opts.check_external)
        if opts.output is None:
            self._say_faults(folder, opts)
            return
        if opts.json or opts.fail_on is not None or opts.limit is not None:
            raise CommandError("-o exports every link; leave --json, --limit and --fail-on out")
        self._export(folder, opts.output)

    def _ask(self, folder: Path, most: int) -> None:
        from crawler.console.fetch import Links, ask
        from crawler.maintenance.broken_links import note_answer, unasked_links
        from crawler.storage.database import open_for_reading
        from crawler.url_rules.rule_store import stopped_database

        self.after_interrupt = "interrupted; the same command goes on"
        with closing(open_for_reading(folder)) as connection:
            found = unasked_links(connection)
        links = dict(islice(found.items(), most))
        done = count(1)
        with stopped_database(folder) as database:

            def note(url: str, why: object) -> None:
                note_answer(database, url, str(why))
                self.progress(next(done) / len(links), "asking other sites")

            if links and not ask(Links, links, self.host.settings, note):
                raise KeyboardInterrupt
        if left := len(found) + 1 - next(done):
            self.progress.end()
            say(f"{many(left, 'link')} to other sites not asked yet", to_stderr=True)

    def _say_faults(self, folder: str, opts: _LinksOptions) -> None:
        failing = [] if opts.fail_on is None else _named_faults(opts.fail_on)
        most = opts.limit or (100 if opts.json else 5)
        from crawler.maintenance.site_faults import find_faults
        from crawler.storage.database import open_for_reading

        with closing(open_for_reading(Path(folder))) as connection:
            report = find_faults(connection, most, self.progress)
        self.say_result(opts, report.to_dict, fault_lines(report, folder))
        found = {fault.name: f"{fault.count:,}" for fault in report.faults if fault.count}
        found |= dict.fromkeys(report.unknown, "not known")
        if failed := [f"{name} {found[name]}" for name in failing if name in found]:
            say(f"failed: {', '.join(failed)}", to_stderr=True)
            self.exitcode = 1

    def _export(self, folder: str, output: str) -> None:
        from crawler.console.page_export import link_destination, write_rows
        from crawler.maintenance.broken_links import link_rows
        from crawler.pages.page_links import PageLink
        from crawler.storage.database import open_for_reading

        to = link_destination(output)
        self.after_interrupt = f"interrupted; nothing was written to {to.name}"
        with closing(open_for_reading(Path(folder))) as connection:
            fields = (*PageLink._fields, "broken")
            count = write_rows(link_rows(connection), to.name, to.kind, fields)
        if to.name != "-":
            say(f"{count:,} links in {to.name}", to_stderr=True)


def _named_faults(words: str) -> list[str]:
    """Return the faults whose names begin with one of the words, which commas part."""
    from crawler.maintenance.fault import FAULTS

    begun = tuple(filter(None, map(str.strip, words.split(","))))
    wrong = [word for word in begun if not any(name.startswith(word) for name in FAULTS)]
    if wrong or not begun:
        named = wrong[0] if wrong else repr(words)
        raise CommandError(f"--fail-on {named}: no fault; there are {', '.join(FAULTS)}")
    return [name for name in FAULTS if name.startswith(begun)]


_SHOWN_PAGES = 3
_SHOWN_CHARACTERS = 80


def fault_lines(report: SiteReport, folder: str) -> Iterator[str]:
    """Yield the faults of a site, each with its examples, then those that were not found."""
    from crawler.maintenance.fault import FAULTS

    yield f"{folder}: {many(report.pages, 'page')}"
    if report.queued:
        left = many(report.queued, "URL")
        yield f"The crawl has still to ask for {left}: what follows is not the whole site."
    if not report.pages:
        return
    for fault in report.faults:
        if fault.count:
            yield from _lines(fault)
    for heading, names in (
        ("none found", [fault.name for fault in report.faults if not fault.count]),
        ("not known, since this crawl did not store them", report.unknown),
    ):
        if headings := [FAULTS[name].heading for name in names]:
            yield ""
            yield f"{heading}: {', '.join(each[:1].lower() + each[1:] for each in headings)}"
    for name in report.unknown:
        if how := FAULTS[name].asked_by:
            yield f"{FAULTS[name].heading} are looked for by {how}"


def _lines(fault: Fault) -> Iterator[str]:
    yield ""
    yield f"{fault.kind.heading}: {fault.count:,}"
    yield f"  {fault.kind.meaning}"
    for example in fault.examples:
        yield from _example_lines(fault.kind, example)
    if fault.count > len(fault.examples):
        yield f"    {fault.count - len(fault.examples):,} more; --limit N shows more of them"


def _example_lines(kind: FaultKind, example: FaultExample) -> Iterator[str]:
    if kind.is_shared:
        yield f'    "{shorten(example.detail, _SHOWN_CHARACTERS, placeholder=" ...")}"'
    else:
        yield f"    {example.url}"
        if example.detail:
            yield f"        {example.detail}"
    for page in example.pages[:_SHOWN_PAGES]:
        text = f": {page.text}" if page.text else ""
        yield f"        {kind.relation} {page.url}{text}"
    if example.count > _SHOWN_PAGES:
        yield f"        and {example.count - _SHOWN_PAGES:,} more"
