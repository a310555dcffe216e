"""Async code for sync callers, bounded threads, and many tasks a few at a time."""
