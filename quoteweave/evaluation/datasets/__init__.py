"""Dataset files become examples."""
