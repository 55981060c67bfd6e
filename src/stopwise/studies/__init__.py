"""Studies: many simulations from one file, the paper's experiments, and planning."""

from stopwise.studies.study import NotComplete, Status, Study, StudyResults

__all__ = ["NotComplete", "Status", "Study", "StudyResults"]
