"""Asks a running quoteweave server: the same questions, records, events and errors as in one process."""
