"""Whether the service can work. Anybody may ask, so the answer does not say where the store is."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from functools import lru_cache

from starlette.concurrency import run_in_threadpool

from stopwise.campaign.errors import StorageAway, StorageDamaged
from stopwise.campaign.storage.store import Store
from stopwise.core.errors import StopwiseError

log = logging.getLogger("stopwise.web")
FRESH = 1.0  # seconds for which an answer is used again


@lru_cache(maxsize=100)
def log_once(message: str) -> None:
    """Say what the answer does not."""
    log.error(json.dumps({"problem": message}))


class Readiness:
    """One look at the store for all who ask at about the same time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._until, self._problem = 0.0, ""
        self._looking = asyncio.Lock()

    async def check(self) -> None:
        """StorageAway if the store cannot be used, in words without its address."""
        async with self._looking:
            if time.monotonic() >= self._until:
                self._problem = await run_in_threadpool(self._look)
                self._until = time.monotonic() + FRESH
        if self._problem:
            raise StorageAway(self._problem)

    def _look(self) -> str:
        try:
            self._store.check_room()
        except StorageDamaged:
            return "the storage is damaged."
        except StorageAway as error:
            full = "the disk is full" in str(error)
            return f"the storage: {'the disk is full' if full else 'does not answer'}. Try again."
        except (StopwiseError, OSError) as error:
            log_once(str(error))
            return "the storage cannot be used; the service's log says why."
        return ""
