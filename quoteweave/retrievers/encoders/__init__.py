"""Encoders of text and images, one class for each loader of the catalogue."""

from quoteweave.retrievers.encoders.factory import make_encoder, row_for_path

__all__ = ["make_encoder", "row_for_path"]
