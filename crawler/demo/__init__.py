"""A small handbook to crawl offline, with duplicates and traps planted in known places."""

from crawler.demo.planted import DUPLICATES, EXPECTED, PLANTED, Planted
from crawler.demo.server import DemoServer

__all__ = ["DUPLICATES", "EXPECTED", "PLANTED", "DemoServer", "Planted"]
