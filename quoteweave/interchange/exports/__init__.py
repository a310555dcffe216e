"""Conversations and their answers as documents: Markdown and Word."""
