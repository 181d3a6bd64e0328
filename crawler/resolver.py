"""Names that public pages give to private addresses are not resolved: no connection is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.error import DNSLookupError

from crawler.downloading.private import may_resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.defer import Deferred


class GuardedResolver(CachingThreadedResolver):
    """Scrapy's resolver, whose answer is the very address that is connected to.

    So what is judged here cannot change before it is used, however fast a
    name server changes its mind (DNS rebinding).
    """

    def getHostByName(  # noqa: N802  # Twisted's name
        self, name: str, timeout: Sequence[int] = ()
    ) -> Deferred[str]:
        """See the base class."""
        return super().getHostByName(name, timeout).addCallback(_judge, name)


def _judge(address: str, name: str) -> str:
    if not may_resolve(name, address):
        raise DNSLookupError(f"{name} is at the private address {address}")
    return address
