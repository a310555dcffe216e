"""Indexes of items with many vectors, scored by MaxSim."""
