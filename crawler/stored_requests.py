"""A request as bytes and back again, without what every request has in common."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider

    from crawler.frontier.order import QueuedRequest

_APART = frozenset({"url", "priority"})
_CALLBACKS = ("callback", "errback")
_UNKNOWN = ""
_NEW = Request("http://localhost/")
_DEFAULTS = {name: getattr(_NEW, name) for name in Request.attributes if name not in _APART}


class UnstorableRequestError(Exception):
    """A request cannot be written down; the message says what of it."""


def pack(request: Request, spider: Spider) -> bytes:
    """Everything of a request but its URL and priority.

    Raises:
        UnstorableRequestError: A callback is no method of the spider, or a part cannot be pickled.
    """
    try:
        return pickle.dumps(_parts(request, spider), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # whatever a spider's own classes raise
        raise UnstorableRequestError(str(error) or type(error).__name__) from error


def unpack(queued: QueuedRequest, spider: Spider) -> Request:
    """The request that was packed; raises whatever the spider's own classes raise."""
    parts: dict[str, Any] = pickle.loads(queued.request)  # noqa: S301  # written by us
    parts |= {"url": queued.url, "priority": queued.priority}
    return request_from_dict(parts, spider=spider)


def _parts(request: Request, spider: Spider) -> dict[str, Any]:
    """What of a request is not as in every other one; callbacks by their names."""
    names = {name: _method_name(getattr(request, name), spider) for name in _CALLBACKS}
    if type(request) is not Request or _UNKNOWN in names.values():
        # Says what is wrong, or finds the method under another name; by looking through all
        # methods of the spider, which takes 25 us.
        whole = request.to_dict(spider=spider)
        return {name: part for name, part in whole.items() if name not in _APART}
    parts = {name: getattr(request, name) for name in _DEFAULTS} | names
    parts["headers"] = dict(parts["headers"])
    return {name: part for name, part in parts.items() if part != _DEFAULTS[name]}


def _method_name(method: Callable[..., Any] | None, spider: Spider) -> str | None:
    if method is None:
        return None
    name: str = getattr(method, "__name__", _UNKNOWN)
    return name if getattr(spider, name, None) == method else _UNKNOWN
