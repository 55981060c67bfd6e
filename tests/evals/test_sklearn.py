"""scikit-learn for real: its data, its estimators, its checks."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import stopwise as sw
from stopwise.evals.sklearn import BestEstimator

CREW = [
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
    ("bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(random_state=0)),
]


def test_four_classifiers_of_tumours() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = BestEstimator(CREW, epsilon=0.005, random_state=0).fit(X, y)
    assert found.decided_
    assert found.best_name_ == "logistic"
    assert found.n_fits_ < 4 * found.n_splits_ <= 400
    assert found.score(X, y) > 0.97
    assert found.predict_proba(X[:3]).shape == (3, 2)
    assert found.classes_.tolist() == [0, 1]
    assert "logistic is best or within 0.005 of the best" in found.report_.sentence


def test_undecided_takes_the_leader() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pair = [("a", DummyClassifier()), ("b", DummyClassifier(strategy="prior"))]
    found = BestEstimator(pair, max_splits=6, random_state=0).fit(X, y)
    assert not found.decided_
    assert found.n_splits_ == 6
    assert found.report_.best is None


def test_refused() -> None:
    with pytest.raises(sw.BadArgument, match="estimators"):
        BestEstimator([("a", Ridge())]).fit([[1.0]], [1.0])


@pytest.mark.slow
@parametrize_with_checks(
    [
        BestEstimator([("ridge", Ridge()), ("line", LinearRegression())], max_splits=3, min_splits=2),
        BestEstimator([("a", LogisticRegression()), ("b", GaussianNB())], max_splits=3, min_splits=2),
    ]
)  # fmt: skip
def test_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)
