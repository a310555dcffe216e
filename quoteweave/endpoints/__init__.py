"""Clients of models behind HTTP."""
