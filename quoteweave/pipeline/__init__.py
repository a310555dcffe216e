"""Composes retrievers, contexts and generators to answer questions, and makes runs over datasets."""
