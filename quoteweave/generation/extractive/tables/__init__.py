"""Cells of tables in words, and what is calculated from them."""
