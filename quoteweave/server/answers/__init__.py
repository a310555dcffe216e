"""Answers requests: reads what is asked, prepares answers, stores them and sends them."""
