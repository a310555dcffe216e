"""Fit the thresholds below which an answer is withheld."""
