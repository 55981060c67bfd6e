"""The page in a real Chromium, against a real service: both are processes of their own.

Tests that need them fail where Chromium is not installed: they are never skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

import serving

AXE = Path(__file__).parents[1] / "assets" / "axe.min.js"
PATIENCE = 120.0  # seconds: code for a new kind of question may have to be compiled
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    # nothing but this machine has an address: a request to anywhere else fails, and is seen
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


class Service(serving.Service):
    """``stopwise serve`` in a process of its own, and requests as workers make them."""

    def __init__(self, storage: str, port: int = 0) -> None:
        folder = Path(tempfile.gettempdir())
        super().__init__(storage, folder, "--log-level", "warning", port=port)

    def call(self, path: str, body: Any = None, token: str | None = None) -> Any:
        """A request, as workers make it."""
        headers = {"content-type": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def campaign(self, name: str, rest: str = "", body: Any = None) -> Any:
        """A request about a campaign."""
        return self.call(f"/api/campaigns/{urllib.parse.quote(name, safe='')}{rest}", body)

    def create(self, name: str, **spec: Any) -> None:
        """A campaign, best arm of coins unless said otherwise."""
        usual = {"question": "best-arm", "family": "bernoulli", "delta": 0.1}
        self.call("/api/campaigns", {"name": name, "spec": {**usual, **spec}})

    def work(self, name: str, values: Any, most: int, pause: float = 0.0) -> bool:
        """Ask and tell so often, or until there is a decision; whether there is one."""
        for place in range(most):
            try:
                (ticket,) = self.campaign(name, "/ask", {})
            except urllib.error.HTTPError as error:
                if error.code != 409:
                    raise
                return True
            told = {"token": ticket["token"], "value": values(place, ticket["arm"])}
            if self.campaign(name, "/tell", told)["decided"]:
                return True
            time.sleep(pause)
        return False

    def work_items(self, name: str, values: Any, most: int) -> None:
        """So many results of a paired campaign, or until it is decided."""
        for ticket in self.campaign(name, "/ask", {"n": most}):
            told = {"token": ticket["token"], "value": values(ticket["item"], ticket["arm"])}
            self.campaign(name, "/tell", told)

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()


class Window:
    """A page, and all that it asked for and complained about."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.address = address
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.sizes: list[int] = []  # of answers to /page
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("response", self._measure)
        self.page: Page = context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def _measure(self, answer: Any) -> None:
        if answer.url.endswith("/page") and answer.ok:
            self.sizes.append(int(answer.headers["content-length"]))

    def open(self, route: str) -> None:
        """Show a view."""
        self.page.goto(f"{self.address}/{route}")

    def tab_to(self, name: str, most: int = 80) -> None:
        """Press Tab until what has the focus is called so."""
        seen = []
        for _ in range(most):
            self.page.keyboard.press("Tab")
            seen.append(self.focused())
            if seen[-1] == name:
                return
        raise AssertionError(f"{name} cannot be reached with Tab; what can: {seen}")

    def focused(self) -> str:
        """What the element with the focus is called."""
        text: str = self.page.evaluate(
            """() => {
              const at = document.activeElement;
              const label = at.labels?.[0]?.textContent;
              return (at.getAttribute("aria-label") ?? label ?? at.textContent).trim();
            }"""
        )
        return text

    def violations(self) -> list[str]:
        """What axe-core finds wrong."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {[node['html'][:150] for node in each['nodes']]}"
            for each in found["violations"]
        ]

    def check(self) -> None:
        """Nothing from elsewhere, no complaint, small answers."""
        own = (f"{self.address}/", f"blob:{self.address}/")
        assert [each for each in self.requests if not each.startswith(own)] == []
        assert self.complaints == []
        assert max(self.sizes, default=0) < 100_000


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a head and with an empty profile."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert program, "chromium is missing: these tests need it (apt install chromium)"
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield made
        made.close()
