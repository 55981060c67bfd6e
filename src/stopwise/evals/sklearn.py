"""Choose among estimators of scikit-learn by paired random splits, and stop when the best is proven."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from stopwise.core import checks
from stopwise.core.arrays import Floats
from stopwise.core.errors import BadArgument
from stopwise.core.optional import load
from stopwise.core.spelling import family
from stopwise.evals.report import EvalReport
from stopwise.paired.session import PairedSession

load("sklearn", "stopwise.evals.sklearn", "sklearn")

from sklearn.base import (  # noqa: E402
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.metrics import check_scoring  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
)
from sklearn.utils import check_array, check_random_state, get_tags  # noqa: E402
from sklearn.utils.metaestimators import available_if  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted, indexable  # noqa: E402


def _has(name: str) -> Any:
    def check(self: BestEstimator) -> bool:
        first = self.best_estimator_ if hasattr(self, "best_estimator_") else self._first()
        getattr(first, name)
        return True

    return check


MOST_SPLITS = 10**6
ACCURACY, ERROR = "accuracy", "neg_mean_squared_error"  # unless told: of classifiers, of regressors
MEANS = (
    *(ACCURACY, ERROR, "neg_mean_absolute_error", "neg_mean_absolute_percentage_error"),
    *("neg_mean_squared_log_error", "neg_mean_poisson_deviance", "neg_mean_gamma_deviance"),
    *("neg_log_loss", "neg_brier_score", "top_k_accuracy"),
)  # scorings of scikit-learn that are means over the items of a test part
CLAIM = "about random splits of these data, if differences of mean scores are normal"


class BestEstimator(MetaEstimatorMixin, BaseEstimator):
    """The best of several estimators by their mean score over random splits of the data.

    ``estimators``: (name, estimator) pairs. All are fitted to the same random training parts and scored
    on the same test parts; differences of mean scores are taken for normal. One that is proven to be
    worse gets no more splits. It stops when no other beats the best by epsilon, with probability
    1 - delta, or after ``max_splits``. The promise is about the mean over random splits of these data.

    ``scoring`` must be a mean over items: accuracy (for classifiers unless given),
    neg_mean_squared_error (for regressors) and the like, or a function (estimator, X, y) that gives a
    score for each item. Accuracies are compared split by split. Other scores may be large on a few
    items, so that every item must have its part in each comparison: a comparison is then a random
    partition, of which every part is the test part once. There are ``min_splits`` comparisons at least.

    Afterwards: ``best_name_``, ``best_estimator_`` (fitted to all data), ``decided_``, ``n_splits_``,
    ``n_fits_`` and ``report_``.
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
        splits = _Splits(
            self._scoring(crew[0]), self._share(), self._state(), is_classifier(crew[0])
        )
        self._compare(session, crew, splits, X, y)
        first = session.verdict().leader
        used = splits.folds * session.state.used
        self.decided_, self.best_name_ = session.decided, names[first]
        self.n_splits_, self.n_fits_ = splits.folds * len(session.rows), int(used.sum())
        self.report_ = EvalReport(
            *(names, session, "decided" if session.decided else "items", used.tolist()),
            unit="splits" if splits.folds == 1 else "partitions",
            claim=CLAIM,
        )
        self.best_estimator_ = clone(crew[first]).fit(X, y)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _compare(
        self, session: PairedSession, crew: list[Any], splits: _Splits, X: Any, y: Any
    ) -> None:
        most = checks.whole("max_splits", self.max_splits, least=1, most=MOST_SPLITS)
        for parts in splits.comparisons(X, y, max(1, most // splits.folds)):
            item, arms = session.ask()
            for arm in arms:
                scores = [splits.scores(crew[arm], X, y, *part) for part in parts]
                session.tell(item, arm, float(np.mean(np.concatenate(scores))))
            if session.decided:
                return

    def _scoring(self, first: Any) -> Any:
        """A scoring that is a mean over items, or a refusal."""
        usual = ACCURACY if is_classifier(first) else ERROR if is_regressor(first) else None
        found = usual if self.scoring is None else self.scoring
        if callable(found):
            return found
        if not isinstance(found, str) or found not in MEANS:
            raise BadArgument("scoring", self.scoring, _ALLOWED, _WHY)
        return found

    def _crew(self) -> tuple[list[str], list[Any]]:
        allowed = "two (name, estimator) pairs or more, all named"
        pairs = [
            checks.listed("estimators", each, allowed)
            for each in checks.listed("estimators", self.estimators, allowed)
        ]
        if any(len(pair) != 2 or not isinstance(pair[0], str) for pair in pairs):
            raise BadArgument("estimators", self.estimators, allowed)
        names = [name for name, _ in pairs]
        if len(names) < 2 or len(set(names)) < len(names):
            raise BadArgument("estimators", names, allowed)
        return names, [each for _, each in pairs]

    def _share(self) -> float:
        """The test part: a share of the items, or how many."""
        if isinstance(self.test_size, int | np.integer):
            return checks.whole("test_size", self.test_size, least=1)
        return checks.probability("test_size", self.test_size)

    def _state(self) -> Any:
        try:
            check_random_state(self.random_state)
        except Exception:
            allowed = "None, a whole number from 0 to 4294967295, or a RandomState of numpy"
            raise BadArgument("random_state", self.random_state, allowed) from None
        return self.random_state

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
        if callable(self.scoring):
            return float(np.mean(self.scoring(self.best_estimator_, X, y)))
        return float(check_scoring(self.best_estimator_, self.scoring)(self.best_estimator_, X, y))


_ALLOWED = f"{', '.join(MEANS)}, or a function (estimator, X, y) that gives a score for each item"
_WHY = (
    "Scores such as r2, f1 and roc_auc are no means over items: a few odd test parts decide their mean, "
    "and nothing could be claimed about it. cross_val_score shows them for the chosen estimator."
)


class _Splits:
    """Random splits, as many at a time as a comparison needs, and the scores on their test parts."""

    def __init__(self, scoring: Any, test_size: float, seed: Any, stratified: bool) -> None:
        self.scoring, self.test_size, self.seed = scoring, test_size, seed
        self.stratified = stratified
        self.folds = 1 if scoring == ACCURACY else max(2, round(1.0 / test_size))

    def comparisons(self, X: Any, y: Any, most: int) -> Iterator[list[tuple[Any, Any]]]:
        """The splits of each comparison: one, or those of a partition."""
        try:
            yield from self._comparisons(X, y, most)
        except ValueError as error:
            allowed = f"a part of these data that can be left out for tests ({error})"
            raise BadArgument("test_size", self.test_size, allowed) from error

    def _comparisons(self, X: Any, y: Any, most: int) -> Iterator[list[tuple[Any, Any]]]:
        if self.folds == 1:
            kind = StratifiedShuffleSplit if self.stratified else ShuffleSplit
            single = kind(most, test_size=self.test_size, random_state=self.seed)
            yield from ([part] for part in single.split(X, y))
            return
        whole = RepeatedStratifiedKFold if self.stratified else RepeatedKFold
        parts = whole(n_splits=self.folds, n_repeats=most, random_state=self.seed).split(X, y)
        for _ in range(most):
            yield list(islice(parts, self.folds))

    def scores(self, estimator: Any, X: Any, y: Any, train: Any, test: Any) -> Floats:
        """Of an estimator that is fitted to the training part: a number for each item, or their mean."""
        fitted = clone(estimator).fit(_rows(X, train), _rows(y, train))
        tested = fitted, _rows(X, test), _rows(y, test)
        if not callable(self.scoring):
            return np.full(len(test), float(check_scoring(fitted, self.scoring)(*tested)))
        found = _numbers(self.scoring(*tested))
        if found.shape != (len(test),):
            given = f"a function that gives {found.tolist() if found.ndim == 0 else found.shape}"
            raise BadArgument("scoring", given, f"{len(test)} scores: one for each item", _WHY)
        return found


def _numbers(scores: Any) -> Floats:
    try:
        return np.asarray(scores, dtype=float)
    except Exception:
        raise BadArgument("scoring", scores, "scores that are numbers, one for each item") from None


def _rows(data: Any, places: Any) -> Any:
    from sklearn.utils import _safe_indexing

    return None if data is None else _safe_indexing(data, np.asarray(places))
