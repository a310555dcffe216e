"""Metrics, one module each: definition, source, the row of one question, the aggregates over rows."""
