"""Whatever the OpenAPI file allows, or not, the service answers within it, and never with a 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import stopwise as sw
from serving import SPEC, Service, serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("openapi")
    with serving(f"sqlite:///{folder}/store.db", folder, "--log-level", "warning") as found:
        client = sw.Client(found.url, spool=folder / "spool.db")
        client.create(SPEC, "known").ask(3)
        client.create({**SPEC, "paired": True}, "known pairs").ask(3)
        yield found


@pytest.fixture(scope="module")
def api(service: Service) -> Any:
    found = schemathesis.openapi.from_url(f"{service.url}/api/openapi.json")
    return found.exclude(path_regex="stream$")  # it does not end


def test_answers_are_those_of_the_file(api: Any) -> None:
    seen = []
    for found in api.get_all_operations():
        operation = found.ok()
        seen.append(f"{operation.method} {operation.path}")

        @settings(
            max_examples=12,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def answers(case: Any) -> None:
            size = len(str(case.path_parameters.get("name", "")))
            if size % 2:  # half of the time there is such a campaign
                case.path_parameters["name"] = "known" if size % 4 == 1 else "known pairs"
            case.call_and_validate(checks=CHECKS, timeout=120)

        answers()
    assert len(seen) >= 18, seen
