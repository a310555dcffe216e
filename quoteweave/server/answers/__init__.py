"""Answers to requests: what is asked, made, kept and sent."""
