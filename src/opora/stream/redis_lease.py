"""Tells every process that whoever writes a log is alive: a key that lapses when nobody renews it."""

from __future__ import annotations

import asyncio
import logging

from redis.asyncio import Redis
from redis.exceptions import RedisError

from opora.stream.redis_scripts import RENEW

LEASE_SECONDS = 15.0
RENEWALS = 3
"""Renewals within the life of a lease, so that one may fail."""

_log = logging.getLogger(__name__)


class Leases:
    """The leases of this process, renewed together by one task while there are any."""

    def __init__(self, client: Redis, *, owner: str, seconds: float = LEASE_SECONDS) -> None:
        self._client = client
        self._renew = client.register_script(RENEW)
        self._owner = owner
        self._seconds = seconds
        self._held: set[str] = set()
        self._renewing: asyncio.Task[None] | None = None

    @property
    def milliseconds(self) -> int:
        return int(self._seconds * 1000)

    def hold(self, key: str) -> None:
        self._held.add(key)
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._keep(), name="redis leases")

    def drop(self, key: str) -> None:
        """Renew it no more: the log has come to its end, or can't be written."""
        self._held.discard(key)
        if not self._held and self._renewing is not None:
            self._renewing.cancel()
            self._renewing = None

    async def close(self) -> None:
        renewing, self._renewing = self._renewing, None
        self._held.clear()
        if renewing is not None:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / RENEWALS)
            try:
                async with self._client.pipeline(transaction=False) as pipeline:
                    for key in self._held:
                        await self._renew(keys=[key], args=[self._owner, self.milliseconds], client=pipeline)
                    await pipeline.execute()
            except (RedisError, OSError) as exc:
                _log.warning("Leases of answers in progress could not be renewed: %s", exc)
