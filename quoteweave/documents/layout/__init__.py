"""Analyses a page: lines and drawn pixels become tables, figures and blocks of text in reading order."""
