"""Judge the documents of many processes: a text is kept once among all of them."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

from neardup.cascade import Evidence, decide, exact_duplicate
from neardup.document import Document
from neardup.errors import DocumentError, ParameterError, ServerError
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.parameters import Parameters
from neardup.storage.redis.commit_log import Look
from neardup.storage.redis.head_format import OWNER_BYTES, Record, recorded
from neardup.storage.redis.server import Server
from neardup.storage.redis.shared_evidence import (
    KeptText,
    Original,
    SharedEvidenceSource,
    SharedVerdict,
    original_of,
)
from neardup.storage.redis.shelf import Findings, Shelf
from neardup.verdict import TOO_SHORT, Verdict
from neardup.verification import JaccardVerifier, Verifier

FORMAT = 1


async def check_identity(server: Server, parameters: Parameters, blocks: int) -> None:
    """Note the recipe of a server's fingerprints, or compare it with the one noted.

    Key:
        ``texts``: JSON, written once.

    Raises:
        ServerError: Another recipe is noted; the message names it.
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
        stored = theirs.get(name)
        if stored != wanted:
            raise ServerError(
                f"Redis at {server.name}: the kept texts of {server.prefix!r} are of {name} "
                f"{stored}, got {wanted}; ask for the same, or begin under another name"
            )


class SharedDeduplicator:
    """Judges documents as a ``Deduplicator`` does, together with other processes on one Redis.

    Exactly one of the texts that repeat each other is kept, whichever processes judge them and when
    (``commit_log`` says why). The kept text is held by Redis when the verdict is given, so its
    owner may die right after it. All calls may be made again, and at one time.

    An owner is a page, which may say another text each time: none of its own texts makes it a
    duplicate, and judged again with the same text it gets its verdict again.

    Args:
        server: The server of the kept texts.
        parameters: The parameters that decide which texts are the same.
        blocks: The number of blocks of a fingerprint, 3 to 6: fewer for more texts.
        verifier: The measure that confirms candidates; None: Jaccard similarity, as a
            ``Deduplicator`` does.

    Raises:
        ParameterError: ``blocks`` out of range, or a verifier although ``verify`` is off.
    """

    def __init__(
        self,
        server: Server,
        parameters: Parameters,
        *,
        blocks: int = 4,
        verifier: Verifier | None = None,
    ) -> None:
        if verifier is not None and not parameters.verify:
            raise ParameterError("verify=False lets the distance decide alone; leave out verifier")
        self._server = server
        self._parameters = parameters
        self._blocks = blocks
        self._shelf = Shelf(server, blocks=blocks)
        verifier = verifier or JaccardVerifier(parameters.verify_shingle_size)
        self._source = SharedEvidenceSource(self._shelf, parameters, verifier)

    @property
    def parameters(self) -> Parameters:
        """The parameters that decide which texts are the same; :meth:`tune` changes them."""
        return self._parameters

    async def open(self) -> None:
        """Make sure that all who share the server make the same fingerprints.

        Raises:
            ServerError: Others make other ones; the message names both.
        """
        await check_identity(self._server, self._parameters, self._blocks)

    def tune(self, parameters: Parameters) -> None:
        """Judge by other parameters from now on; what was kept stays kept.

        Raises:
            ParameterError: They are of other features, or of another ``verify_shingle_size``.
        """
        for name in ("fingerprint_features", "verify_shingle_size"):
            stored, wanted = getattr(self._parameters, name), getattr(parameters, name)
            if stored != wanted:
                raise ParameterError(f"{name} must stay {stored}, got {wanted}; open another one")
        self._parameters = parameters
        self._source = replace(self._source, parameters=parameters)

    async def judge(
        self, owner: bytes, document: Document, about: bytes, *, keeps: bool = False
    ) -> SharedVerdict:
        """Decide whether a text repeats one that any process kept, and keep it where it does not.

        Args:
            owner: The key of its page, 16 bytes.
            document: A document of the features that :meth:`open` checked.
            about: The bytes that later verdicts return with it.
            keeps: Whether to keep it without asking: a page that goes on being kept with another
                text.

        Raises:
            DocumentError: ``owner`` has another length.
            ServerError: The server refuses for good; what is only an outage is waited for.

        Complexity: 2 round trips, 3 more for a text that is kept; `neardup.storage.redis.postings`
        says how many lists are read.
        """
        _check_owner(owner)
        parameters, source = self._parameters, self._source
        if document.words < parameters.min_words:
            # It may have been analysed with a lower min_words; such a fingerprint misleads.
            document = replace(document, fingerprint=None)
        if document.digest == EMPTY_DIGEST:
            return SharedVerdict(Verdict(TOO_SHORT))
        verdict = decide(document.words, Evidence(), parameters)
        record = recorded(owner, document, about)
        while True:
            look = await self._shelf.log.look()
            await self._shelf.post_left_behind(look)
            findings = await self._shelf.find(record.head, look, parameters.radius)
            if await self._is_own(record, look, findings):
                return SharedVerdict(verdict)
            if not keeps:
                shared = await source.find(record.head, document.text, findings)
                verdict = decide(document.words, shared.evidence, parameters)
                if verdict.duplicate_of is not None:
                    return SharedVerdict(verdict, shared.originals[verdict.duplicate_of])
            if await self._keep(record, look, parameters.radius, keeps=keeps):
                return SharedVerdict(verdict)

    async def _is_own(self, record: Record, look: Look, findings: Findings) -> bool:
        number = await self._source.own(record.head, findings)
        if number in look.recent:
            # Its first reply was lost, or its first judge died.
            await self._shelf.post_entry(number)
        return number is not None

    async def _keep(self, record: Record, look: Look, radius: int, *, keeps: bool) -> bool:
        """Keep it, unless another came since the look that may be near."""
        packed = record.packed()
        number = await self._shelf.log.commit(record.head, packed, look, radius=radius, keeps=keeps)
        if number is not None:
            await self._shelf.post(number, packed)
        return number is not None

    async def find_payload(self, digest: bytes, owner: bytes) -> SharedVerdict | None:
        """Return the verdict on bytes of this ``payload_digest``, if another page has them.

        This is the cheapest layer, to be asked before there is a text.
        """
        _check_owner(owner)
        look = await self._shelf.log.look()
        found = await self._shelf.find_payload(digest, look)
        original = await self._source.find_payload(owner, digest, found)
        return (
            None if original is None else SharedVerdict(exact_duplicate(original.number), original)
        )

    async def claim_payload(
        self, digest: bytes, owner: bytes, about: bytes
    ) -> SharedVerdict | None:
        """Take the payload of a file that is no page; None: it is yours from now on.

        Returns:
            An exact duplicate where another owner has it. Its original has no number (-1) and no
            text.
        """
        _check_owner(owner)
        stored = await self._shelf.claim(digest, owner, about)
        if stored is None:
            return None
        original = Original(-1, *stored, b"")
        return SharedVerdict(exact_duplicate(original.number), original)

    async def kept(self) -> AsyncIterator[KeptText]:
        """Yield all kept texts by number."""
        async for number, record in self._shelf.all():
            head = record.head
            yield KeptText(
                original_of(number, record),
                record.text,
                record.words,
                head.fingerprint,
                head.payload,
            )

    async def count(self) -> int:
        """Return the number of texts that were kept."""
        return await self._shelf.log.count()


def _check_owner(owner: bytes) -> None:
    if len(owner) != OWNER_BYTES:
        raise DocumentError(f"owner must be {OWNER_BYTES} bytes, got {len(owner)}")
