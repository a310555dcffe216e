"""Expanders: each turns a question into clauses that are easier to search for, as `core.protocols.Expander`."""
