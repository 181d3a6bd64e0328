"""Reasons are codes with a detail; their words are made where they are printed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.settings import Settings
from twisted.python.failure import Failure

import crawler
from crawler.downloadermiddlewares.failures import explain
from crawler.downloadermiddlewares.limits import ForbiddenByRobotsError, OutOfScopeError
from crawler.downloading.encodings import DamagedBodyError
from crawler.downloading.robots_groups import RobotsUnreachableError
from crawler.pages.reasons import Reason, Stored, codes, in_words, lines, together
from crawler.pages.url_history import outcome_of_failure

_SOURCE = Path(crawler.__file__).parent

STORED = st.builds(Reason.stored, st.sampled_from(Reason), st.text())


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (Reason.HTTP_STATUS.stored(404), "HTTP 404"),
        (
            Reason.REDIRECT_LEFT.stored("302 to ftp://h/"),
            "HTTP 302 to ftp://h/, which is not fetched",
        ),
        (Reason.FORBIDDEN.stored(), "forbidden by robots.txt"),
        (Reason.BAD_ANSWER.stored("a\nmessage {}"), "a message {}"),
        (Reason.TOO_LARGE.stored("{} MB"), "larger than {} MB"),
        (Reason.VERDICT.stored("noindex"), "asks not to be kept (robots meta or X-Robots-Tag)"),
        (
            together(Reason.HTTP_STATUS.stored(404), Reason.ROBOTS_FORBID_NOTHING.stored()),
            "HTTP 404; taken as if it forbade nothing",
        ),
        (Stored("what nobody wrote"), "what nobody wrote"),
        (Stored(""), None),
        (None, None),
    ],
)
def test_words_of_stored_reasons(stored: Stored | None, words: str | None) -> None:
    assert in_words(stored) == words


@pytest.mark.parametrize(
    ("error", "verdict", "code", "outcome"),
    [
        (ForbiddenByRobotsError("no"), "failed", Reason.FORBIDDEN, "forbidden"),
        (IgnoreRequest("Forbidden by robots.txt"), "failed", Reason.FORBIDDEN, "forbidden"),
        (OutOfScopeError("out"), "failed", Reason.REDIRECTED_OUT, "failed"),
        (
            IgnoreRequest("max redirections reached"),
            "unreadable",
            Reason.REDIRECTED_ENDLESSLY,
            "failed",
        ),
        (
            IgnoreRequest("forbidden by robots.txt, says a plugin"),
            "failed",
            Reason.REFUSED,
            "failed",
        ),
        (CannotResolveHostError(), "failed", Reason.NO_HOST, "failed"),
        (RobotsUnreachableError("HTTP 503"), "failed", Reason.ROBOTS_UNREACHABLE, "failed"),
        (DamagedBodyError("is damaged"), "unreadable", Reason.BAD_ANSWER, "failed"),
        (RuntimeError("forbidden by robots.txt"), "failed", Reason.ERROR, "failed"),
    ],
)
def test_the_kind_of_an_error_decides(
    error: Exception, verdict: str, code: Reason, outcome: str
) -> None:
    failure = Failure(error)
    found, reason, status = explain(failure, Settings())
    assert (found, codes(reason), status) == (verdict, {code}, 0)
    assert outcome_of_failure(status, reason) == outcome


class TestReasonsProperties:
    @given(st.lists(STORED))
    def test_each_is_stored_once_in_a_line_of_its_own(self, reasons: list[Stored]) -> None:
        stored = together(*reasons)
        assert lines(stored) == list(dict.fromkeys(reasons))
        assert together(stored, *reasons) == stored

    @given(st.sampled_from(Reason), st.text())
    def test_a_detail_never_changes_the_code(self, reason: Reason, detail: str) -> None:
        assert codes(reason.stored(detail)) == {reason}

    @given(st.text())
    def test_every_text_has_words(self, stored: str) -> None:
        in_words(Stored(stored))
        codes(Stored(stored))


def test_nothing_is_decided_by_a_sentence() -> None:
    """Comparisons of prose: warcio, Scrapy and Playwright have no other mark for what they say."""
    found: set[str] = set()
    for path in _SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            compared: list[ast.expr] = []
            if isinstance(node, ast.Compare):
                compared = [node.left, *node.comparators]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                compared = node.args if node.func.attr in {"startswith", "endswith"} else []
            texts = (value.value for value in compared if isinstance(value, ast.Constant))
            found.update(text for text in texts if isinstance(text, str) and " " in text.strip())
    assert found == {"non-chunked gzip", "Unrecognized output format", "Executable doesn't exist"}
