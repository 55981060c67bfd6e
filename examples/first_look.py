"""A first look: lower bounds and oracle weights, printed and as a picture in out/first_look.png."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import stopwise as sw

QUESTIONS = [
    ("Which of four conversion rates is best?", sw.BestArm(4), [0.5, 0.45, 0.43, 0.4], sw.Bernoulli()),
    ("Is any error rate below 10 %?", sw.AnyLowArm(3, 0.1), [0.06, 0.06, 0.3], sw.Bernoulli()),
    ("Is the smallest mean below 0.6, give or take?", sw.MinimumThreshold(2, 0.6, 1 / 6),
     [0.63, 0.7], sw.Gaussian()),
]  # fmt: skip


def main(folder: Path) -> None:
    for question, problem, means, family in QUESTIONS:
        print(f"{question}\n{sw.oracle(problem, means, family=family)}\n")
    witness = sw.witness(sw.BestArm(4), [0.5, 0.45, 0.43, 0.4], family=sw.Bernoulli(), answer=0)
    print("Why not faster? No arm tells these models apart from the truth any better:")
    for model, chance in zip(witness.models, witness.probabilities, strict=True):
        print(f"  with probability {chance:.4f}: {np.round(model, 5).tolist()}")
    print(f"  certified to a relative gap of {witness.gap:.1e}\n")
    print(f"picture: {picture(folder)}\n")
    campaign()


def campaign() -> None:
    """A live campaign, with made-up visitors: ask, tell, and a decision that can be verified."""
    spec = {
        "question": {"kind": "best-arm", "epsilon": 0.01},
        "arms": ["old page", "new page", "plain page"],
        "family": "bernoulli",
        "delta": 0.05,
    }
    rates, random = [0.1, 0.4, 0.15], np.random.default_rng(1)
    live = sw.Campaign.create(spec, "memory:", name="pages")
    print("A campaign: which page sells best? Its visitors are made up.")
    try:
        while True:
            (ticket,) = live.ask()
            live.tell(ticket.token, float(random.random() < rates[ticket.arm]))
    except sw.CampaignDecided:
        print(f"{live.status()}\n{live.verify()}")


def picture(folder: Path) -> Path:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    draw_map(left)
    draw_weights(right)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "first_look.png"
    figure.savefig(path, dpi=110)
    return path


def draw_map(axes) -> None:  # type: ignore[no-untyped-def]
    """Two arms, two correct answers in between: which one does the oracle go for, and how long?"""
    problem = sw.MinimumThreshold(2, 0.6, 1 / 6)
    grid = np.linspace(0.44, 0.96, 80)
    lead = np.zeros((grid.size, grid.size))
    time = np.zeros_like(lead)
    for row, y in enumerate(grid):
        for column, x in enumerate(grid):
            found = sw.oracle(problem, [x, y], family=sw.Gaussian())
            values = {answer: each.value for answer, each in found.by_answer.items()}
            lead[row, column] = values.get("low", 0.0) - values.get("high", 0.0)
            time[row, column] = found.time
    axes.contourf(grid, grid, lead, levels=[-9, 0, 9], colors=["#f3d9a4", "#a9cfe8"])
    lines = axes.contour(
        grid, grid, time, levels=[20, 30, 50, 70], colors="#444444", linewidths=0.8
    )
    axes.clabel(lines, fmt="T* = %d", fontsize=8)
    axes.axvline(0.6, color="#888888", linestyle=":", linewidth=1)
    axes.axhline(0.6, color="#888888", linestyle=":", linewidth=1)
    axes.text(0.46, 0.46, '"low"', fontsize=13)
    axes.text(0.865, 0.925, '"high"', fontsize=13)
    axes.set(
        xlabel="mean of arm 0",
        ylabel="mean of arm 1",
        title="Is the smallest mean below 0.6 (± 1/6)?\nThe oracle's answer and its characteristic time",
        aspect="equal",
    )


def draw_weights(axes) -> None:  # type: ignore[no-untyped-def]
    """How the oracle divides its samples as the runner-up comes closer."""
    seconds = np.linspace(0.41, 0.495, 60)
    shares = np.array(
        [
            sw.oracle(sw.BestArm(4), [0.5, m, 0.43, 0.4], family=sw.Bernoulli()).weights[0]
            for m in seconds
        ]
    )
    names = ["arm 0: 0.50", "arm 1: on the axis", "arm 2: 0.43", "arm 3: 0.40"]
    styles = ["-", "--", "-.", ":"]
    colours = ["#0072b2", "#d55e00", "#009e73", "#7a5195"]
    for k in range(4):
        axes.plot(seconds, shares[:, k], styles[k], color=colours[k], label=names[k], linewidth=2)
    axes.set(
        xlabel="mean of arm 1",
        ylabel="share of the samples",
        ylim=(0, 0.52),
        title="Which of four rates is best?\nOracle weights, Bernoulli arms",
    )
    axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.52))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out"))
