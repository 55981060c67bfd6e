"""scikit-learn for real: its data, its estimators, its checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import RepeatedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import stopwise as sw
from stopwise.evals.sklearn import BestEstimator
from validity import most

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


def odd() -> tuple[Any, Any]:
    """One item with much leverage: it decides which of the two has the smaller mean squared error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = 0.3 * X[:, 0] + 0.1 * rng.normal(size=50)
    X[0], y[0] = 4.0, 12.0
    return X, y


def few_large() -> tuple[Any, Any]:
    """Test parts without a large value have a tiny variance, and R^2 is very low there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = 0.1 * rng.normal(size=50)
    y[:5] += 3.0
    return X, y


MIDDLE, MEAN = DummyRegressor(strategy="median"), DummyRegressor()
REGRESSORS = {  # and which has the smaller error, over all partitions
    "few large": (few_large(), [("median", MIDDLE), ("mean", MEAN)], "mean"),
    "odd": (odd(), [("mean", MEAN), ("ridge", Ridge())], "ridge"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSORS)
def test_the_better_regressor(name: str) -> None:
    """Over 300 random partitions, by more than four standard errors."""
    (X, y), crew, best = REGRESSORS[name]
    found = []
    for _, each in crew:
        parts = RepeatedKFold(n_splits=5, n_repeats=300, random_state=1)
        scores = cross_val_score(each, X, y, cv=parts, scoring="neg_mean_squared_error")
        found.append(scores.reshape(300, 5).mean(1))
    ahead = found[1] - found[0]
    assert crew[1][0] == best
    assert ahead.mean() > 4.0 * ahead.std() / np.sqrt(300)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("runs", [4, pytest.param(1_000, marks=pytest.mark.slow)])
def test_regressors_are_chosen_by_squared_error(name: str, runs: int) -> None:
    """By R^2 of single splits .19 of "few large" were wrong, by their squared errors .16 of "odd"."""
    (X, y), crew, best = REGRESSORS[name]
    wrong = 0
    for run in range(runs):
        found = BestEstimator(crew, random_state=run).fit(X, y)
        wrong += found.decided_ and found.best_name_ != best
    assert wrong <= most(runs, 0.05), wrong


def test_regressors_and_partitions() -> None:
    X, y = few_large()
    found = BestEstimator(REGRESSORS["few large"][1], random_state=0).fit(X, y)
    assert found.n_splits_ == 5 * found.report_.verdict.items >= 25
    assert found.n_fits_ == sum(found.report_.calls.values()) == 2 * found.n_splits_
    assert found.report_.means["mean"] < 0.0, "negated errors"
    assert "partitions, delta = 0.05, about random splits of these data" in found.report_.sentence

    def lost(fitted: Any, X: Any, y: Any) -> Any:
        return -((fitted.predict(X) - y) ** 2)

    same = BestEstimator(REGRESSORS["few large"][1], scoring=lost, random_state=0).fit(X, y)
    assert same.report_.means == pytest.approx(found.report_.means)
    assert same.score(X, y) == pytest.approx(lost(same, X, y).mean())


@pytest.mark.parametrize("scoring", ["r2", "roc_auc", "no such thing", lambda *_: 1.0])
def test_scores_that_are_no_means_are_refused(scoring: Any) -> None:
    X, y = few_large()
    with pytest.raises(sw.BadArgument, match=r"scoring: got .*for each item.*no means over items"):
        BestEstimator(REGRESSORS["few large"][1], scoring=scoring).fit(X, y)
