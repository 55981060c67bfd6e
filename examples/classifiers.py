"""Which of four classifiers is best on scikit-learn's breast-cancer data, up to 0.01?

    python examples/classifiers.py [FOLDER]        (needs scikit-learn)

A sample is the accuracy of one classifier on a fresh random split: fit on three quarters of the data,
score on the rest. Two worker processes ask, fit and tell. The question is put twice, and the record says
what each answer rests on:

  bounded    accuracies lie between 0 and 1, and splits are independent: nothing else;
  gaussian   they are normal too, with variances that nobody knows. That takes fewer samples; accuracies
             near 1 are not quite normal, and the guarantee is as good as that assumption.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

from stopwise import Campaign, CampaignDecided

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # each worker has one processor

FAMILIES: dict[str, tuple[Any, str]] = {
    "bounded": ("bounded", "accuracies between 0 and 1, independent splits"),
    "gaussian": (
        {"kind": "gaussian", "variance": "unknown"},
        "independent splits, accuracies that are normal with unknown variances",
    ),
}
LABELS = ["logistic regression", "nearest neighbours", "naive Bayes", "decision tree"]
WORKERS = 2


def spec(family: Any) -> dict[str, Any]:
    """An answer that is at most 0.01 below the best; wrong with probability 0.05 at most."""
    return {
        "question": {"kind": "best-arm", "epsilon": 0.01},
        "arms": LABELS,
        "family": family,
        "delta": 0.05,
    }


def classifier(label: str) -> Any:
    """An untrained one."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    made = (
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        GaussianNB(),
        DecisionTreeClassifier(random_state=0),
    )
    return dict(zip(LABELS, made, strict=True))[label]


def accuracy(label: str, split: int) -> float:
    """On one random split, which is drawn for this sample alone: whose number is the ticket's."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    x, y = load_breast_cancer(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(x, y, test_size=0.25, random_state=split)
    return float(classifier(label).fit(train_x, train_y).score(test_x, test_y))


def work(name: str, file: Path) -> None:
    """One worker: ask, fit, tell, until there is a decision."""
    campaign = Campaign.open(name, file)
    while True:
        try:
            (ticket,) = campaign.ask()
        except CampaignDecided:
            return
        campaign.tell(ticket.token, accuracy(ticket.label, int(ticket.token[:8], 16)))


def decide(name: str, file: Path, workers: int = WORKERS) -> Campaign:
    """A campaign from its first sample to its decision."""
    family, assumed = FAMILIES[name]
    campaign = Campaign.create(spec(family), file, name=name)
    spawn = multiprocessing.get_context("spawn")
    crew = [spawn.Process(target=work, args=(name, file)) for _ in range(workers)]
    for worker in crew:
        worker.start()
    for worker in crew:
        worker.join()
    status = campaign.status()
    print(f"{name}: assumes {assumed}")
    print(status, "\n")
    return campaign


def main(folder: Path, names: tuple[str, ...] = tuple(FAMILIES)) -> dict[str, Campaign]:
    """Both campaigns."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "classifiers.db"
    file.unlink(missing_ok=True)
    found = {name: decide(name, file) for name in names}
    for name, campaign in found.items():
        samples = sum(event.kind == "told" for event in campaign.events())
        print(f"{name}: {campaign.decision.text}, after {samples:,} samples; {campaign.verify()}")
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out"))
