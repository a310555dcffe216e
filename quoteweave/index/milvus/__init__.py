"""Indexes of one vector an item, in Milvus."""
