"""Why a paired campaign does what it does, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from stopwise.campaign.explain import LISTED, Explanation, loss_warning
from stopwise.campaign.replica import Snapshot
from stopwise.campaign.results import Lead
from stopwise.campaign.spec import CampaignSpec
from stopwise.campaign.status import Status


def explain_pairs(
    name: str, spec: CampaignSpec, seen: Snapshot, now: float, leads: Sequence[Lead]
) -> Explanation:
    """From a snapshot; ``leads`` has the differences that matter."""
    session, status = seen.session, Status.of(name, spec, seen, now)
    assert status.pairs is not None
    found, pairs = status.lines(), status.pairs
    found += [_against(spec, lead) for lead in leads]
    if any(lead.at_least is not None for lead in leads):
        sure = 100.0 * (1.0 - status.joint_delta)
        found.append(
            f"the answer and all bounds, at all times: together with probability {sure:g} %"
        )
    settled = [
        place.words(label, session.threshold)
        for label, place in zip(spec.labels, pairs.places, strict=True)
        if place.state != "in"
    ]
    found += settled[:LISTED]
    inside = [
        label for label, place in zip(spec.labels, pairs.places, strict=True) if place.state == "in"
    ]
    if status.decision is None:
        found.append(f"next: every item goes to {', '.join(inside[:LISTED])}")
    if session.started and spec.design.family.warning(spec.labels):
        found.append(f"note: {spec.design.family.warning(spec.labels)}")
    warning = loss_warning(spec, session.lost)
    if warning is not None:
        found.append(warning)
    lost = {
        label: (int(gone), int(asked))
        for label, (gone, asked) in zip(spec.labels, session.lost.tolist(), strict=True)
    }
    evidence = {status.leading: session.evidence} if status.leading else {}
    return Explanation(
        *("\n".join(found), None, (), evidence, session.threshold, status.remaining),
        *(None if status.decision or not inside else inside[0], (), lost, warning),
    )


def _against(spec: CampaignSpec, lead: Lead) -> str:
    least = "" if lead.at_least is None else f", at least {lead.at_least:.3g}"
    better = "better" if lead.difference >= 0 else "worse"
    return (
        f"{spec.labels[lead.arm]} against {spec.labels[lead.other]}: {better} by "
        f"{abs(lead.difference):.3g} on the same items{least}"
    )
