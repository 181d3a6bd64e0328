"""What the settings say of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.fleet.names import checked_name
from crawler.fleet.options import FleetOptions
from crawler.options import Options

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def is_fleet(settings: BaseSettings) -> bool:
    """Whether the crawl is to take part in a fleet."""
    return Options(settings).boolean("FLEET_ENABLED")


def fleet_options(settings: BaseSettings) -> FleetOptions:
    """Everything a worker needs to know.

    Raises:
        ValueError: A setting has a bad value; the message names it.
        FleetError: The name of the fleet is none.
    """
    options = Options(settings)
    return FleetOptions(
        url=str(options.raw("FLEET_REDIS_URL")),
        name=checked_name(str(options.raw("FLEET_NAME"))),
        lease_secs=options.number("FLEET_LEASE_SECS"),
        shards=options.integer("FLEET_SHARDS"),
        max_hosts=options.integer("FLEET_MAX_HOSTS"),
        max_leased=options.integer("FLEET_MAX_LEASED"),
        delay_secs=settings.getfloat("DOWNLOAD_DELAY"),
        jitter=settings.getfloat("DOWNLOAD_DELAY_JITTER", 0.5),
    )
