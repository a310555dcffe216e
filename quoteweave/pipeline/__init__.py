"""Retriever, context and generator composed; examples become runs."""
