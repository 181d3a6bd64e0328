"""Texts that many processes keep in one Redis, alone or as a cluster.

Raises:
    ServerError: On import, where Redis' client is not installed.
"""

from importlib.util import find_spec

from neardup.errors import ServerError

if find_spec("redis") is None:
    raise ServerError("Redis needs its client; pip install 'crawl-once[redis]'")
