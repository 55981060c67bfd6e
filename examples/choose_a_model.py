"""Which of four classifiers? Paired random splits that stop, against 100 splits for all of them."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from stopwise.evals.sklearn import BestEstimator

CREW = [
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))),
    ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(random_state=0)),
]


def main() -> None:
    """Both data sets."""
    for name, load in (("breast cancer", load_breast_cancer), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        found = BestEstimator(CREW, delta=0.05, epsilon=0.005, random_state=0).fit(X, y)
        print(f"{name}: {found.report_!r}\n{found.n_fits_} fits, {found.n_splits_} splits")
        splits = StratifiedShuffleSplit(100, test_size=0.2, random_state=1)
        full = {each: cross_val_score(model, X, y, cv=splits).mean() for each, model in CREW}
        means = ", ".join(f"{each} {mean:.4f}" for each, mean in full.items())
        print(f"all of 100 splits, 400 fits: {means}\n")


if __name__ == "__main__":
    main()
