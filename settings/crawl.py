"""The profile that ``scrapy.cfg`` names: crawl politely, keep each page once.

Literals only. Our own settings have their defaults in ``crawler/default_settings.py``.
"""

BOT_NAME = "crawl-once"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.scrapy_commands"
ADDONS = {"crawler.addon.NearDuplicates": 300}

USER_AGENT = "crawl-once/0.1"
ROBOTSTXT_OBEY = True

# Hosts of others: half a second between requests. This machine's own: as fast as it answers.
DOWNLOAD_DELAY = 0.5
CONCURRENT_REQUESTS = 32
CONCURRENT_REQUESTS_PER_DOMAIN = 8  # also the connections to a host that are kept open
DOWNLOAD_SLOTS = {
    "127.0.0.1": {"delay": 0, "concurrency": 8},
    "localhost": {"delay": 0, "concurrency": 8},
    "::1": {"delay": 0, "concurrency": 8},
}

# Only http and https are fetched.
DOWNLOAD_HANDLERS = {
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
    "http": "crawler.downloader.handler.BoundedHeadHandler",
    "https": "crawler.downloader.handler.BoundedHeadHandler",
}
DOWNLOAD_TIMEOUT = 60
DOWNLOAD_MAXSIZE = 33554432  # 32 MiB, also after decompression
DOWNLOAD_WARNSIZE = 0
URLLENGTH_LIMIT = 8192

DOWNLOADER = "crawler.downloader.handler.PlainDownloader"
DOWNLOADER_MIDDLEWARES = {
    # Our spiders have scopes, and no allowed_domains.
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "crawler.downloadermiddlewares.limits.LongUrls": 50,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "crawler.downloadermiddlewares.robots.RobotsRules": 100,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawler.downloadermiddlewares.limits.Decompression": 590,
    # Refuses what Decompression could not open.
    "crawler.downloadermiddlewares.retries.WholeAnswers": 580,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "crawler.downloadermiddlewares.http_auth.HttpAuth": 985,
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
    "crawler.downloadermiddlewares.cookies.Cookies": 700,
}
ROBOTSTXT_PARSER = "crawler.downloadermiddlewares.robots.FirstRules"
# LongUrls says which URLs are too long; this one drops them without a word.
# Each costs three generators for every page, whatever it does.
SPIDER_MIDDLEWARES = {
    "scrapy.spidermiddlewares.start.StartSpiderMiddleware": None,
    "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
    "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "crawler.lean_parts.DepthsAndReferers": 900,
}
CONCURRENT_ITEMS = 1  # of one page; each more costs a task for every page

EXTENSIONS = {
    # Nothing reads what it counts, and it hears a signal for each item and each answer.
    "scrapy.extensions.corestats.CoreStats": None,
    "scrapy.extensions.feedexport.FeedExporter": None,
    "crawler.feeds.feed_files.StoredFeeds": 0,
}
FEED_STORAGES = {
    "": "crawler.feeds.feed_files.FeedFile",
    "file": "crawler.feeds.feed_files.FeedFile",
    "stdout": "crawler.feeds.feed_files.PlainStdout",
}
FEED_EXPORTERS = {
    "csv": "crawler.feeds.exporters.PlainCsvExporter",
    "parquet": "crawler.feeds.exporters.ParquetItemExporter",
    "xml": "crawler.feeds.exporters.CleanXmlExporter",
}

# The meta refresh of a page is read with everything else, in a worker process.
METAREFRESH_ENABLED = False

RETRY_GIVE_UP_LOG_LEVEL = "DEBUG"
REMOTE_CONTROL_ENABLED = False  # it runs arbitrary Python for whoever reads its token
TELNETCONSOLE_ENABLED = False
LOGSTATS_INTERVAL = 0  # progress is shown by crawler.extensions.progress.Progress
STATS_CLASS = "crawler.lean_parts.PlainStats"
STATS_DUMP = False
DOWNLOADER_STATS = False  # they write out the headers of every request and answer to count bytes
LOG_LEVEL = "WARNING"
LOG_FORMATTER = "crawler.lean_parts.ShownLogs"
FEED_EXPORT_ENCODING = "utf-8"
