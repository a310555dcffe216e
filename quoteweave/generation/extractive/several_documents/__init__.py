"""What several documents say on one question."""
