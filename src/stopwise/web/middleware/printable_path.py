"""Control characters in an address: no campaign has them, and nobody should read past them."""

from __future__ import annotations

import re

from starlette.responses import Response
from starlette.types import Scope

from stopwise.web.middleware.http import refusal

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class PrintablePath:
    """Refuses them: for a regular expression, "close" ends before a line feed, too."""

    def refusal(self, scope: Scope) -> Response | None:
        """Why a request does not pass."""
        path: str = scope["path"]
        if path.isprintable() or CONTROL.search(path) is None:
            return None
        return refusal(400, "BadPath", "the path has a control character. Remove it.")
