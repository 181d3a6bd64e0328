"""Describe a report for people on a terminal: lines, tables of counts, examples."""

from __future__ import annotations

import re
import shutil
from textwrap import TextWrapper, shorten
from typing import TYPE_CHECKING, TextIO

from rich.filesize import decimal

from crawler.console.escaping import plain
from crawler.pages.needless_cookies import NEEDLESS
from crawler.pages.reasons import Reason, in_words
from crawler.pages.verdicts import CHANGED, MOVED, NOINDEX, OUTCOMES, UNCHANGED, VERDICTS
from crawler.url_rules.kinds import PAGE_OF_FILE
from crawler.urls.scope import HASH_ROUTES, MARKED_NOFOLLOW, ON_NOFOLLOW_PAGES, OUT_OF_SCOPE
from neardup.installing import install_command
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawler.maintenance.crawl_report import Report, RestedHost
    from crawler.maintenance.tally import Away, Change, Changes
    from crawler.pages.boilerplate import RepeatedText
    from crawler.url_rules.file_links import LinkCount
    from crawler.url_rules.render_kinds import RenderKind
    from crawler.url_rules.rule_report import StoredCluster


_HEADINGS = ("kind", "found", "answered", "new pages", "put aside")
_MAX_KINDS = 30
_KINDS = ("kind of URL", "pages", "tried", "showed more", "unclear", "in the browser")


def link_lines(links: Mapping[str, LinkCount]) -> Iterator[str]:
    """Yield the lines of the table, or one that there are no links."""
    if not links:
        yield "no link was followed"
        return
    yield from table_lines(_HEADINGS, ((kind, *count) for kind, count in links.items()))
    yield ""
    yield "found: URLs within the scope that a link of the kind was the first to lead to"
    if any(count.aside for count in links.values()):
        yield "put aside: not asked for, since too few of their kind led to a new page"


def rendering_lines(kinds: Mapping[str, RenderKind]) -> Iterator[str]:
    """Yield the lines of the table of kinds of URLs, or one that there are none."""
    if not kinds:
        yield "no page was tried in a browser, but for those that show nothing without one"
        return
    tried = [(name, kind) for name, kind in kinds.items() if kind.tried or kind.unclear]
    listed = tried or list(kinds.items())
    shown = listed[:_MAX_KINDS]
    rows = (
        (name, *kind.counts().values(), "all" if kind.needs_browser else "some")
        for name, kind in shown
    )
    yield from table_lines(_KINDS, rows)
    if len(shown) < len(kinds):
        yield f"and {len(kinds) - len(shown):,} more; --json has all of them"
    yield ""
    yield "tried: shown in the browser, to see whether that shows more words or new links"
    yield "unclear: showed no more, and something kept the browser from showing all"


def table_lines(
    headings: Sequence[str], counts: Iterable[Sequence[str | int]], left: int = 1
) -> Iterator[str]:
    """Yield the lines of a table: its headings, then a line for each row, numbers to the right.

    Args:
        headings: The headings of the columns.
        counts: The cells of each row.
        left: The number of columns, from the first on, whose cells begin at the left.
    """
    rows = [
        [f"{cell:,}" if isinstance(cell, int) else cell for cell in row]
        for row in (headings, *counts)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = list(zip(row, widths, strict=True))
        texts = (cell.ljust(width) for cell, width in cells[:left])
        numbers = (cell.rjust(width) for cell, width in cells[left:])
        yield "  ".join([*texts, *numbers])


def example_lines(examples: Sequence[str], count: int, indent: int = 13) -> Iterator[str]:
    """Yield examples below the line of a count, and how many more there are."""
    for example in examples:
        yield f"{'':{indent}}{example}"
    if count > len(examples) > 0:
        yield f"{'':{indent}}and {count - len(examples):,} more"


MIN_WIDTH = 40
"""Lines are not broken for a terminal of fewer columns."""

_INDENT = 4
_COLUMNS = re.compile(r" *(?:[\d,.%]+ {2,}(?:\S+ +)?)?")
"""The columns before the last one: of a table of counts, the count and perhaps a name."""


def for_terminal(lines: Iterable[str], stream: TextIO) -> Iterator[str]:
    """Yield lines as they fit on a terminal; for a file or a pipe they stay as they are."""
    if not stream.isatty():
        yield from lines
        return
    width = shutil.get_terminal_size().columns
    for line in lines:
        yield from wrapped(plain(line), width)


def wrapped(line: str, width: int) -> list[str]:
    """Break a line between words; a longer word, such as a URL, goes over.

    What follows is indented like the column of a table in which it stands.
    """
    if len(line) <= width or width < MIN_WIDTH:
        return [line]
    found = _COLUMNS.match(line)
    indent = found.end() if found else 0
    if not 0 < indent <= width // 2:
        indent = _INDENT
    wrapper = TextWrapper(
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
    return wrapper.wrap(line)


SHOWN = 5

_ROBOTS_META = "-s CRAWL_OBEY_ROBOTS_META=False"
_TAKEN_BY = {
    OUT_OF_SCOPE: " (--scope host or domain takes more)",
    ON_NOFOLLOW_PAGES: f" ({_ROBOTS_META} follows them)",
    MARKED_NOFOLLOW: " (-s CRAWL_OBEY_NOFOLLOW=False follows them)",
    HASH_ROUTES: " (which are one page to a crawl, whatever its settings: give URLs without #)",
}
"""Map reasons that keep links out to how they are taken nevertheless."""

SHOWN_CLUSTERS = 5
SHOWN_TRAPS = 5
SHOWN_HOSTS = 3
SHOWN_DUPLICATES = 3
SHOWN_RESEMBLING = 2
SHOWN_PARTS = 2
SHOWN_CHARACTERS = 80


def change_lines(changes: Changes) -> Iterator[str]:
    """Yield counts by outcome, then the foremost examples of each."""
    yield ""
    yield "since the last visit:"
    for outcome, count in changes.outcomes.items():
        if count:
            yield f"  {count:>9,}  {outcome:<16} {OUTCOMES[outcome]}{_besides(outcome, changes)}"
    if changes.still_away:
        yield f"  {changes.still_away:>9,}  still away       moved, gone or forbidden since before"
    if changes.not_asked:
        yield f"  {changes.not_asked:>9,}  not asked for    not due, or not part of this visit"
    if changes.back:
        yield f"  {changes.back:>9,}  back             of these, were away at the visit before"
    kinds = changes.away.items()
    away = (_away(kind, pages, changes.outcomes[kind]) for kind, pages in kinds)
    yield from _sections((_most_changed(changes), *away))


def _sections(sections: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield sections below an empty line each, without those that are a heading alone."""
    for heading, *lines in sections:
        if lines:
            yield from ("", heading, *lines)


def _besides(outcome: str, changes: Changes) -> str:
    if outcome == CHANGED and changes.nearly_unchanged:
        return f"; {changes.nearly_unchanged:,} of them nearly the same as before"
    if outcome == UNCHANGED and changes.not_sent:
        size = decimal(changes.not_sent_bytes)
        return f"; {changes.not_sent:,} of them, {size}, were not sent again"
    return ""


def _most_changed(changes: Changes) -> Iterator[str]:
    yield "most changed (similarity of the texts, 0 to 1; distance of their fingerprints):"
    for change in changes.changed[:SHOWN]:
        yield f"  {_measures(change)}  {change.url}"
    yield from _more(changes.outcomes[CHANGED])


def _measures(change: Change) -> str:
    """Return the measures that are known; a text of few words has no fingerprint."""
    known = []
    if change.similarity is not None:
        known.append(f"similarity {change.similarity:.2f}")
    if change.distance is not None:
        known.append(many(change.distance, "bit"))
    if change.is_near:
        known.append("nearly the same")
    return ", ".join(known) or "not compared"


def _away(outcome: str, pages: tuple[Away, ...], count: int) -> Iterator[str]:
    yield f"{outcome}:"
    for page in pages[: min(SHOWN, count)]:  # the newest come first
        target = f" -> {page.moved_to}" if outcome == MOVED else ""
        yield f"  {page.url}{target} ({page.reason})"
    yield from _more(count)


def _more(count: int) -> Iterator[str]:
    if count > SHOWN:
        yield f"  {count - SHOWN:,} more"


def report_lines(report: Report, folder: str) -> Iterator[str]:
    """Yield a report on the crawl in ``folder``, at most 100 characters wide without URLs."""
    other = report.fetched - report.kept - report.duplicates
    yield (
        f"{report.fetched:,} fetched, {report.kept:,} kept, "
        f"{many(report.duplicates, 'duplicate')}, "
        + (f"{other:,} other, " if report.visit == 1 and other > 0 else "")
        + ("failures not known, " if report.failed is None else f"{report.failed:,} failed, ")
        + f"{report.queued:,} queued"
        + (f" (visit {report.visit})" if report.visit > 1 else "")
    )
    if report.visit > 1:
        yield (
            f"fetched, failed and the list below count visit {report.visit}; kept and duplicates, "
            "all that the directory holds now"
        )
    yield ""
    for verdict, count in report.verdicts.items():
        if count:
            yield f"  {count:>9,}  {verdict:<16} {VERDICTS.get(verdict, '')}"
    if report.reasons:
        yield ""
        for reason, count in report.reasons.items():
            yield f"  {count:>9,}  {reason}"
    if report.changes is not None:
        yield from change_lines(report.changes)
    sections = (
        _rested(report.rested),
        _broken(report, folder),
        _clusters(report),
        _walls(report),
        _resembling(report),
        _parts(report),
        _repeated(report.boilerplate),
    )
    yield from _sections(sections)
    yield ""
    yield (
        f"saved: of {decimal(report.fetched_bytes)} fetched, {decimal(report.saved_bytes)} repeat "
        f"what is stored; {many(report.saved_extractions, 'page')} did not have to be read again"
    )
    if report.url_rules:
        lacking = f" ({report.unexamined_rules:,} not validated)" if report.unexamined_rules else ""
        yield (
            f"URLs: {many(report.skipped, 'request')} not made, by "
            f"{many(report.url_rules, 'learned rule')}{lacking}: crawl-once rules {folder}"
        )
    for reason, hosts in report.no_robots.items():
        yield f"robots.txt: {reason} at {_named(hosts, 'or more others')}: nothing is forbidden"
    if report.without_cookies:
        yield f"cookies: none are sent to {_named(report.without_cookies)}: {NEEDLESS}"
    yield from refused_lines(report)
    yield from _document_lines(report)
    aside = f"not asked for, since the first {PAGE_OF_FILE.enough} of their kind were no pages"
    yield from _aside_lines("files", report.file_links, aside)
    to_ask = "still to be asked for: others of their kind were pages, or too few were answered"
    yield from _aside_lines("files", report.file_links_to_ask, to_ask)
    guessed = "not asked for, since too few of their kind led to a page (--links)"
    yield from _aside_lines("guesses", report.guesses_aside, guessed)
    yield from trap_lines(report.traps, SHOWN_TRAPS)
    if report.better_copies:
        yield (
            f"better copies: {many(report.better_copies, 'duplicate')} at a better URL than the "
            "kept page (it names the text's language, is nearer to a seed, https, shorter), which "
            "came first; crawl-once pages names it, better_url"
        )
    if report.stage_secs:
        stages = ", ".join(f"{name} {secs:.1f} s" for name, secs in report.stage_secs.items())
        yield f"time by stage, all pages and workers together: {stages}"
    if any(report.comparisons.values()):
        counts = ", ".join(f"{count:,} {name}" for name, count in report.comparisons.items())
        yield f"pairs of texts that may be near duplicates: {counts}"


def refused_lines(report: Report) -> Iterator[str]:
    """Yield what kept pages and links out, how often, and which setting takes them."""
    if report.refused_links:
        parts = ", ".join(
            f"{count:,} {why}{_TAKEN_BY.get(why, '')}"
            for why, count in report.refused_links.items()
        )
        yield f"links not followed, counted each time they were met: {parts}"
    if asked_not := report.verdicts.get(NOINDEX):
        sentence = f"{many(asked_not, 'page')} said noindex"
        yield f"{sentence}, in robots meta or X-Robots-Tag: {_ROBOTS_META} keeps what says so"
    if forbidden := report.missing.get(in_words(Reason.FORBIDDEN.stored()) or ""):
        sentence = f"{many(forbidden, 'URL')} not asked for, since robots.txt forbids it"
        yield f"{sentence}: -s ROBOTSTXT_OBEY=False asks, where you may"
    if report.app_shells:
        total = many(report.app_shells, "page")
        yield f"blank: {total} without the text that scripts show in a browser (--render auto)"


def _named(hosts: Sequence[str], more: str = "others") -> str:
    others = f" and {len(hosts) - SHOWN_HOSTS:,} {more}" if hosts[SHOWN_HOSTS:] else ""
    return ", ".join(hosts[:SHOWN_HOSTS]) + others


def _document_lines(report: Report) -> Iterator[str]:
    """Yield how many documents were judged by their kind, and how many need the extra."""
    if report.documents:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in report.documents.items())
        yield f"documents: {kinds}"
    if report.browser:
        yield f"browser for pages that scripts fill: {report.browser}"
    if report.rendered:
        yield f"shown in the browser: {many(report.rendered, 'page')} (see --rendering)"
    if report.browser_requests:
        yield f"requests of pages in the browser, of all visits: {report.browser_requests:,}"
    if report.shown_in_part:
        total = many(report.shown_in_part, "page")
        yield f"shown in the browser, but not whole: {total}, kept at each URL"
    if report.unread_documents:
        total = many(report.unread_documents, "PDF document")
        yield f"not read: {total}; {install_command('documents')}, then --revisit yes"


def _aside_lines(what: str, counts: Mapping[str, int], state: str) -> Iterator[str]:
    """Yield a line about links that were not asked for, by their ending or kind."""
    if counts:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in counts.items())
        yield f"{what}: {many(sum(counts.values()), 'link')} {state}: {kinds}"


def trap_lines(traps: Sequence[StoredCluster], most: int) -> Iterator[str]:
    """Yield kinds of URLs that are requested last, or no longer, with the reasons."""
    if not traps:
        return
    kinds = many(len(traps), "kind")
    yield f"{kinds} of URLs asked for last, or not at all, since few of their pages are new:"
    for trap in traps[:most]:
        skipped = f", {many(trap.skipped, 'request')} not made" if trap.skipped else ""
        yield f"  {trap.name}"
        yield f"     {trap.state}: {trap.reason}; {trap.new:,} new of {trap.fetched:,}{skipped}"


def _rested(hosts: Sequence[RestedHost]) -> Iterator[str]:
    """Yield hosts that were paused, because they refused or did not answer."""
    yield "hosts that refused or did not answer, and were paused:"
    for host in hosts:
        rests = f", asked again in {host.left_secs:.0f} s" if host.left_secs else ""
        times = many(host.pauses, "time")
        yield f"  {host.name}: {times}, for up to {host.secs:,.0f} s ({host.reason}){rests}"


def _broken(report: Report, folder: str) -> Iterator[str]:
    """Yield links that lead to no page, each with the page that has it."""
    yield "broken links, and the page on which each was met first:"
    for link in report.broken[:SHOWN]:
        yield f"  {link.url} ({link.reason})"
        yield f"      on {link.linked_from}{f': {link.text}' if link.text else ''}"
    if report.broken:
        yield f"  all of them, with all pages that have them: crawl-once links {folder}"


def _clusters(report: Report) -> Iterator[str]:
    yield "largest clusters of duplicates:"
    for cluster in report.clusters[:SHOWN_CLUSTERS]:
        yield f"  {cluster.size:>9,}  {cluster.kept}"
        for url in cluster.duplicates[:SHOWN_DUPLICATES]:
            yield f"             = {url}"
        hidden = cluster.size - 1 - min(len(cluster.duplicates), SHOWN_DUPLICATES)
        if hidden:
            yield f"             = {hidden:,} more"


def _walls(report: Report) -> Iterator[str]:
    yield "answered in place of pages (a login, a consent, no such page); not kept:"
    for wall in report.walls:
        yield f"  {wall.count:>9,}  {wall.verdict:<16} {wall.reason}, for example"
        yield f"             {wall.example}"


def _resembling(report: Report) -> Iterator[str]:
    """Yield pages kept for their names or contents, each with the page that it resembles."""
    yield "kept with nearly the words of another page, since names or contents differ (similarity):"
    for page in report.resembling[:SHOWN_RESEMBLING]:
        similarity = "   ?" if page.similarity is None else f"{page.similarity:.2f}"
        yield f"  {similarity}  {page.url}"
        yield f"      ~ {page.resembles}"


def _parts(report: Report) -> Iterator[str]:
    """Yield how many pages are parts of others, with the share of them that stands there."""
    sentence = many(report.parts, "kept page is a part", "kept pages are parts")
    yield f"{sentence} of another kept page (containment, 0 to 1):"
    for page in report.part_examples[:SHOWN_PARTS]:
        yield f"  {page.containment:.2f}  {page.url}"
        yield f"      in {page.part_of}"


def _repeated(hosts: Sequence[RepeatedText]) -> Iterator[str]:
    """Yield how much of the text of hosts is boilerplate, each with an example."""
    yield "repeated by pages of a host (crawl-once pages --without-boilerplate leaves it out):"
    for host in hosts:
        of = f"in {host.pages:,} of {many(host.counted, 'page')}"
        yield f"  {host.share:>9.0%}  of the text of {host.host}; {of}:"
        yield f"             {shorten(host.example, SHOWN_CHARACTERS, placeholder=' ...')}"
