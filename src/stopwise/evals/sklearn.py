"""Choose among estimators of scikit-learn by paired random splits, and stop when the best is proven."""

from __future__ import annotations

from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.errors import BadArgument
from stopwise.core.optional import load
from stopwise.core.spelling import family
from stopwise.evals.report import EvalReport
from stopwise.paired.session import PairedSession

load("sklearn", "stopwise.evals.sklearn", "sklearn")

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier  # noqa: E402
from sklearn.metrics import check_scoring  # noqa: E402
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit  # noqa: E402
from sklearn.utils import check_array, get_tags  # noqa: E402
from sklearn.utils.metaestimators import available_if  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted, indexable  # noqa: E402


def _has(name: str) -> Any:
    def check(self: BestEstimator) -> bool:
        first = self.best_estimator_ if hasattr(self, "best_estimator_") else self._first()
        getattr(first, name)
        return True

    return check


class BestEstimator(MetaEstimatorMixin, BaseEstimator):
    """The best of several estimators by their mean score over random splits of the data.

    ``estimators``: (name, estimator) pairs. All are fitted to the same random training parts and scored
    on the same test parts; differences of scores are taken for normal. One that is proven to be worse
    gets no more splits. It stops when no other beats the best by epsilon, with probability 1 - delta, or
    after ``max_splits``. The promise is about the mean over random splits of these data. Afterwards:
    ``best_name_``, ``best_estimator_`` (fitted to all data), ``decided_``, ``n_splits_``, ``n_fits_``
    and ``report_``.
    """

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = None,
        delta: float = 0.05,
        epsilon: float = 0.0,
        test_size: float = 0.2,
        min_splits: int = 5,
        max_splits: int = 100,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.scoring = scoring
        self.delta = delta
        self.epsilon = epsilon
        self.test_size = test_size
        self.min_splits = min_splits
        self.max_splits = max_splits
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> BestEstimator:
        """Compare, then fit the best to all data."""
        X, y = indexable(X, y)
        names, crew = self._crew()
        if y is None and get_tags(crew[0]).target_tags.required:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        if y is not None:
            check_array(y, ensure_2d=False, dtype=None, input_name="y")
        if is_classifier(crew[0]):
            check_classification_targets(y)
        session = PairedSession(
            *(family("gaussian:variance=unknown"), len(crew)),
            delta=self.delta,
            epsilon=self.epsilon,
            minimum=checks.whole("min_splits", self.min_splits, least=2),
        )
        self._compare(session, crew, X, y)
        first = session.verdict().leader
        used = session.state.used
        self.decided_, self.best_name_ = session.decided, names[first]
        self.n_splits_, self.n_fits_ = len(session.rows), int(used.sum())
        self.report_ = EvalReport(
            names, session, "decided" if session.decided else "items", used.tolist()
        )
        self.best_estimator_ = clone(crew[first]).fit(X, y)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _compare(self, session: PairedSession, crew: list[Any], X: Any, y: Any) -> None:
        scorers = [check_scoring(each, self.scoring) for each in crew]
        kind = StratifiedShuffleSplit if is_classifier(crew[0]) else ShuffleSplit
        most = checks.whole("max_splits", self.max_splits, least=1)
        splits = kind(most, test_size=self.test_size, random_state=self.random_state)
        for train, test in splits.split(X, y):
            item, arms = session.ask()
            for arm in arms:
                fitted = clone(crew[arm]).fit(_rows(X, train), _rows(y, train))
                session.tell(item, arm, float(scorers[arm](fitted, _rows(X, test), _rows(y, test))))
            if session.decided:
                return

    def _crew(self) -> tuple[list[str], list[Any]]:
        names = [name for name, _ in self.estimators]
        if len(names) < 2 or len(set(names)) < len(names):
            raise BadArgument("estimators", names, "two (name, estimator) pairs or more, all named")
        return names, [each for _, each in self.estimators]

    def _first(self) -> Any:
        return self.estimators[0][1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        first = get_tags(self._first())
        tags.estimator_type = first.estimator_type
        tags.classifier_tags, tags.regressor_tags = first.classifier_tags, first.regressor_tags
        tags.target_tags, tags.input_tags = first.target_tags, first.input_tags
        tags.input_tags.sparse = all(
            get_tags(each).input_tags.sparse for _, each in self.estimators
        )
        return tags

    def predict(self, X: Any) -> Any:
        """By the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """By the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """By the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    def score(self, X: Any, y: Any = None) -> float:
        """By the given scoring, or the best estimator's own."""
        check_is_fitted(self)
        return float(check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y))


def _rows(data: Any, places: Any) -> Any:
    from sklearn.utils import _safe_indexing

    return None if data is None else _safe_indexing(data, np.asarray(places))
