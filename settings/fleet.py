"""The profile of a fleet: as ``settings.crawl``, with what must be one in Redis.

``SCRAPY_PROJECT=fleet scrapy crawl site -a url=... -s FLEET_REDIS_URL=redis://...`` starts a
worker, on as many machines as there are (``docs/fleet.md``).
"""

from .crawl import *  # noqa: F403  # a profile is the other one and more

FLEET_ENABLED = True
