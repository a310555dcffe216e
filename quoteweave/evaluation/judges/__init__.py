"""Judges: chat models, handed in, that grade answers and evidence by prompts of our own."""
