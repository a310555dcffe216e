"""Answers about documents as a whole: what one consists of, who wrote it and when, and which others there are."""
