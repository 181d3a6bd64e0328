"""Refuse names of public pages at private addresses, and note the names that do not exist."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from scrapy.resolver import CachingThreadedResolver, HostResolution
from scrapy.utils.datatypes import LocalCache
from twisted.internet.abstract import isIPv6Address
from twisted.internet.address import IPv6Address
from twisted.internet.error import DNSLookupError
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer  # type: ignore[import-untyped]

from crawler.urls.private_hosts import may_resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

unknown_names: LocalCache[str, bool] = LocalCache(10_000)
"""The names that do not exist, as a name server said when it was asked last."""


class GuardedResolver(CachingThreadedResolver):
    """Scrapy's resolver, whose answer is the very address that is connected to.

    The address that is judged here cannot change before it is used, however fast a
    name server changes its mind (DNS rebinding).
    """

    def install_on_reactor(self) -> None:
        super().install_on_reactor()
        self.reactor.installNameResolver(AddressesFirst(self.reactor.nameResolver))  # type: ignore[arg-type]

    def getHostByName(  # noqa: N802  # Twisted's name
        self, name: str, timeout: Sequence[int] = ()
    ) -> Deferred[str]:
        found = super().getHostByName(name, timeout)
        return found.addCallbacks(_judge, _note_unknown, (name,), errbackArgs=(name,))


def _judge(address: str, name: str) -> str:
    unknown_names.pop(name, None)
    if not may_resolve(name, address):
        raise DNSLookupError(f"{name} is at the private address {address}")
    return address


def _note_unknown(failure: Failure, name: str) -> Failure:
    # Twisted hands on the message alone. A name server that cannot be asked is another error.
    if f"[Errno {socket.EAI_NONAME}]" in failure.getErrorMessage():
        unknown_names[name] = True
    else:
        unknown_names.pop(name, None)
    return failure


@implementer(IHostnameResolver)
class AddressesFirst:
    """Resolves an IPv6 address to itself, where Scrapy's resolver would not find it.

    Nothing is judged here: an address is judged by its
    spelling, before a request is made (``PrivateAddresses``).

    Args:
        names: Resolves everything else.
    """

    def __init__(self, names: Any) -> None:
        self._names = names

    def resolveHostName(  # noqa: N802  # this name, and those of the parameters, are Twisted's
        self,
        resolutionReceiver: Any,  # noqa: N803
        hostName: str,  # noqa: N803
        portNumber: int = 0,  # noqa: N803
        *more: Any,
        **others: Any,
    ) -> Any:
        if not isIPv6Address(hostName):
            return self._names.resolveHostName(
                resolutionReceiver, hostName, portNumber, *more, **others
            )
        resolution = HostResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        resolutionReceiver.addressResolved(IPv6Address("TCP", hostName, portNumber))
        resolutionReceiver.resolutionComplete()
        return resolution
