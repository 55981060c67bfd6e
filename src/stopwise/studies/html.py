"""Pages that stand alone: one HTML file with tables and pictures, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from io import BytesIO
from typing import Any

from stopwise.core.tables import html_table

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; text-align: right; white-space: nowrap;
         border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
th { text-align: right; font-weight: 600; }
.settings td { text-align: left; white-space: normal; vertical-align: top; }
td:nth-child(-n+3), th:nth-child(-n+3) { text-align: left; }
figure { margin: 1.5rem 0; }
figure img { max-width: 100%; height: auto; background: white; border-radius: 6px; }
figcaption, .note { font-size: 0.9rem; opacity: 0.8; max-width: 60rem; }
"""


def document(title: str, body: str, style: str = "") -> str:
    """The whole page; ``style`` is added to what all pages share."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}{style}</style></head>
<body><h1>{escape(title)}</h1>
{body}
</body></html>
"""


def captioned(figure: Any, caption: str) -> str:
    """A picture with words below it, which also stand for it where it cannot be seen."""
    words = escape(caption)
    picture = f'<img alt="{words}" src="{_embedded(figure)}">'
    return f"<figure>{picture}<figcaption>{words}</figcaption></figure>"


def _embedded(figure: Any) -> str:
    content = BytesIO()
    figure.savefig(content, format="svg")
    return f"data:image/svg+xml;base64,{base64.b64encode(content.getvalue()).decode()}"


def settings_table(about: Mapping[str, Any]) -> str:
    """What a page is about: names and values."""
    rows = []
    for name, value in about.items():
        parts = [f"{k}: {_short(v)}" for k, v in value.items()] if isinstance(value, dict) else []
        rows.append([name, "; ".join(parts) or _short(value)])
    return f'<div class="settings">{html_table(["", ""], rows)}</div>'


def _short(value: Any) -> str:
    """Numbers at four digits."""
    if isinstance(value, list):
        return ", ".join(_short(each) for each in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
