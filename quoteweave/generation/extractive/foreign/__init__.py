"""Answers to questions in other languages than English, by tables of words."""
