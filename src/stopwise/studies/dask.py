"""A Dask cluster as an executor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stopwise.core.errors import BadArgument, StopwiseError

PATIENCE = 5  # seconds to wait for a scheduler


@contextmanager
def executor_at(address: str | None) -> Iterator[Any]:
    """An executor on the cluster of this scheduler; None without an address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        hint = 'Install "stopwise[dask]".'
        raise BadArgument("dask", address, "an environment with Dask", hint) from error
    try:
        client: Any = Client(address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise StopwiseError(
            f"dask: no scheduler answers at {address} within {PATIENCE} s ({error}). "
            "Start one with `dask scheduler`, or check the address."
        ) from error
    with client:
        yield DaskExecutor(client)


class DaskExecutor:
    """``submit`` on a cluster. A task whose worker dies is computed by another."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._max_workers = max(1, sum(client.nthreads().values()))

    def submit(self, function: Any, *arguments: Any) -> Any:
        """A future; the same task twice is computed twice."""
        return self._client.submit(function, *arguments, pure=False, retries=3)
