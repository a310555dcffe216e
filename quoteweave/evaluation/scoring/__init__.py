"""Score predictions against examples: rows, aggregates, breakdowns, comparisons of runs."""
