"""The README and the pages of the site: their code runs, their links lead somewhere, the site is whole.

A page runs in a process and an empty folder of its own. Its ```python blocks share one namespace; blocks
with a title are files, which Python can import (a pyproject.toml is as good as installed); lines that
start with ``$ stopwise`` in ```console blocks are commands. A ```text block right after any of them is
the output that they must have.
"""

from __future__ import annotations

import io
import os
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("**/*.md")])
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOUD = re.compile(r"```(python|console)\n")
WITH_CODE = [page for page in PAGES if LOUD.search(page.read_text())]
HEAVY = DOCS / "your-own-problem.md"  # compiles the generic solver anew, for a minute


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_code_runs(page: Path, tmp_path: Path) -> None:
    run_apart(page, tmp_path, {"NUMBA_DISABLE_JIT": "1"} if page == HEAVY else {})


@pytest.mark.slow
def test_the_heavy_page_runs_compiled(tmp_path: Path) -> None:
    run_apart(HEAVY, tmp_path, {})


def run_apart(page: Path, folder: Path, settings: dict[str, str]) -> None:
    run = subprocess.run(
        [sys.executable, __file__, str(page)],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "COLUMNS": "120", "NO_COLOR": "1", **settings},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def run_page(page: Path) -> None:
    """Every block of a page, in order, in the current folder."""
    text = page.read_text()
    namespace: dict[str, object] = {"__name__": "__docs__"}
    output, end = "", 0
    for block in BLOCK.finditer(text):
        kind, options, body = block.groups()
        line = text.count("\n", 0, block.start(3))
        if title := re.search(r'title="([\w.-]+)"', options):
            Path(title[1]).write_text(body)
            if title[1] == "pyproject.toml":
                install(body)
        elif kind == "python":
            code = compile("\n" * line + body, str(page), "exec")  # errors name the page's own line
            with redirect_stdout(io.StringIO()) as said:
                exec(code, namespace)
            output = said.getvalue()
        elif kind == "console":
            output = "".join(command(each) for each in body.splitlines())
        elif kind == "text" and not text[end : block.start()].strip():
            assert plain(body) == plain(output), f"{name(page)}, line {line} is now:\n{output}"
        end = block.end()


def install(project: str) -> None:
    """Make the entry points of a pyproject.toml known to commands in the current folder."""
    folder = Path("page-1.0.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: page\nVersion: 1.0\n")
    groups = tomllib.loads(project)["project"]["entry-points"]
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in points.items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines))


def command(line: str) -> str:
    """The output of one ``$ stopwise ...``."""
    sign, program, *arguments = shlex.split(line, comments=True)
    assert (sign, program) == ("$", "stopwise"), line
    run = subprocess.run(
        [sys.executable, "-m", "stopwise.cli.main", *arguments], capture_output=True, text=True
    )
    assert run.returncode == 0, f"{line}\n{run.stderr}"
    return run.stdout


def plain(text: str) -> list[list[str]]:
    """Words in lines, without blank lines, rules of tables, hashes and the digits of rounding errors."""
    text = re.sub(r"\b[0-9a-f]{32}\b", "hash", re.sub(r"\d\.\d+e-1\d\b", "tiny", text))
    lines = [line.split() for line in text.splitlines()]
    return [line for line in lines if set("".join(line)) - {"─"}]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_section_is_there_twice(page: Path) -> None:
    titles = re.findall(r"^##+ .*$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    assert sorted(titles) == sorted(set(titles))


def test_the_demo_runs(tmp_path: Path) -> None:
    import runpy

    demo = runpy.run_path(str(ROOT / "examples" / "first_look.py"))
    assert demo["picture"](tmp_path).stat().st_size > 10_000


def test_the_headline_is_measured_with_todays_code() -> None:
    import runpy

    shown = " ".join((ROOT / "README.md").read_text().split())
    example = runpy.run_path(str(ROOT / "examples" / "headline.py"))
    first, second = (example["measure"](*rule) for rule in list(example["RULES"].items())[:2])
    assert f"{first.samples:,.0f} +- {first.error:,.0f}; the mixture e-process" in shown
    assert f"mixture e-process needs {second.samples:,.0f}," in shown


def test_every_public_name_is_in_the_reference() -> None:
    import stopwise

    text = "".join(page.read_text() for page in (DOCS / "reference").glob("*.md"))
    listed = re.findall(r"^::: stopwise\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(stopwise.__all__)
    assert all(getattr(stopwise, each).__doc__ for each in stopwise.__all__)


def test_every_command_is_in_the_reference() -> None:
    import stopwise.cli
    from stopwise.cli.main import app

    for module in pkgutil.iter_modules(stopwise.cli.__path__):
        import_module(f"stopwise.cli.{module.name}")  # registers its commands
    groups = [
        ("", app),
        *((f"{each.name} ", each.typer_instance) for each in app.registered_groups),
    ]
    page = (DOCS / "reference" / "command-line.md").read_text()
    for prefix, group in groups:
        for each in group.registered_commands:
            called = each.name or each.callback.__name__.replace("_", "-")
            assert f"stopwise {prefix}{called}" in page


def test_pictures_are_small() -> None:
    for picture in (DOCS / "images").glob("**/*.png"):
        assert picture.stat().st_size <= 120_000, picture.name


class Requests(HTMLParser):
    """What a browser fetches to show a page: everything but the targets of <a>."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag != "a":
            self.addresses += [
                value or "" for key, value in attributes if key in ("src", "href", "srcset", "data")
            ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in strict mode: a warning is an error (but not with --quiet: none is seen)."""
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return folder


def test_the_site_makes_no_request_to_others(site: Path) -> None:
    pages = list(site.glob("**/*.html"))
    assert len(pages) >= len(list(DOCS.glob("**/*.md")))
    for page in pages:
        for address in Requests(page).addresses:
            assert not re.match(r"(?i)(\w+:)?//", address), f"{page.name}: {address}"
        assert 'class="mermaid"' not in page.read_text()  # a script from afar would draw it
    for style in site.glob("**/*.css"):
        assert not re.search(r"(?i)(url\(\s*[\"']?|@import\s*[\"'])(\w+:)?//", style.read_text())


def test_search_needs_no_server(site: Path) -> None:
    assert (site / "search" / "search_index.js").stat().st_size > 10_000
    assert "stopwise" in (site / "search" / "search_index.js").read_text()
    front = (site / "index.html").read_text()
    assert 'src="assets/iframe-worker.js"' in front


if __name__ == "__main__":
    sys.path.insert(0, "")
    run_page(Path(sys.argv[1]))
