"""Asks the HTTP APIs of sources of papers: services and keys, pace, replies that are kept, and errors for users."""
