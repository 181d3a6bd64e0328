"""What near-duplicates say is held beside the pages, as long as they are duplicates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.pages.reasons import Reason
from crawler.pages.stored_texts import unpack
from tests.crawler.pages.test_capture import LONG, OTHER, html
from tests.crawler.pages.test_revisits import NEAR, OPTIONS, Visiting
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


INDEX = (
    f"<article><p>{prose('introduction', 60)}</p></article><nav>"
    + "".join(f"<a href=/{entry}>entry {entry}</a> " for entry in range(300))
    + "</nav>"
).encode()


def held(visiting: Visiting) -> dict[str, str]:
    """The near texts by the path of their page."""
    rows = visiting.job.database.read(
        "SELECT url, near_texts.text FROM near_texts LEFT JOIN pages ON pages.id = page"
    )
    return {url.removeprefix("http://example.com"): unpack(text) for url, text in rows}


def test_of_all_duplicates_only_a_near_one_has_a_text_of_its_own(tmp_path: Path) -> None:
    visiting = Visiting(tmp_path)
    visiting.get("/a", html(LONG))
    visiting.get("/bytes", html(LONG))
    visiting.get("/text", html(LONG, head="<!-- -->"))
    assert visiting.get("/near", html(NEAR)).verdict == "near_duplicate"
    assert {path: text.count(NEAR) for path, text in held(visiting).items()} == {"/near": 1}
    visiting.close()


def test_it_goes_when_the_page_says_something_else(tmp_path: Path) -> None:
    visiting = Visiting(tmp_path)
    visiting.get("/a", html(LONG))
    visiting.get("/near", html(NEAR))
    visiting.again()
    visiting.get("/near", html(f"{NEAR} Another word."))
    assert {path: text.count("Another word") for path, text in held(visiting).items()} == {
        "/near": 1
    }
    visiting.again()
    assert not visiting.get("/near", html(OTHER)).is_duplicate
    assert held(visiting) == {}
    visiting.close()


def test_it_stays_when_the_page_cannot_be_had(tmp_path: Path) -> None:
    visiting = Visiting(tmp_path)
    visiting.get("/a", html(LONG))
    visiting.get("/near", html(NEAR))
    visiting.again()
    visiting.get("/near", b"")
    assert set(held(visiting)) == {"/near"}
    visiting.close()


def test_it_goes_when_the_page_is_promoted(tmp_path: Path) -> None:
    visiting = Visiting(tmp_path)
    visiting.get("/a", html(LONG))
    visiting.get("/near", html(NEAR))
    visiting.again()
    visiting.get("/a", html(OTHER))
    visiting.job.end_visit()
    assert held(visiting) == {}
    visiting.close()


def test_none_is_held_where_the_setting_is_off(tmp_path: Path) -> None:
    visiting = Visiting(tmp_path, replace(OPTIONS, keep_near_texts=False))
    visiting.get("/a", html(LONG))
    assert visiting.get("/near", html(NEAR)).verdict == "near_duplicate"
    assert held(visiting) == {}
    visiting.close()


def test_a_row_names_the_parameters_of_its_verdict_and_what_its_text_is(tmp_path: Path) -> None:
    visiting = Visiting(tmp_path)
    answers = (
        ("/a", html(LONG), 1),
        ("/bytes", html(LONG), 1),
        ("/near", html(NEAR), 1),
        ("/index", INDEX, 0),
    )
    for path, body, is_main in answers:
        row = visiting.get(path, body).row
        assert (row.is_main, row.parameters) == (is_main, 1)
    file = visiting.job.processor.store_failure(
        visiting.answer("/gone"), "failed", Reason.HTTP_STATUS.stored(404)
    )
    assert (file.row.is_main, file.row.parameters) == (None, None)
    visiting.again()
    heir = visiting.get("/a", html(prose("anew", 300))).row
    assert heir.parameters == 1
    visiting.close()
