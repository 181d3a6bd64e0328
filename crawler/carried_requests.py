"""A request as JSON and back again, to be carried from one worker of a fleet to another.

No pickle: whoever can write to Redis would run code in every worker.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from scrapy import FormRequest, Request
from scrapy.http import JsonRequest

from crawler.stored_requests import UnstorableRequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider

_CALLBACKS = ("callback", "errback")
_PLAIN = ("method", "cookies", "meta", "encoding", "dont_filter", "flags", "cb_kwargs")
_NEW = Request("http://localhost/")
_DEFAULTS = {name: getattr(_NEW, name) for name in _PLAIN}
_CLASSES = (Request, FormRequest, JsonRequest)
_MOST_NESTED = 50

FIXED = "fixed"
"""Says of a request that no rule may skip it."""


class CarriedRequestError(ValueError):
    """What stands in Redis is no request that this spider can make."""


def to_json(request: Request, spider: Spider, *, is_fixed: bool) -> bytes:
    """Everything of a request but its URL and priority.

    Raises:
        UnstorableRequestError: It holds what JSON cannot say, or a callback is no method.
    """
    if type(request) not in _CLASSES:
        raise UnstorableRequestError(f"it is a {type(request).__qualname__}, not a plain Request")
    parts = {name: getattr(request, name) for name in _PLAIN}
    parts = {name: part for name, part in parts.items() if part != _DEFAULTS[name]}
    for name, part in parts.items():
        _check(part, name, 0)
    for name in _CALLBACKS:
        method = getattr(request, name)
        if method is not None:
            parts[name] = _method_name(method, spider, name)
    if request.headers:
        parts["headers"] = [
            [_text(name), [_text(value) for value in values]]
            for name, values in request.headers.items()
        ]
    if request.body:
        parts["body"] = b64encode(request.body).decode("ascii")
    if is_fixed:
        parts[FIXED] = True
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def parts_of(carried: bytes) -> dict[str, Any]:
    """What ``to_json`` wrote.

    Raises:
        CarriedRequestError: It is something else.
    """
    try:
        parts = json.loads(carried.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise CarriedRequestError(f"no JSON: {error}") from None
    if not isinstance(parts, dict):
        raise CarriedRequestError("no JSON object")
    return parts


def from_json(carried: bytes, url: str, priority: int, spider: Spider) -> Request:
    """The request that was carried.

    Raises:
        CarriedRequestError: It is none, or names methods that the spider does not have.
    """
    parts = parts_of(carried)
    parts.pop(FIXED, None)
    try:
        for name in _CALLBACKS:
            if name in parts:
                parts[name] = _method(parts[name], spider)
        if "body" in parts:
            parts["body"] = b64decode(parts["body"], validate=True)
        if "headers" in parts:
            parts["headers"] = {
                name.encode("latin-1"): [value.encode("latin-1") for value in values]
                for name, values in parts["headers"]
            }
        return Request(url, priority=priority, **parts)
    except (TypeError, ValueError, AttributeError) as error:
        raise CarriedRequestError(str(error)) from None


def _check(part: Any, where: str, depth: int) -> None:
    """Refuse what would come back as something else; a tuple comes back as a list."""
    if part is None or isinstance(part, str | bool | int):
        return
    if isinstance(part, float) and part == part and abs(part) != float("inf"):  # noqa: PLR0124
        return
    if depth < _MOST_NESTED and isinstance(part, list | tuple):
        for value in part:
            _check(value, where, depth + 1)
        return
    if depth < _MOST_NESTED and isinstance(part, dict) and all(isinstance(n, str) for n in part):
        for name, value in part.items():
            _check(value, f"{where}[{name!r}]", depth + 1)
        return
    raise UnstorableRequestError(f"{where} holds {part!r:.80}, which JSON cannot say")


def _method_name(method: Callable[..., Any], spider: Spider, what: str) -> str:
    name = getattr(method, "__name__", "")
    if not name or getattr(spider, name, None) != method:
        raise UnstorableRequestError(f"its {what} {method!r} is no method of the spider")
    return str(name)


def _method(name: str, spider: Spider) -> Callable[..., Any]:
    method = None if name.startswith("__") else getattr(spider, name, None)
    if getattr(method, "__self__", None) is not spider:
        raise CarriedRequestError(f"the spider {spider.name} has no method {name!r}")
    found: Callable[..., Any] = method  # type: ignore[assignment]  # a bound method
    return found


def _text(value: bytes) -> str:
    return value.decode("latin-1")
