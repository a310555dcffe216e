"""Records, protocols and errors: the words that every other part speaks."""
