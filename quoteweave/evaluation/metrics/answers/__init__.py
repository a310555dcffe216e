"""Metrics of answer texts: overlap with the gold answer, short answers, judges, cost."""
