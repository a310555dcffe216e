"""Answers about documents as a whole: what one consists of, and who wrote it and when."""
