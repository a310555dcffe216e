"""Indexes of one vector an item, through FAISS."""
