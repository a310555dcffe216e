"""Answer without a generative model, from the documents' own sentences."""

from quoteweave.generation.extractive.generator import NOTHING_FOUND, ExtractiveGenerator, off_topic_abstention

__all__ = ["NOTHING_FOUND", "ExtractiveGenerator", "off_topic_abstention"]
