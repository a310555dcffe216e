"""Importers of layouts that other tools have parsed."""
