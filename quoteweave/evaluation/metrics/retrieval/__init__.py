"""Metrics of rankings: quotes, pages and boxes."""
