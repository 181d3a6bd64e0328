"""Define the commands of ``crawl-once``, a file each; ``crawler.scrapy_commands`` adapts them."""
