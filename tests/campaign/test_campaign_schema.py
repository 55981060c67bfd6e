"""The JSON Schema of a spec says what the library says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import stopwise as sw
import stopwise.cli.campaign  # registers its commands
from stopwise.campaign import spec as specs
from stopwise.campaign.schema import schema
from stopwise.cli.main import app
from stopwise.core import registry

BASE = {
    "question": "best-arm",
    "arms": ["A", "B", "C"],
    "family": {"kind": "gaussian", "variance": 1},
    "delta": 0.05,
}
BOX = [
    {"answer": "yes", "cells": [{"upper": [0, 0, 0]}]},
    {"answer": "no", "cells": [{"lower": [0] * 3}]},
]
BALLS = [
    {"answer": "in", "cells": [{"center": [0, 0, 0], "radius": 1, "outside": True}]},
    {"answer": "out", "cells": [{"center": [0, 0, 0], "radius": 1}]},
]
PART = {"kind": "best-arm", "arms": [0, 1]}
LAST = {"kind": "thresholding", "threshold": 0.1, "arms": [2]}
NESTED = {"kind": "product", "parts": [PART], "arms": [0, 1]}

ACCEPTED: list[dict[str, Any]] = [
    {},
    {"question": {"kind": "best-arm", "epsilon": 0.01}, "family": "bernoulli"},
    {"question": "best-arm:epsilon=0.1"},
    {"question": "thresholding:threshold=0.5"},
    {"question": {"kind": "thresholding", "threshold": -1}},
    {"question": {"kind": "minimum-threshold", "threshold": 0.5, "epsilon": 0.1}},
    {"question": {"kind": "any-low-arm", "threshold": 0.5}},
    {"question": "any-sign"},
    {"question": {"kind": "any-half-space", "normals": [[1, 0, 0], [0, 1, 1]], "offsets": [0, 0.5]}},
    {"question": "any-half-space:normals=[[1,0,0],[0,1,1]],offsets=[0,0.5]"},
    {"question": {"kind": "all-half-spaces", "normals": [[1, 0, 0]]}},
    {"question": {"kind": "sphere", "radius": 2, "center": [0, 0, 1]}},
    {"question": {"kind": "product", "parts": [PART, LAST]}},
    {"question": {"kind": "product", "parts": [NESTED, LAST]}},
    {"question": {"kind": "cells", "alternatives": BOX, "models": {"lower": [-9, -9, -9]}}},
    {"question": {"kind": "cells", "alternatives": BALLS}},
    {"family": {"kind": "gaussian", "variance": 0.25}},
    {"family": "gaussian:variance=0.25"},
    {"family": {"kind": "binomial", "trials": 5}},
    {"family": {"kind": "bounded", "low": -1, "high": 2}},
    {"family": {"kind": "negative-binomial", "successes": 3}},
    {"family": {"kind": "inverse-gaussian", "shape": 1}, "stopping": "mixture-martingale"},
    {"stopping": "stylized"},
    {"stopping": {"kind": "mixture", "center": 20, "spread": 2}},
    {"strategy": {"kind": "track-and-stop", "tracking": "D"}},
    {"strategy": {"kind": "fixed-weights", "weights": [1, 0.5, 1]}},
    {"strategy": {"kind": "sticky-track-and-stop", "order": [2, 1, 0]}},
    {"budget": 3, "costs": [1, 2.5, 3]},
    {"budget": None, "costs": None},
]  # fmt: skip
REFUSED: list[dict[str, Any]] = [
    *({"question": each} for each in (None, 7, [], {}, {"epsilon": 1}, "worst-arm", "best-arm:eps=1")),
    {"question": {"kind": "best-arm", "eps": 1}},
    {"question": {"kind": "best-arm", "epsilon": -1}},
    {"question": {"kind": "best-arm", "epsilon": "x"}},
    {"question": {"kind": "best-arm", "epsilon": True}},
    {"question": {"kind": "best-arm", "arms": 3}},
    {"question": "thresholding"},
    {"question": {"kind": "thresholding"}},
    {"question": {"kind": "sphere", "radius": 0}},
    {"question": {"kind": "any-half-space", "normals": []}},
    {"question": {"kind": "any-half-space", "normals": "x"}},
    {"question": {"kind": "product"}},
    {"question": {"kind": "product", "parts": [3]}},
    {"question": {"kind": "product", "parts": ["best-arm"]}},
    {"question": {"kind": "product", "parts": [{"kind": "best-arm"}]}},
    {"question": {"kind": "product", "parts": [{"kind": "best-arm", "arms": [0.5, 1, 2]}]}},
    {"question": {"kind": "cells", "alternatives": []}},
    {"question": {"kind": "cells", "alternatives": [{"answer": "yes"}]}},
    {"question": {"kind": "cells", "alternatives": [{"answer": "x", "cells": [{"up": [0, 0, 0]}]}]}},
    {"question": {"kind": "cells", "alternatives": [{"answer": "x", "cells": [{"radius": 1}]}]}},
    {"question": {"kind": "cells", "alternatives": BOX, "models": {"center": [0, 0, 0], "radius": 1}}},
    *({"arms": each} for each in ([], None, "ABC", ["A", "A"], ["A", ""], ["A", "  "], ["A", 1])),
    {"arms": ["A", "x" * 201]},
    {"arms": ["A", "x\ty"]},
    *({"family": each} for each in (None, "cauchy", "binomial", {"kind": "gaussian", "sd": 1})),
    *({"family": each} for each in ("gaussian", {"kind": "gaussian"}, "gamma", "inverse-gaussian")),
    {"family": {"kind": "gaussian", "variance": 0}},
    {"family": {"kind": "binomial", "trials": 2.5}},
    {"family": {"kind": "binomial", "trials": 0}},
    *({"delta": each} for each in (0, 1, -1, "x", True, None, [0.1])),
    *({"stopping": each} for each in ("magic", 7, {"kind": "mixture", "spread": 0})),
    {"stopping": {"kind": "stylized", "x": 1}},
    *({"strategy": each} for each in ("oracle-weights", "best", "fixed-weights", None)),
    {"strategy": {"kind": "track-and-stop", "tracking": "E"}},
    {"strategy": {"kind": "fixed-weights", "weights": [-1, 2, 1]}},
    {"strategy": {"kind": "sticky-track-and-stop", "order": 3}},
    {"strategy": {"kind": "sticky-track-and-stop", "region": 3}},
    *({"budget": each} for each in (0, 2.5, "x", True)),
    *({"costs": each} for each in ([1, 0, 2], 2, [1, "x", 2])),
    {"extra": 1},
]  # fmt: skip


def test_the_command_prints_it() -> None:
    result = CliRunner().invoke(app, ["schema"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == schema()


def test_it_accepts_and_refuses_what_the_library_does() -> None:
    made = schema()
    Draft202012Validator.check_schema(made)
    validator = Draft202012Validator(made)
    for changes in ACCEPTED:
        specs.refuse_unsaid(specs.make({**BASE, **changes}))
        validator.validate({**BASE, **changes})
    for changes in REFUSED:
        with pytest.raises(sw.StopwiseError):
            specs.refuse_unsaid(specs.make({**BASE, **changes}))
        assert not validator.is_valid({**BASE, **changes}), changes
    for key in BASE:
        assert not validator.is_valid({k: v for k, v in BASE.items() if k != key}), key


def test_it_accepts_specs_with_their_defaults() -> None:
    validator = Draft202012Validator(schema())
    for changes in ACCEPTED:
        validator.validate(specs.make({**BASE, **changes}).table)


def test_every_kind_is_in_it() -> None:
    text = json.dumps(schema())
    for role in registry.ROOMS:
        for kind in registry.names(role):
            assert (f'"const": "{kind}"' in text) == (kind != "oracle-weights"), kind


def test_sticky_of_old_specs_means_what_it_meant() -> None:
    """Specs without ``close`` are those of 0.3.0 and before; new ones spell it out."""
    table = {
        "question": {"kind": "better-than", "epsilon": 0.2},
        "arms": ["control", "a", "b"],
        "family": "bernoulli",
        "delta": 0.1,
        "strategy": "sticky-track-and-stop",
    }
    old, new = specs.make({**table, "order": "asked"}), specs.read(table)
    assert old.table["strategy"] == "sticky-track-and-stop"
    assert old.design.given.strategy.close == "never"
    assert new.table["strategy"] == {"kind": "sticky-track-and-stop", "close": "bounded"}
    assert new.design.given.strategy.close == "bounded"
    assert specs.like(specs.read(table), old.table).key == old.key  # the same file finds either
    assert specs.like(specs.read(table), new.table).key == new.key
    usual = specs.read({key: value for key, value in table.items() if key != "strategy"})
    assert usual.design.given.strategy.close == "bounded"
