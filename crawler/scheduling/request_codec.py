"""Convert Scrapy's requests to JSON and back, for the directory of a crawl and for a fleet."""

from __future__ import annotations

import inspect
from base64 import b64decode, b64encode
from math import isfinite
from typing import TYPE_CHECKING, Any

from scrapy import FormRequest, Request
from scrapy.http import JsonRequest, XmlRpcRequest

from crawler.frontier.request_records import (
    FIXED,
    MalformedRequestError,
    decode_parts,
    encode_parts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider

_CALLBACKS = ("callback", "errback")
_PLAIN = ("method", "cookies", "meta", "encoding", "dont_filter", "flags", "cb_kwargs")
_NEW = Request("http://localhost/")
_DEFAULTS = tuple((name, getattr(_NEW, name)) for name in _PLAIN)
_ATOMS = frozenset({str, int, bool, type(None)})
# They differ from a Request in how they are made, and come back as one that sends the same.
_CLASSES = frozenset({Request, FormRequest, JsonRequest, XmlRpcRequest})
_MAX_DEPTH = 50
_VERBATIM = "verbatim_url"
"""Scrapy's key in ``meta`` of a request with a URL that is not to be escaped."""


class UnstorableError(ValueError):
    """JSON cannot hold a value; the message says which, and what to do."""


def encode_request(request: Request, spider: Spider, *, is_fixed: bool = False) -> bytes:
    """Return all parts of a request but its URL and priority, encoded.

    Raises:
        UnstorableError: JSON has no such value, or a callback is no method of the
            spider.
    """
    if type(request) not in _CLASSES:
        raise UnstorableError(
            f"it is a {type(request).__qualname__}, and would come back as a plain Request; "
            "yield a Request"
        )
    parts: dict[str, Any] = {}
    for name, default in _DEFAULTS:
        part = getattr(request, name)
        if part != default:
            check_json(part, name)
            parts[name] = part
    if request.callback is not None:
        parts["callback"] = _method_name(request.callback, spider, "callback")
    if request.errback is not None:
        parts["errback"] = _method_name(request.errback, spider, "errback")
    if request.headers:
        parts["headers"] = [
            [name.decode("latin-1"), [value.decode("latin-1") for value in values]]
            for name, values in dict.items(request.headers)
        ]
    if request.body:
        parts["body"] = b64encode(request.body).decode("ascii")
    if is_fixed:
        parts[FIXED] = True
    try:
        return encode_parts(parts)
    except ValueError as error:
        raise UnstorableError(str(error)) from None


def decode_request(encoded: bytes, url: str, priority: int, spider: Spider) -> Request:
    """Return the request that was encoded.

    Raises:
        MalformedRequestError: The bytes are no request, or name methods that the spider lacks.
    """
    parts = decode_parts(encoded)
    parts.pop(FIXED, None)
    try:
        for name in _CALLBACKS:
            if name in parts:
                parts[name] = _method(parts[name], spider)
        if "body" in parts:
            parts["body"] = b64decode(parts["body"], validate=True)
        headers = {
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in parts.pop("headers", ())
        }
        meta = parts.pop("meta", {})
        # The URL of a request is escaped already; doing it again takes longer than all the rest.
        # It is done where there is an encoding, so that one that is unknown is found here.
        escaped = {} if "encoding" in parts else {_VERBATIM: True}
        request = Request(url, priority=priority, meta=escaped | meta, **parts)
        if escaped and _VERBATIM not in meta:
            del request.meta[_VERBATIM]
        if headers:  # their names and values are in Scrapy's form already
            dict.update(request.headers, headers)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise MalformedRequestError(str(error)) from None
    return request


def check_json(part: Any, where: str, depth: int = 0) -> None:
    """Refuse a value that would come back as something else; a tuple comes back as a list.

    Args:
        part: Any value.
        where: Its name in the message.
        depth: Number of lists and dicts around it.

    Raises:
        UnstorableError: JSON cannot hold it.
    """
    if type(part) in _ATOMS or (isinstance(part, float) and isfinite(part)):
        return
    if depth < _MAX_DEPTH and isinstance(part, dict):
        for name, value in part.items():
            if not isinstance(name, str):
                raise UnstorableError(
                    f"{where} has the key {name!r:.80}, and JSON has only strings as keys; "
                    f"make it str({name!r:.80})"
                )
            if type(value) not in _ATOMS:
                check_json(value, f"{where}[{name!r}]", depth + 1)
        return
    if depth < _MAX_DEPTH and isinstance(part, list | tuple):
        for number, value in enumerate(part):
            if type(value) not in _ATOMS:
                check_json(value, f"{where}[{number}]", depth + 1)
        return
    if isinstance(part, str | int):
        return
    raise UnstorableError(
        f"{where} holds {part!r:.80}, which JSON cannot say; "
        "put strings, numbers, lists and dicts there, and make it of them in the spider"
    )


def _method_name(method: Callable[..., Any], spider: Spider, what: str) -> str:
    """Return the name under which the spider has a method, also one that was renamed."""
    name = getattr(method, "__name__", "")
    if name and getattr(spider, name, None) == method:
        return str(name)
    if getattr(method, "__self__", None) is spider:
        for other, member in inspect.getmembers(spider, inspect.ismethod):
            if member == method:
                return other
    raise UnstorableError(
        f"its {what} {method!r} is no method of the spider; make it one, "
        "and put what a lambda or a closure holds into cb_kwargs"
    )


def _method(name: str, spider: Spider) -> Callable[..., Any]:
    method = None if name.startswith("__") else getattr(spider, name, None)
    if getattr(method, "__self__", None) is not spider:
        raise MalformedRequestError(f"the spider {spider.name} has no method {name!r}")
    found: Callable[..., Any] = method  # type: ignore[assignment]  # a bound method
    return found
