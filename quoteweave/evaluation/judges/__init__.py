"""Judges: chat models, passed in by the caller, that grade answers and evidence by prompts of our own."""
