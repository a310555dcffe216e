"""Pairs the values of charts with their labels, where geometry leaves no doubt."""
