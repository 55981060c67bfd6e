"""The proxy of docs/operate.md, run for real: with TLS, before a service that is closed."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import stopwise as sw
from serving import JSON, SCRIPT, SPEC, Service, serving, until
from stopwise.campaign.storage.store import Store

PAGE = Path(__file__).parents[2] / "docs" / "operate.md"
HOST = "tests.example.org"
AROUND = """
daemon off; pid {folder}/pid; error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    include {folder}/stopwise.conf;
}}
"""


class Proxy(NamedTuple):
    """nginx before a service."""

    port: int
    service: Service
    certificate: Path
    tokens: dict[str, str]  # by role

    def connect(self, source: str = "127.0.0.1") -> http.client.HTTPSConnection:
        """A connection from this address, that checks the certificate."""
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        line = http.client.HTTPSConnection(HOST, self.port, timeout=120, context=trusted)
        plain = socket.create_connection(("127.0.0.1", self.port), 120, (source, 0))
        line.sock = trusted.wrap_socket(plain, server_hostname=HOST)
        return line

    def send(
        self, method: str, path: str, body: Any = None, source: str = "127.0.0.1", **headers: str
    ) -> tuple[int, Any]:
        """One request."""
        with closing(self.connect(source)) as line:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            content = None if body is None else json.dumps(body)
            line.request(method, path, content, {**(JSON if body is not None else {}), **named})
            answer = line.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def as_(self, role: str) -> dict[str, str]:
        """The header that gives a role."""
        return {"authorization": f"Bearer {self.tokens[role]}"}


def documented() -> tuple[str, list[list[str]]]:
    """The file of nginx, and the commands below it."""
    found = re.search(
        r'```nginx title="stopwise.conf"\n(.*?)```\n\n```bash\n(.*?)```',
        PAGE.read_text(),
        re.DOTALL,
    )
    assert found
    commands = [line.split("#")[0].split() for line in found[2].splitlines()]
    return found[1], commands


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def certificate(folder: Path) -> tuple[Path, Path]:
    public, private = folder / "public.pem", folder / "private.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-out", public, "-keyout", private],
        check=True, capture_output=True,
    )  # fmt: skip
    return public, private


@contextmanager
def nginx(folder: Path, text: str, service: Service) -> Iterator[tuple[int, Path]]:
    """The documented file, but for the port, the certificate's place and the service's port."""
    port, (public, private) = free_port(), certificate(folder)
    for old, new in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("/etc/ssl/tests.example.org.pem", str(public)),
        ("/etc/ssl/private/tests.example.org.key", str(private)),
        ("http://127.0.0.1:8123", f"http://127.0.0.1:{service.port}"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "stopwise.conf").write_text(text)
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(user + AROUND.format(folder=folder))
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "make test installs it"
    process = subprocess.Popen([program, "-p", folder, "-c", folder / "nginx.conf"])
    try:
        until(lambda: _answers(port))
        yield port, public
    finally:
        process.terminate()
        process.wait(timeout=120)


def _answers(port: int) -> bool:
    with suppress(ConnectionError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """The commands of the page, then nginx with its file."""
    folder = tmp_path_factory.mktemp("nginx")
    text, (create, serve) = documented()
    assert (create[:3], serve[:3]) == (
        ["stopwise", "token", "create"],
        ["stopwise", "serve", "campaigns.db"],
    )
    tokens = {}
    for role in ("admin", "work"):
        command = [sys.executable, "-c", SCRIPT, *create[1:]]
        command[command.index("admin")] = role
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        tokens[role] = done.stdout.strip()
    with (
        serving("campaigns.db", folder, *serve[3:]) as service,
        nginx(folder, text, service) as (port, public),
    ):
        yield Proxy(port, service, public, tokens)


def test_it_is_not_open_to_the_world(proxy: Proxy) -> None:
    for path in ("/api/campaigns", "/metrics", "/api/openapi.json"):
        assert proxy.send("GET", path)[0] == 401
        assert proxy.send("GET", path, **proxy.as_("work"))[0] == 200
    assert proxy.send("GET", "/")[0] == 200, "the page, which asks for a token"
    assert proxy.send("GET", "/health")[1]["status"] == "fine"
    new = {"name": "mine", "spec": SPEC}
    assert proxy.send("POST", "/api/campaigns", new)[0] == 401
    assert proxy.send("POST", "/api/campaigns", new, **proxy.as_("work"))[0] == 403
    assert proxy.send("POST", "/api/campaigns%0A", new, **proxy.as_("work"))[0] == 400
    assert proxy.send("GET", "/", host="evil.example")[0] == 421


def test_the_page_s_own_requests_pass(proxy: Proxy) -> None:
    new, own = {"name": "own", "spec": SPEC}, f"https://{HOST}:{proxy.port}"
    admin = proxy.as_("admin")
    assert proxy.send("POST", "/api/campaigns", new, origin=own, **admin)[0] == 201
    foreign = {**admin, "origin": "https://evil.example"}
    assert proxy.send("POST", "/api/campaigns", new, **foreign)[0] == 403


def test_events_are_streamed_as_they_come(proxy: Proxy) -> None:
    admin = proxy.as_("admin")
    assert proxy.send("POST", "/api/campaigns", {"name": "live", "spec": SPEC}, **admin)[0] == 201
    with closing(proxy.connect()) as line:
        line.request("GET", "/api/campaigns/live/stream", headers=admin)
        answer = line.getresponse()
        assert answer.readline() == b"retry: 1000\n"
        for number in (1, 2):
            body = {"arm": 0, "value": 1}
            assert proxy.send("POST", "/api/campaigns/live/record", body, **admin)[0] == 200
            while not (got := answer.readline()).startswith(b"data: "):
                assert got  # a line that does not come is a time-out
            assert json.loads(got[6:])["last"] == number, "each before the next is told"


def test_clients_are_known_by_their_own_address(proxy: Proxy) -> None:
    marked = f"/api/campaigns/{time.time_ns()}"
    for said in ({}, {"x_forwarded_for": "10.9.8.7"}):
        assert proxy.send("GET", marked, source="127.0.0.5", **said)[0] == 401

    def logged() -> bool:
        lines = [json.loads(line) for line in list(proxy.service.lines)]
        return [line["client"] for line in lines if line["path"] == marked] == ["127.0.0.5"] * 2

    until(logged)


def test_one_address_does_not_use_up_the_others_allowance(proxy: Proxy) -> None:
    statuses = []
    assert proxy.send("GET", "/api/campaigns", source="127.0.0.6", **proxy.as_("work"))[0] == 200
    with closing(proxy.connect("127.0.0.6")) as line:
        for k in range(900):  # nginx closes a connection after a thousand
            line.request("GET", "/api/campaigns", headers={"authorization": f"Bearer sw_{k}_x"})
            answer = line.getresponse()
            answer.read()
            statuses.append(answer.status)
    assert set(statuses) == {401, 429}
    assert proxy.send("GET", "/api/campaigns", source="127.0.0.7")[0] == 401
    assert proxy.send("GET", "/api/campaigns", source="127.0.0.6", **proxy.as_("work"))[0] == 200


def test_names_with_a_slash_pass_the_proxy(proxy: Proxy) -> None:
    store, admin = Store(f"sqlite:///{proxy.service.folder}/campaigns.db"), proxy.as_("admin")
    sw.Campaign.create(SPEC, store, "to be old")
    with store.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE stopwise_campaigns SET name = 'team/x' WHERE name = 'to be old'"
        )
    store.close()
    status, found = proxy.send("GET", "/api/campaigns/team%2Fx", **admin)
    assert (status, found["name"]) == (200, "team/x")
    body = {"arm": 0, "value": 1}
    assert proxy.send("POST", "/api/campaigns/team%2Fx/record", body, **admin)[0] == 200
