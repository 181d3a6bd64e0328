"""Adapters of the frontier to Scrapy: which request is next, and was it met before?"""

FLEET = {"SCHEDULER": "crawler.scheduling.fleet_scheduler.FleetScheduler"}
"""Replaced components where FLEET_ENABLED is set; Redis' client is imported only then."""

REPLACED = {
    "REQUEST_FINGERPRINTER_CLASS": "crawler.scheduling.dupefilter.CanonicalFingerprinter",
    "DUPEFILTER_CLASS": "crawler.scheduling.dupefilter.SeenFilter",
    "SCHEDULER": "crawler.scheduling.scheduler.FrontierScheduler",
}
"""Scrapy's components that are replaced, unless the project has chosen one of its own."""
