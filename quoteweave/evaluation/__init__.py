"""Score retrieval and answers against gold references: metrics, intervals, comparisons, reports."""
