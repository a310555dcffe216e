"""The commands that find sources of sentences."""
