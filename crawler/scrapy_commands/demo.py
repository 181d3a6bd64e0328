"""``scrapy demo`` in our own project."""

from crawler.commands.demo import DemoCommand
from crawler.console.scrapy_adapter import adapted

Demo = adapted(
    DemoCommand, __module__=__name__, requires_project=True, requires_crawler_process=True
)
