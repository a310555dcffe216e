"""Metrics of citations: which quotes an answer cites, and whether they support it."""
