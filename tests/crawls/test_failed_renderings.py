"""Pages that a browser cannot show, or not whole: none is lost, and none takes another's text."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from itertools import product
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tests.crawls.command import crawl, report, scrapy
from tests.crawls.crawled import exported
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange
    from tests.sites.hostile import Trick

T = TypeVar("T")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]

FRAME = prose("what each page of the application says around its text", 180)
PATHS = tuple(f"/app/{name}" for name in ("one", "two", "three", "four"))
NO_RETRIES = ("-s", "RETRY_ENABLED=False")
ROOT = '<div id="root"></div><script src="/app.js"></script>'
SHELL = f"<title>App</title><body>{ROOT}"
FRAMED = f"<title>App</title><body><p>{FRAME}</p>{ROOT}"
DOCUMENTS = {"shell": SHELL, "frame": FRAMED}
SHOW_FRAME = f"""
const root = document.getElementById("root");
const frame = document.body.innerText.length > 50 ? "" : {FRAME!r};
root.innerHTML = `<p>${{frame}}</p><h1></h1><p>Loading</p>`;
const show = (title, text) => {{
  root.querySelector("h1").textContent = title;
  root.lastChild.textContent = text;
}};
fetch("/data" + location.pathname).then((answer) => {{
  if (!answer.ok) throw new Error(answer.status);
  return answer.text();
}}).then(
  (text) => show(text ? location.pathname : "Sorry", text),
  () => show("Sorry", "Try again later."));
"""


class Application:
    """An application whose pages are of one document, filled with data that may fail.

    Args:
        site: Site that serves it.
        page: The document.
        failing: Paths whose data fail, or are never answered.
        status: Status with which they fail; 0 answers nothing.
        words: Words of the data of each page.
    """

    def __init__(
        self,
        site: ChangingSite,
        page: str,
        failing: Iterable[str] = PATHS,
        status: int = 429,
        words: int = 120,
    ) -> None:
        self.page, self.failing, self.status, self.words = page, set(failing), status, words
        self.has_data, self.what = True, "the text of"
        site.added["/app.js"] = lambda exchange: exchange.answer(
            SHOW_FRAME.encode(), "text/javascript"
        )
        for path in PATHS:
            site.added[path] = lambda exchange: exchange.answer(self.page.encode())
            site.added[f"/data{path}"] = self._answer

    def _answer(self, exchange: Exchange) -> None:
        path = exchange.path.removeprefix("/data")
        if path not in self.failing:
            text = prose(f"{self.what} {path}", self.words) if self.has_data else ""
            exchange.answer(text.encode(), "text/plain")
        elif self.status:
            exchange.answer(b"no", "text/plain", self.status)
        else:
            exchange.stage.closing.wait(60)


def html(text: str) -> Trick:
    return lambda exchange: exchange.answer(text.encode())


def visit(site: ChangingSite, folder: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    """Crawl all pages of an application, and return their newest captures by path."""
    (rows,) = visit_all([site], folder, *arguments)
    return rows


def visit_all(
    sites: Iterable[ChangingSite], folder: Path, *arguments: str
) -> list[dict[str, dict[str, Any]]]:
    """Crawl all pages of the application of each site, as ``visit`` does."""
    sites = list(sites)
    urls, job = folder / "urls", folder / "job"
    urls.write_text("".join(f"{site.at(path)}\n" for site in sites for path in PATHS))
    done = scrapy(
        *("crawl", "urls", "-a", f"file={urls}", "-s", f"JOBDIR={job}", "-a", "revisit=yes"),
        *("-s", "CRAWL_RENDER_TIMEOUT_SECS=10", *arguments),
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    rows = exported(job)
    checked = scrapy("verify", str(job))
    assert checked.returncode == 0, checked.stdout
    return [{path: rows[site.at(path)] for path in PATHS} for site in sites]


def texts(rows: dict[str, dict[str, Any]]) -> dict[str, str | None]:
    return {path: row["text"] for path, row in rows.items()}


@contextmanager
def served(names: Iterable[T]) -> Iterator[dict[T, ChangingSite]]:
    """Serve a site for each name, each on a port of its own: what is learned is learned of each."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(ChangingSite()) for name in names}


def test_pages_whose_data_fail_are_kept_at_each_url_until_they_have_their_text(
    tmp_path: Path,
) -> None:
    with served(product(DOCUMENTS, (429, 500, 403, 0))) as sites:
        applications = {
            (name, status): Application(site, DOCUMENTS[name], status=status)
            for (name, status), site in sites.items()
        }
        for case, application in applications.items():
            application.what = f"the text after {case} of"
        # What is never answered is waited for to the end.
        quick = (*NO_RETRIES, "-s", "CRAWL_RENDER_TIMEOUT_SECS=3")
        before = visit_all(sites.values(), tmp_path, *quick)
        for application in applications.values():
            application.failing.clear()
        after = visit_all(sites.values(), tmp_path)
    for case, rows in zip(sites, before, strict=True):
        for path, row in rows.items():
            assert row["duplicate_of"] is None, (case, path, row)
    for case, rows in zip(sites, after, strict=True):
        for path, row in rows.items():
            wanted = prose(f"the text after {case} of {path}", 120)[:60]
            assert wanted in (row["text"] or ""), (case, path, row["reason"])


FILL = """
const root = document.getElementById("root");
const ask = (path) => fetch(path).then((answer) => answer.ok ? answer.text() : "");
const fill = (text) => { root.innerHTML = `<h1>${location.pathname}</h1><p>${text}</p>`; };
const data = "/data" + location.pathname;
"""
LATE = {
    "later": "root.innerHTML = 'Loading'; setTimeout(() => ask(data).then(fill), 800);",
    "given up": "fetch(data, {signal: AbortSignal.timeout(1)}).then((a) => a.text()).then(fill)"
    ".catch(() => { root.innerHTML = '<p>Sorry, something went wrong here.</p>'; });",
    "of few words": "ask(data).then((text) => fill(text.split(' ').slice(0, 9).join(' ')));",
    "closed": "ask(data).then((text) => { "
    "root.attachShadow({mode: 'closed'}).innerHTML = text; });",
    "instead of the frame": "ask(data).then((text) => { document.body.innerHTML = text; });",
    "no worker": "new SharedWorker('/none.js').port.onmessage = () => ask(data).then(fill);",
}
"""How an application shows its data, after a frame of words that are the same on all pages."""


def test_pages_are_told_apart_however_late_and_little_they_show(tmp_path: Path) -> None:
    with served(product(DOCUMENTS, LATE)) as sites:
        for (name, how), site in sites.items():
            shown = Application(site, DOCUMENTS[name], failing=())
            shown.what = f"the text in a {name} that comes {how} of"
            site.added["/app.js"] = html(f"(() => {{ {FILL} {LATE[how]} }})();")
        found = visit_all(sites.values(), tmp_path)
    same = {"exact_duplicate", "text_duplicate"}
    for (name, how), rows in zip(sites, found, strict=True):
        assert not [path for path, row in rows.items() if row["verdict"] in same], (how, rows)
        # With a frame of 180 words the same nine further words make no other page.
        if how in {"given up", "no worker"} or (how == "of few words" and name == "frame"):
            continue
        assert len({row["text"] for row in rows.values()}) == len(PATHS), (name, how)


def test_few_pages_with_data_among_many_without_are_kept(tmp_path: Path) -> None:
    with ChangingSite() as site:
        script = f"(() => {{ {FILL} ask(data).then((text) => text && fill(text)); }})();"
        links = [f"/item/{number}" for number in range(22)]
        listed = "".join(f'<a href="{link}">on</a> ' for link in links)
        site.added["/"] = html(listed)
        site.added["/app.js"] = lambda exchange: exchange.answer(script.encode(), "text/javascript")
        for number, link in enumerate(links):
            site.added[link] = html(FRAMED)
            if number % 7 == 6:
                text = prose(f"the text of {link}", 120)
                site.added[f"/data{link}"] = html(text)
        crawl(site.url, tmp_path, "-s", "CRAWL_LEARN_URL_RULES=False")
    rows = exported(tmp_path)
    for number, link in enumerate(links):
        if number % 7 == 6:
            text = prose(f"the text of {link}", 120)
            assert text[:60] in (rows[site.at(link)]["text"] or ""), rows[site.at(link)]


def test_no_page_is_a_wall_before_a_browser_has_shown_it(tmp_path: Path) -> None:
    with ChangingSite() as site:
        links = [f"/item/{number}" for number in range(40)]
        script = f"(() => {{ {FILL} ask(data).then((text) => text && fill(text)); }})();"
        site.added["/"] = html("".join(f'<a href="{link}">on</a> ' for link in links))
        site.added["/app.js"] = html(script)
        for number, link in enumerate(links):
            said = f"<h1>Page not found</h1><p>There is nothing at {link} yet, sorry.</p>"
            site.added[link] = html(f"<title>Not found</title><body>{said}{ROOT}")
            if number % 7 == 6:
                site.added[f"/data{link}"] = html(prose(f"the text of {link}", 120))
        crawl(site.url, tmp_path, "-s", "CRAWL_LEARN_URL_RULES=False")
    rows = exported(tmp_path)
    verdicts = {rows[site.at(link)]["verdict"] for link in links[6::7]}
    assert not verdicts & {"soft_404", "wall"}


def test_data_of_one_page_that_fail_leave_its_text_and_that_of_others(tmp_path: Path) -> None:
    with ChangingSite() as site:
        application = Application(site, FRAMED, failing=(), status=500)
        before = visit(site, tmp_path)
        application.failing.update(PATHS[:2])
        after = visit(site, tmp_path)
    assert texts(after) == texts(before)
    outcomes = report(tmp_path / "job")["changes"]["outcomes"]
    assert (outcomes["failed"], outcomes["unchanged"]) == (2, 2)


def test_a_visit_without_a_browser_leaves_every_text(tmp_path: Path) -> None:
    with served(DOCUMENTS) as sites:
        for name, site in sites.items():
            Application(site, DOCUMENTS[name], failing=()).what = f"the text in a {name} of"
        before = visit_all(sites.values(), tmp_path)
        after = visit_all(sites.values(), tmp_path, "-a", "render=no")
    for rows in before:
        assert len(set(texts(rows).values())) == len(PATHS)
    assert list(map(texts, after)) == list(map(texts, before))


@pytest.mark.parametrize("words", [25, 120])
def test_an_answer_without_data_takes_no_text_away(tmp_path: Path, words: int) -> None:
    with ChangingSite() as site:
        application = Application(site, FRAMED, failing=(), words=words)
        before = visit(site, tmp_path)
        application.has_data = False
        after = visit(site, tmp_path)
        unshown = visit(site, tmp_path, "-a", "render=no")
    assert len(set(texts(before).values())) == len(PATHS)
    # The first one says what no other page says; what it said is an earlier version of it.
    assert len([path for path in PATHS if texts(after)[path] != texts(before)[path]]) <= 1
    assert texts(unshown) == texts(after)


def test_new_texts_are_taken_though_a_request_beside_them_fails(tmp_path: Path) -> None:
    with ChangingSite() as site:
        application = Application(site, FRAMED, failing=())
        visit(site, tmp_path)
        application.what = "the new text of"
        site.added["/app.js"] = lambda exchange: exchange.answer(
            f"fetch('/me'); {SHOW_FRAME}".encode(), "text/javascript"
        )
        site.added["/me"] = lambda exchange: exchange.answer(b"", status=401)
        after = visit(site, tmp_path)
    for path, row in after.items():
        assert prose(f"the new text of {path}", 120)[:60] in row["text"]


def test_pages_of_a_crawl_without_a_browser_are_shown_at_a_later_visit(tmp_path: Path) -> None:
    with ChangingSite() as site:
        Application(site, FRAMED, failing=())
        before = visit(site, tmp_path, "-a", "render=no")
        after = visit(site, tmp_path)
    assert sum(row["duplicate_of"] is not None for row in before.values()) == len(PATHS) - 1
    assert len(set(filter(None, texts(after).values()))) == len(PATHS)


def test_pages_that_need_no_browser_any_more_are_judged_as_they_come(tmp_path: Path) -> None:
    with ChangingSite() as site:
        Application(site, FRAMED, failing=())
        visit(site, tmp_path)
        for path in PATHS:
            text = f"<p>{FRAME}</p><p>{prose(f'the new text of {path}', 150)}</p>"
            site.added[path] = html(text)
        after = visit(site, tmp_path, "-a", "render=no")
    for path, row in after.items():
        assert prose(f"the new text of {path}", 150)[:60] in row["text"]


def test_the_first_copy_on_a_site_that_showed_nothing_more_is_tried(tmp_path: Path) -> None:
    with ChangingSite() as site:
        Application(site, FRAMED, failing=())
        names = [f"/plain/{name}" for name in "abcdefgh"]
        for name in names:
            site.added[name] = html(f"<p>{prose(name, 150)}</p><script src=/none.js></script>")
        links = "".join(f'<a href="{path}">on</a> ' for path in (*names, *PATHS))
        site.added["/"] = html(links)
        crawl(site.url, tmp_path, "-s", "CONCURRENT_REQUESTS=1")
    rows = exported(tmp_path)
    for path in PATHS:
        assert prose(f"the text of {path}", 120)[:60] in rows[site.at(path)]["text"]


def test_a_page_that_was_blank_is_sent_whole_once_there_is_a_browser(tmp_path: Path) -> None:
    with ChangingSite() as site:
        Application(site, SHELL, failing=())
        for path in PATHS:

            def answer(exchange: Exchange) -> None:
                is_same = exchange.headers.get("If-None-Match") == '"v1"'
                status, body = (304, b"") if is_same else (200, SHELL.encode())
                exchange.answer(body, status=status, headers={"ETag": '"v1"'})

            site.added[path] = answer
        before = visit(site, tmp_path, "-a", "render=no")
        after = visit(site, tmp_path)
    assert {row["verdict"] for row in before.values()} == {"too_short"}
    assert len({row["text"] for row in after.values()}) == len(PATHS)


def test_a_page_whose_answers_are_outstanding_is_asked_once_more(tmp_path: Path) -> None:
    with ChangingSite() as site:
        Application(site, FRAMED, failing=())
        asked: list[str] = []
        for path in PATHS:
            is_asked_again = Event()

            def answer(exchange: Exchange, path: str = path, again: Event = is_asked_again) -> None:
                asked.append(path)
                if asked.count(path) == 1:
                    again.wait(60)
                again.set()
                exchange.answer(prose(path, 120).encode(), "text/plain")

            site.added[f"/data{path}"] = answer
        # Long enough that a busy machine shows the page whole the second time.
        rows = visit(site, tmp_path, "-s", "CRAWL_RENDER_TIMEOUT_SECS=15", *NO_RETRIES)
    assert asked.count(PATHS[0]) == 2
    for path, row in rows.items():
        assert prose(path, 120)[:60] in (row["text"] or ""), (path, row["reason"])
        assert row["reason"] == "as a browser shows it"


def test_what_a_busy_machine_shows_takes_no_place_of_a_fuller_page(tmp_path: Path) -> None:
    """It may come to show the rest so late that the page seems to be done."""
    show = f"(() => {{ {FILL} ask(data).then((text) => {{ const all = text.split('|'); "
    with ChangingSite() as site:
        Application(site, FRAMED, failing=())
        for path in PATHS:
            said = f"{prose(path, 90)}|{prose(f'the rest of {path}', 90)}"
            site.added[f"/data{path}"] = html(said)
        site.added["/app.js"] = html(f"{show} fill(all.join(' ')); }}); }})();")
        before = visit(site, tmp_path)
        late = "fill(all[0]); setTimeout(() => fill(all.join(' ')), 1500);"
        site.added["/app.js"] = html(f"{show} {late} }}); }})();")
        after = visit(site, tmp_path)
    assert texts(after) == texts(before)
    assert report(tmp_path / "job")["changes"]["outcomes"]["unchanged"] == len(PATHS)
