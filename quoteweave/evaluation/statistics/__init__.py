"""Statistics of rows: aggregates, bootstrap intervals, paired permutation tests."""
