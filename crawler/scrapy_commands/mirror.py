"""``scrapy mirror`` in our own project."""

from crawler.commands.mirror import MirrorCommand
from crawler.console.scrapy_adapter import adapted

Mirror = adapted(
    MirrorCommand, __module__=__name__, requires_project=True, requires_crawler_process=True
)
