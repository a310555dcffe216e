"""Clients of models that are asked over HTTP."""
