"""The encoders: each loader of the catalogue is a class in a file of its own."""

from quoteweave.retrievers.encoders.factory import make_encoder, row_for_path

__all__ = ["make_encoder", "row_for_path"]
