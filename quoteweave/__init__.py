"""Retrieve text and image quotes from documents, and weave them into cited answers."""
