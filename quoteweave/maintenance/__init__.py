"""Checks a collection, repairs it, and proves that what was removed is gone."""
