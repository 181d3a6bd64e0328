"""Store the queue and the seen set of a fleet of crawlers in one Redis.

The error is in this file, so that a crawl alone needs no client of Redis.
"""

from crawler.suggestions import UserError


class FleetError(UserError):
    """A worker cannot join the fleet; the message says why and what to do."""
