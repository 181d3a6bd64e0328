"""Find the reason why a request gave no page, ask another spelling, or close a crawl that fails."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    CloseSpider,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet.error import ConnectionClosed

from crawler.downloadermiddlewares.limits import (
    REDIRECTS,
    ForbiddenByRobotsError,
    OutOfScopeError,
    PrivateAddressError,
)
from crawler.downloading.encodings import AnswerError
from crawler.downloading.robots_groups import RobotsUnreachableError
from crawler.pages.reasons import Reason, Stored
from crawler.pages.verdicts import FAILED, UNREADABLE
from crawler.reading.worker_pool import ReadingError
from crawler.request_meta import SPELLING
from crawler.storage.errors import CrawlStorageError
from crawler.urls.parts import shown

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from crawler.run import RunResult

_PLAIN = (
    (CannotResolveHostError, Reason.NO_HOST),
    (DownloadConnectionRefusedError, Reason.CONNECTION_REFUSED),
    (DownloadTimeoutError, Reason.TIMEOUT),
    (ResponseDataLossError, Reason.CONNECTION_LOST_MIDWAY),
    (UnsupportedURLSchemeError, Reason.UNKNOWN_SCHEME),
    (ForbiddenByRobotsError, Reason.FORBIDDEN),
    (OutOfScopeError, Reason.REDIRECTED_OUT),
)
# Scrapy raises no errors of their own for these: only the messages tell them from others.
_SCRAPYS = {
    "max redirections reached": (UNREADABLE, Reason.REDIRECTED_ENDLESSLY),
    "Forbidden by robots.txt": (FAILED, Reason.FORBIDDEN),
}
_STATUSES = range(1, 1000)  # a server may send a number of any length

# Statuses of a host as it is now: every spelling would be answered so. Then errors after which
# another spelling never is to be asked, since they are the host's or its answer's, or always.
_OF_THE_HOST = frozenset({408, 425, 429, 502, 503, 504})
_NO_SPELLING_HELPS = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadCancelledError,
    AnswerError,
    PrivateAddressError,
)
_SPELLING_MAY_HELP = (IgnoreRequest, UnsupportedURLSchemeError, ValueError)


def explain(failure: Failure, settings: BaseSettings) -> tuple[str, Stored, int]:
    """Return verdict, reason and HTTP status (0 where no answer came) of a failed request.

    The verdict is "unreadable" for an answer that cannot be accepted as it is, "failed"
    for an error status or no answer.
    """
    error = failure.value
    assert error is not None
    if isinstance(error, HttpError):
        status = error.response.status
        return FAILED, _explain_status(error.response), status if status in _STATUSES else 0
    max_bytes = settings.getint("DOWNLOAD_MAXSIZE")
    size = f"{max_bytes // 2**20} MB" if max_bytes >= 2**20 else f"{max_bytes:,} bytes"
    if type(error) is IgnoreRequest and str(error) in _SCRAPYS:
        verdict, code = _SCRAPYS[str(error)]
        reason = code.stored()
    elif isinstance(error, DownloadCancelledError):
        verdict, reason = UNREADABLE, Reason.TOO_LARGE.stored(size)
    elif isinstance(error, AnswerError):
        verdict, reason = UNREADABLE, Reason.BAD_ANSWER.stored(_first_line(error))
    else:
        verdict, reason = FAILED, explain_error(error)
    return verdict, reason, 0


def _explain_status(response: Response) -> Stored:
    if response.status not in REDIRECTS:
        return Reason.HTTP_STATUS.stored(response.status)
    location = response.headers.get(b"Location")
    if location is None:
        return Reason.NO_LOCATION.stored(response.status)
    target = shown(location.decode("latin-1"))
    return Reason.REDIRECT_LEFT.stored(f"{response.status} to {target}")


def explain_error(error: BaseException) -> Stored:
    for kind, reason in _PLAIN:
        if isinstance(error, kind):
            return reason.stored()
    if isinstance(error, DownloadFailedError):
        return _explain_broken(error)
    detail = _first_line(error)
    if isinstance(error, RobotsUnreachableError):
        return Reason.ROBOTS_UNREACHABLE.stored(error.reason)
    if isinstance(error, IgnoreRequest):
        message = str(error)
        return Reason.REFUSED.stored(message[:1].lower() + message[1:])
    if type(error) is ValueError:
        # Links are looked at before they are queued; where a redirect leads is not.
        return Reason.REDIRECTED_TO_NO_URL.stored(detail)
    name = type(error).__name__
    return Reason.ERROR.stored(f"{name}: {detail}" if detail else name)


def _explain_broken(error: DownloadFailedError) -> Stored:
    """Return the reason of a failure of Twisted, whose message is a list of nested failures."""
    reasons = getattr(error.__cause__, "reasons", None) or ()
    inner: BaseException = reasons[-1].value if reasons else error
    if isinstance(inner, ConnectionClosed):
        return Reason.CONNECTION_LOST.stored()
    return Reason.NO_HTTP.stored(f"{type(inner).__name__}: {_first_line(inner)}")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else ""


def ask_another(crawler: Crawler, request: Request, error: BaseException | None) -> bool:
    """Request another spelling of a URL that gave no page; return whether there is one.

    Args:
        crawler: The crawler; a scheduler that is not ours requests nothing.
        request: The request that gave no page.
        error: Why it gave none.
    """
    ask = getattr(crawler.engine.scheduler, "ask_another", None)
    if ask is None or error is None or not _may_be_spelling(error, request):
        return False
    try:
        return bool(ask(request))
    except CrawlStorageError:  # the job remembers it, and the crawl ends
        return True


def _may_be_spelling(error: BaseException, request: Request) -> bool:
    """Return whether another spelling of a URL may give a page where this one failed.

    A connection that breaks off may be a firewall's answer to an argument, or a host that is
    down: then only the next spelling is tried.
    """
    if isinstance(error, HttpError):
        return error.response.status not in _OF_THE_HOST
    if isinstance(error, _NO_SPELLING_HELPS):
        return False
    return isinstance(error, _SPELLING_MAY_HELP) or SPELLING not in request.meta


class ClosingErrors(AbstractContextManager["ClosingErrors"]):
    """A context that closes the crawl where its store or its readers fail.

    That is noted, so that no request ends as one that is through: it gave nothing.

    Raises:
        CloseSpider: One of them failed.
    """

    def __init__(self, result: RunResult) -> None:
        self._result = result

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, CrawlStorageError | ReadingError):
            self._result.stop(str(error))
            reason = "storage" if isinstance(error, CrawlStorageError) else "reading"
            raise CloseSpider(reason) from error
