"""Define the commands of ``scrapy``, a file each."""
