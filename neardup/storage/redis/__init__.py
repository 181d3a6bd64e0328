"""Texts that many processes keep in one Redis, alone or as a cluster.

Raises:
    ServerError: On import, where Redis' client is not installed.
"""

from importlib.util import find_spec

from neardup.errors import ServerError
from neardup.installing import install_command

if find_spec("redis") is None:
    raise ServerError(f"Redis needs its client: {install_command('redis')}")
