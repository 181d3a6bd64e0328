"""One short text at many URLs: when it is a wall, and when it is none."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from crawler.job import Job
from crawler.maintenance.crawl_report import make_report
from crawler.pages.wall_clusters import WallClusters, host_of, unknown_urls
from crawler.pages.walls import (
    MIN_NAMES,
    MIN_NAMES_OF_FOLDER,
    MIN_SUSPECTED_NAMES,
)
from crawler.storage.database import open_for_reading
from tests.crawler.maintenance.verify.crawled import check
from tests.crawler.pages.test_capture import OPTIONS, html
from tests.crawler.pages.walled_visits import (
    FORM,
    LOGIN,
    LONGER,
    NAMES,
    in_folders,
    names,
    stored,
    verdicts,
    visit,
)
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_that_completes_the_signs_gives_its_verdict_to_the_earlier_ones(
    tmp_path: Path,
) -> None:
    paths = in_folders(MIN_NAMES)
    found = visit(tmp_path, [(path, LOGIN) for path in paths])
    assert [one.verdict for one in found] == [
        "too_short",
        *["exact_duplicate"] * (MIN_NAMES - 2),
        "wall",
    ]
    assert [stored(tmp_path)[path][0] for path in paths] == ["wall"] * MIN_NAMES
    with closing(open_for_reading(tmp_path)) as connection:
        report = make_report(connection)
    assert (report.kept, report.duplicates, report.verdicts["wall"]) == (0, 0, MIN_NAMES)
    assert [(wall.count, wall.example) for wall in report.walls] == [
        (MIN_NAMES, f"http://example.com{paths[0]}")
    ]
    assert check(tmp_path).findings == ()


@pytest.mark.parametrize("count", [MIN_NAMES, MIN_NAMES_OF_FOLDER - 1])
def test_in_one_folder_more_names_are_needed(tmp_path: Path, count: int) -> None:
    paths = [f"/members/{name}" for name in names(MIN_NAMES_OF_FOLDER)]
    visit(tmp_path, [(path, LOGIN) for path in paths[:count]])
    assert "wall" not in verdicts(tmp_path)
    visit(tmp_path, [(path, LOGIN) for path in paths[count:]])
    assert verdicts(tmp_path) == {"wall"}


@pytest.mark.parametrize("text", ["Please log in.", f"Log in to go on. {LONGER}"])
def test_each_page_keeps_its_text_though_it_is_kept_no_more(tmp_path: Path, text: str) -> None:
    paths = in_folders(MIN_NAMES + 3)
    texts = {path: f"{text} Ray ID {n}c of many." for n, path in enumerate(paths)}
    visit(tmp_path, [(path, html(f"{said}{FORM}", "Log in")) for path, said in texts.items()])
    found = stored(tmp_path)
    assert {verdict for verdict, _ in found.values()} == {"wall"}
    for path, said in texts.items():
        assert said in (found[path][1] or "")
    assert check(tmp_path).findings == ()


def test_a_page_that_resembles_a_wall_is_judged_anew_and_the_index_stays_right(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wall = html(f"{LONGER}{FORM}", "Log in")
    real = html(f"{LONGER} And a map.{FORM}", "Log in to the board")
    paths = in_folders(MIN_NAMES)
    answers = [(path, wall) for path in paths]
    answers.insert(3, ("/board", real))
    found = visit(tmp_path, answers)
    assert found[3].verdict in {"near_duplicate", "same_template"}
    after = stored(tmp_path)
    assert after["/board"][0] in {"new", "too_short", "same_template"}
    assert [after[path][0] for path in paths] == ["wall"] * MIN_NAMES
    again = visit(tmp_path, [("/board", real), ("/a/more", wall)])
    assert [one.verdict for one in again] == ["unchanged", "wall"]
    assert "made again" not in caplog.text
    assert check(tmp_path).findings == ()


def test_print_views_orders_and_sessions_of_one_page_are_no_wall(tmp_path: Path) -> None:
    paths = [f"/{name}/order" for name in names(30)]
    paths += [f"/order?sid={number}" for number in range(30)]
    visit(tmp_path, [(path, LOGIN) for path in paths])
    assert verdicts(tmp_path) == {"too_short", "exact_duplicate"}


def test_a_login_that_leads_back_to_many_pages_is_a_wall(tmp_path: Path) -> None:
    def login(path: str) -> bytes:
        more = f'<a href="/register?next={path}">Register</a>'
        return html(f"Log in to go on to {path} now.{FORM}{more}", "Log in")

    paths = in_folders(MIN_NAMES)
    urls = [f"/login?next={path}" for path in paths[::2]]
    urls += [
        f"/login?lang=en&return_to={quote(f'http://example.com{path}')}" for path in paths[1::2]
    ]
    answers = zip(urls, (login(path) for path in (*paths[::2], *paths[1::2])), strict=True)
    visit(tmp_path, [("/plain", html(prose("own", 80), "Own")), *answers])
    found = stored(tmp_path)
    assert found.pop("/plain")[0] == "new"
    assert {verdict for verdict, _ in found.values()} == {"wall"}
    assert check(tmp_path).findings == ()


def test_a_short_page_that_remembers_where_one_came_from_is_no_wall(tmp_path: Path) -> None:
    page = html("Page not found? Write to us.", "Contact")
    visit(tmp_path, [(f"/contact?return={path}", page) for path in in_folders(30)])
    assert verdicts(tmp_path) == {"too_short", "exact_duplicate"}


def test_a_page_that_leads_on_is_no_wall(tmp_path: Path) -> None:
    def listing(name: str) -> bytes:
        links = "".join(f'<a href="/file/{name[::-1]}{n}">a file</a>' for n in range(5))
        return html(f"Log in to go on.{FORM}{links}", "Members")

    visit(tmp_path, [(path, listing(path[3:])) for path in in_folders(20)])
    assert "wall" not in verdicts(tmp_path)


def index_of(letter: str) -> str:
    links = (f'<li><a href="/w/{letter}{n}">{letter}{n} word</a></li>' for n in range(30))
    return f"{FORM}<h1>Word list</h1><ul>{''.join(links)}</ul>"


FORUM = "<p>{name}</p><p>Member since {year}, posts: {n}. Please log in to send a message.</p>"
PART = "<p>Part {name}: {n}.50 EUR, {year} grams. No longer available from the maker.</p>"
FILE = f'{FORM}<p>Download:</p><a href="/files/{{n}}.pdf">{{word}} of the harbour town</a>'
FOLDER = "{lists}<p>Log in to upload.</p>"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/user/{name}", FORUM),
        ("/part/{name}", PART),
        ("/人/{name}", "<p>第{n}条：生于{year}年，喜欢{word}色的苹果。此人已不存在。</p>"),
        ("/doc/{name}", FILE),
        ("/{letter}", "{index}"),
        ("/list/{letter}.html", "{index}"),
        ("/docs/{name}", FOLDER),
    ],
)
def test_pages_of_a_template_that_differ_in_numbers_or_links_are_no_wall(
    tmp_path: Path, path: str, body: str
) -> None:
    answers = []
    for n, (letter, word) in enumerate(zip("abcdefghijklmnopqrst", NAMES, strict=False)):
        name = f"{word}{n}"
        said = {"name": name, "word": word, "letter": letter, "n": n, "year": 1990 + n}
        said["index"] = index_of(letter)
        said["lists"] = "".join(f'<a href="/docs/{name}/{k}"><img src=i></a>' for k in range(9))
        answers.append((path.format(**said), html(body.format(**said), "Our archive")))
    visit(tmp_path, answers)
    assert verdicts(tmp_path) <= {"new", "too_short", "same_template", "text_duplicate"}
    assert len(stored(tmp_path)) == len(answers)


def test_a_page_that_leads_on_is_no_wall_in_a_frame_of_many_links(tmp_path: Path) -> None:
    frame = "".join(f'<a href="/frame/{n}"><img src=i></a>' for n in range(200))

    def listing(n: int, links: int) -> bytes:
        more = "".join(f'<a href="/own/{n}-{k}"><img src=i></a>' for k in range(links))
        return html(f"Log in to go on.{FORM}{frame}{more}", "Members")

    paths = in_folders(20)
    visit(tmp_path / "own", [(path, listing(n, 30)) for n, path in enumerate(paths)])
    assert "wall" not in verdicts(tmp_path / "own")
    visit(tmp_path / "none", [(path, listing(n, 0)) for n, path in enumerate(paths)])
    assert verdicts(tmp_path / "none") == {"wall"}


def test_a_short_text_without_a_wording_is_no_wall(tmp_path: Path) -> None:
    visit(tmp_path, [(path, html("Sold out.", "Shop")) for path in in_folders(30)])
    assert verdicts(tmp_path) == {"too_short", "exact_duplicate"}


@pytest.mark.parametrize(
    ("text", "count"), [("Nothing is at", MIN_NAMES), ("Not found:", MIN_SUSPECTED_NAMES)]
)
def test_an_answer_to_a_url_that_cannot_exist_makes_few_names_enough(
    tmp_path: Path, text: str, count: int
) -> None:
    def oops(path: str) -> bytes:
        return html(f"{text} {path} today.", "Shop")

    paths = in_folders(count)
    visit(tmp_path, [(path, oops(path)) for path in paths], probed=oops("no place"))
    assert "soft_404" not in verdicts(tmp_path)
    name = unknown_urls("http://example.com/a/b")[1].removeprefix("http://example.com")
    visit(tmp_path, [], probed=oops(name))
    assert verdicts(tmp_path) == {"soft_404"}
    assert check(tmp_path).findings == ()


def test_what_a_seed_says_is_never_a_soft_404(tmp_path: Path) -> None:
    home = html("Welcome to us.", "Home")
    visit(tmp_path, [("/", home), *((path, home) for path in in_folders(20))], probed=home)
    found = visit(tmp_path, [("/a/later", home)])
    assert found[0].kept_url == "http://example.com/"
    assert verdicts(tmp_path) == {"too_short", "exact_duplicate"}


def test_a_wall_never_takes_the_place_of_a_text(tmp_path: Path) -> None:
    paths = in_folders(MIN_NAMES)
    own = {f"/page/{number}": html(prose(f"page {number}", 80), "A page") for number in range(3)}
    visit(tmp_path, [*((path, LOGIN) for path in paths), *own.items()])
    before = stored(tmp_path)
    found = visit(tmp_path, [(path, LOGIN) for path in own])
    assert {one.verdict for one in found} == {"wall"}
    assert stored(tmp_path) == before
    assert {one.verdict for one in visit(tmp_path, own.items())} == {"unchanged"}
    assert check(tmp_path).findings == ()


def test_the_same_text_at_another_host_is_another_cluster(tmp_path: Path) -> None:
    visit(tmp_path, [(path, LOGIN) for path in in_folders(MIN_NAMES - 1)])
    with closing(Job(tmp_path, OPTIONS)) as job:
        clusters = WallClusters(job.database)
        (skeleton,) = job.database.read("SELECT skeleton FROM wall_clusters").fetchone()
        here = clusters.find(host_of("http://example.com/"), skeleton)
        assert here is not None
        assert here.name_count == MIN_NAMES - 1
        assert clusters.find(host_of("http://example.com:81/"), skeleton) is None
