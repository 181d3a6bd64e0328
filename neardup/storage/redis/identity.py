"""What all who share kept texts must agree on."""

import json

from neardup.errors import ServerError
from neardup.parameters import Parameters
from neardup.storage.redis.server import Server

FORMAT = 1


async def check_identity(server: Server, parameters: Parameters, blocks: int) -> None:
    """Note what the kept texts of a server are made of, or compare with what is noted.

    Key:
        ``texts``: JSON, written once.

    Raises:
        ServerError: Something else is noted; the message says what.
    """
    ours: dict[str, object] = {
        "format": FORMAT,
        "features": str(parameters.fingerprint_features),
        "verify_shingle_size": parameters.verify_shingle_size,
        "blocks": blocks,
    }
    key = f"{server.prefix}texts"
    await server.run("SET", key, json.dumps(ours), "NX")
    theirs = json.loads(await server.run("GET", key))
    for name, wanted in ours.items():
        held = theirs.get(name)
        if held != wanted:
            raise ServerError(
                f"Redis at {server.name}: the kept texts of {server.prefix!r} are of {name} "
                f"{held}, got {wanted}; ask for the same, or begin under another name"
            )
