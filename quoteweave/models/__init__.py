"""Models that run on this machine: weights, loading, batches, and local chat models."""
