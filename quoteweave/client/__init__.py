"""Clients of a running quoteweave server, with the same calls, records, events and errors as without a server."""
