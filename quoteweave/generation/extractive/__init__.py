"""Answers without a generative model, from the documents' own sentences."""
