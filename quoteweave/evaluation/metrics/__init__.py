"""Metrics, one per module: its definition and source, the row of one question, the aggregates over rows."""
