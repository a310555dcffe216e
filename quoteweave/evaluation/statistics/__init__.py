"""Statistics of rows: aggregates, intervals over clusters, paired tests."""
