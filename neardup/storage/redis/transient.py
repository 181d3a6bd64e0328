"""Which answers of a server pass by themselves: it restarts, is full, moves its slots?"""

import asyncio

from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterError,
    ConnectionError,  # noqa: A004  (as the library calls it)
    MovedError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    SlotNotCoveredError,
    TimeoutError,  # noqa: A004  (as the library calls it)
    TryAgainError,
)

# The client of a cluster closes connections under calls to other nodes when it finds one node gone:
# such a call meets a reader or a writer that is None.
_CUT_OFF = AttributeError
FAILURES = (RedisError, RedisClusterException, OSError, _CUT_OFF)
"""All that a client raises that has to do with its server."""

_REFUSED = (AuthenticationError, AuthorizationError)
_MOVING = (AskError, ClusterError, MovedError, SlotNotCoveredError, TryAgainError)
_REASONS: dict[type[Exception], str] = {
    BusyLoadingError: "it reads its files",
    OutOfMemoryError: "its memory is full (maxmemory)",
    ReadOnlyError: "it takes no writes (read only)",
    TimeoutError: "it does not answer",
    asyncio.TimeoutError: "it does not answer",
}
_CODES = ("BUSY ", "MISCONF ", "NOREPLICAS ", "MASTERDOWN ")
# A cluster of which no node, or not every slot, can be found now; its class stands for mistakes
# of the caller too.
_UNFOUND = ("cannot be connected", "not covered", "No targets were found")


def why_to_wait(error: BaseException) -> str | None:
    """Return in a few words what to wait for; None: this error stays."""
    if isinstance(error, _REFUSED):
        return None
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    said = _first_line(error)
    if isinstance(error, ConnectionError | OSError) or _is_cut_off(error):
        return f"no connection ({said})"
    if isinstance(error, _MOVING) or _is_unfound(error):
        return f"its cluster is not whole ({said})"
    return said if isinstance(error, ResponseError) and said.startswith(_CODES) else None


def is_of_topology(error: BaseException) -> bool:
    """Whether a cluster's slots may lie on other nodes now."""
    return isinstance(error, (ConnectionError, TimeoutError, OSError, *_MOVING))


def _is_cut_off(error: BaseException) -> bool:
    return isinstance(error, _CUT_OFF) and "'NoneType' object" in str(error)


def _is_unfound(error: BaseException) -> bool:
    return isinstance(error, RedisClusterException) and any(word in str(error) for word in _UNFOUND)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
