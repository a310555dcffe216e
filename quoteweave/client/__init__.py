"""A client of a running server, with the records that Python callers have."""
