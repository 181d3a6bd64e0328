"""Judge the documents of many processes: a text is kept once among all of them."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from neardup.cascade import exact_duplicate
from neardup.document import Document, signed
from neardup.errors import DocumentError, ParameterError, ServerError
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.parameters import Parameters
from neardup.storage.redis.commit_log import Commit, Compared, Look
from neardup.storage.redis.head_format import (
    OWNER_BYTES,
    Limits,
    Record,
    limits_of,
    recorded,
)
from neardup.storage.redis.record_lists import count_hashes
from neardup.storage.redis.server import Server
from neardup.storage.redis.shared_evidence import (
    NO_EVIDENCE,
    KeptText,
    Original,
    SharedEvidence,
    SharedEvidenceSource,
    SharedVerdict,
    original_of,
)
from neardup.storage.redis.text_store import Findings, TextStore, found_in
from neardup.verdict import TOO_SHORT, Verdict
from neardup.verification import JaccardVerifier

FORMAT = 6


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
        "hashes": count_hashes(server),
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
    duplicate. A text of it that is kept is never a duplicate when it is judged again, and what it
    resembles is looked for among the texts that were kept before it, as it was.

    Args:
        server: The server of the kept texts.
        parameters: The parameters that decide which texts are the same.
        blocks: The number of blocks of a fingerprint, 3 to 6: fewer for more texts.

    Raises:
        ParameterError: ``blocks`` out of range, or ``drop_contained``, as no parts are looked for
            here.
    """

    def __init__(self, server: Server, parameters: Parameters, *, blocks: int = 4) -> None:
        _check_parts(parameters)
        self._server = server
        self._parameters = parameters
        self._blocks = blocks
        self._text_store = TextStore(server, blocks=blocks)
        verifier = JaccardVerifier(parameters.verify_shingle_size)
        self._source = SharedEvidenceSource(self._text_store, parameters, verifier)

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
            ParameterError: They are of other features, of another ``verify_shingle_size``, or with
                ``drop_contained``.
        """
        for name in ("fingerprint_features", "verify_shingle_size"):
            stored, wanted = getattr(self._parameters, name), getattr(parameters, name)
            if stored != wanted:
                raise ParameterError(f"{name} must stay {stored}, got {wanted}; open another one")
        _check_parts(parameters)
        self._parameters = parameters
        self._source = replace(self._source, parameters=parameters)

    async def judge(
        self,
        owner: bytes,
        document: Document,
        about: bytes,
        *,
        keeps: bool = False,
        beside: Callable[[], bytes] = bytes,
    ) -> SharedVerdict:
        """Decide whether a text repeats one that any process kept, and keep it where it does not.

        Args:
            owner: The key of its page, 16 bytes.
            document: A document of the features that :meth:`open` checked.
            about: The bytes that later verdicts return with it.
            keeps: Whether to keep it without asking: a page that goes on being kept with another
                text.
            beside: Returns bytes that are held beside the text if it is kept, for :meth:`beside`;
                on a cluster they are lost where this process dies before its last round trip.

        Raises:
            DocumentError: ``owner`` has another length.
            ServerError: The server refuses for good; what is only an outage is waited for.

        Complexity: 1 round trip (2 on a cluster), 1 more for the heads of near texts that are not
        known here yet, 1 where more than 1,000 are near, 1 for each 8 texts of the same name that
        are read, 1 or more for those of other names, 1 for a text that is kept (3 on a cluster),
        and 2 or more where near texts of the same name came meanwhile. 16 lists are read for the
        bands; ``neardup.storage.redis.postings`` says how many for the fingerprint.
        """
        _check_owner(owner)
        parameters = self._parameters
        if document.words < parameters.min_words:
            # It may have been analysed with a lower min_words; such a fingerprint misleads.
            document = replace(document, fingerprint=None, signature=None, sample=None)
        if parameters.verify:
            document = signed(document, parameters)
        else:
            # The distance decides alone.
            document = replace(document, signature=None)
        if document.digest == EMPTY_DIGEST:
            return SharedVerdict(Verdict(TOO_SHORT))
        judging = _Judging(
            *(self._text_store, self._source, recorded(owner, document, about), document, beside),
            keeps=keeps,
        )
        while (shared := await judging.judged()) is None:
            pass
        return shared

    async def find_payload(self, digest: bytes, owner: bytes) -> SharedVerdict | None:
        """Return the verdict on bytes of this ``payload_digest``, if another page has them.

        This is the cheapest layer, to be asked before there is a text.
        """
        _check_owner(owner)
        found = await self._text_store.find_payload(digest)
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
        stored = await self._text_store.claim(digest, owner, about)
        if stored is None:
            return None
        original = Original(-1, *stored, b"")
        return SharedVerdict(exact_duplicate(original.number), original)

    async def kept(self) -> AsyncIterator[KeptText]:
        """Yield all kept texts by number."""
        async for number, record in self._text_store.all():
            yield KeptText(original_of(number, record), record.text)

    async def beside(self, number: int) -> bytes | None:
        """Return the bytes that the owner of a kept text stored beside it; None: there are none."""
        return await self._text_store.beside(number)

    async def count(self) -> int:
        """Return the number of texts that were kept."""
        return await self._text_store.log.count()


@dataclass(frozen=True, slots=True)
class _Judging:
    """One text that is judged, and kept where it repeats none.

    Attributes:
        text_store: The kept texts.
        source: Looks for those that it may repeat.
        record: The text as it is to be kept.
        document: The text.
        beside: Returns the bytes that are held beside it.
        keeps: Whether it is kept without asking.
    """

    text_store: TextStore
    source: SharedEvidenceSource
    record: Record
    document: Document
    beside: Callable[[], bytes]
    keeps: bool

    async def judged(self) -> SharedVerdict | None:
        """Return the verdict; None: what it was compared with is not what the log has now."""
        look, findings = await self._look()
        found, compared = NO_EVIDENCE, look.compared
        while True:
            number = await self.source.own(self.record.head, findings)
            if number is not None:
                # Its first reply was lost, its first judge died, or its page was read once more.
                await self.text_store.post_entry(number, self.beside())
                return await self._verdict_of_kept(number)
            if not self.keeps:
                later = await self.source.find(self.record.head, self.document, findings)
                found = found.joined(later)
            shared = self._decided(found)
            if shared.original is not None:
                return shared
            commit = await self._commit(compared)
            if commit.number is not None:
                if commit.others and shared.resembled is None:
                    return await self._verdict_of_kept(commit.number)
                return shared
            if commit.near is None:
                return None
            findings = found_in(commit.near, self.record.head, self._limits)
            compared = commit.compared

    async def _verdict_of_kept(self, number: int) -> SharedVerdict:
        """Return the verdict by what was kept before it: as it is kept, it repeats nothing."""
        nothing = self._decided(NO_EVIDENCE)
        if self.keeps:
            return nothing
        _, findings = await self._look()
        found = await self.source.find(self.record.head, self.document, findings.below(number))
        shared = self._decided(found)
        return shared if shared.original is None else nothing

    async def _look(self) -> tuple[Look, Findings]:
        return await self.text_store.find(self.record.head, self._limits)

    async def _commit(self, compared: Compared) -> Commit:
        return await self.text_store.keep(
            self.record, compared, self._limits, self.beside, keeps=self.keeps
        )

    def _decided(self, found: SharedEvidence) -> SharedVerdict:
        return found.decided(self.document.words, self.source.parameters)

    @property
    def _limits(self) -> Limits:
        return limits_of(self.source.parameters)


def _check_owner(owner: bytes) -> None:
    if len(owner) != OWNER_BYTES:
        raise DocumentError(f"owner must be {OWNER_BYTES} bytes, got {len(owner)}")


def _check_parts(parameters: Parameters) -> None:
    if parameters.drop_contained:
        raise ParameterError("no parts are looked for in Redis; leave out drop_contained")
