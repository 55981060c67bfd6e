"""What came of an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from stopwise.campaign.events import Decision


@dataclass(frozen=True)
class Import:
    """What came of a file: its rows, how many are new, how many count, and the decision."""

    rows: int
    new: int
    known: int  # on record before
    counted: int  # of all rows: up to the decision, or all
    order: str  # of the new rows
    seed: str  # of that order, if it is random
    decision: Decision | None

    def __repr__(self) -> str:
        found = f"{self.rows:,} rows"
        if self.known:
            found += f" ({self.new:,} new, {self.known:,} known)"
        if self.decision is None:
            found += ", no decision yet"
        else:
            found += (
                f"; decided after {self.counted:,} of them: {self.decision.text} "
                f"(evidence {self.decision.evidence:.3f}, threshold {self.decision.threshold:.3f})"
            )
        return f"{found}\norder of the new rows: {self.order}" if self.new else found

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        found = asdict(self)
        found["decision"] = None if self.decision is None else self.decision._asdict()
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Import:
        """What ``to_dict`` gave, perhaps by way of JSON."""
        return cls(
            **{**found, "decision": found["decision"] and Decision.from_dict(found["decision"])}
        )
