"""Runs over datasets: examples answered or searched for by each setting of a configuration, one call each."""
