"""Running async code for sync callers, limited threads, and many tasks a few at a time."""
