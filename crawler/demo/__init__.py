"""A small handbook to crawl offline, with duplicates and traps planted in known places."""

from crawler.demo.demo_server import DemoServer
from crawler.demo.planted import DUPLICATES, EXPECTED, PLANTED, Planted

__all__ = ["DUPLICATES", "EXPECTED", "PLANTED", "DemoServer", "Planted"]
