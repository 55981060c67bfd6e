"""Studies: many simulations from one file, the paper's experiments, and planning."""

from stopwise.studies.forecast import Forecast
from stopwise.studies.planning import plan
from stopwise.studies.study import NotComplete, Status, Study, StudyResults

__all__ = ["Forecast", "NotComplete", "Status", "Study", "StudyResults", "plan"]
