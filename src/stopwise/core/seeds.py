"""Where random numbers begin: ``seed``, a number, or ``rng``, as in scientific Python's SPEC 7."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.errors import BadArgument

RngLike = int | np.random.SeedSequence | np.random.Generator
ALLOWED = "a whole number of at least 0, a numpy SeedSequence or a numpy Generator"


def chosen_seed(seed: Any, rng: Any, default: int | None = None) -> int:
    """The seed that was given, in either way; else the default, or one at random if there is none.

    ``rng=5`` is ``seed=5``. A SeedSequence always gives the same seed; a Generator is asked for one, so
    that the next call gets another.
    """
    if rng is None:
        if seed is not None:
            return checks.seed(seed)
        return secrets.randbits(64) if default is None else default
    if seed is not None:
        hint = "Both say where random numbers begin."
        raise BadArgument("rng", rng, "nothing beside ``seed``", hint)
    if isinstance(rng, np.random.SeedSequence):
        return _of_sequence(rng)
    if isinstance(rng, np.random.Generator):
        return int.from_bytes(rng.bytes(16), "little")
    if isinstance(rng, int | np.integer):
        return checks.whole("rng", rng, 0, checks.LARGEST_SEED)
    old = isinstance(rng, np.random.RandomState)
    hint = "Use np.random.default_rng(...) in place of RandomState." if old else ""
    raise BadArgument("rng", rng, ALLOWED, hint)


def _of_sequence(sequence: np.random.SeedSequence) -> int:
    """A function of its entropy and spawn key; of SeedSequence(n) it is n."""
    entropy, plain = sequence.entropy, sequence.spawn_key == () and sequence.pool_size == 4
    if plain and isinstance(entropy, int | np.integer) and entropy <= checks.LARGEST_SEED:
        return int(entropy)
    return int.from_bytes(sequence.generate_state(4).tobytes(), "little")
