"""Layouts that other tools have parsed become quotes."""
