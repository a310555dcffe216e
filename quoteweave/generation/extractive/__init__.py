"""Answers without a model, and what they are made of."""

from quoteweave.generation.extractive.generator import MODEL, NOTHING_FOUND, ExtractiveGenerator, off_topic

__all__ = ["MODEL", "NOTHING_FOUND", "ExtractiveGenerator", "off_topic"]
