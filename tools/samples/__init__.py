"""The sample documents: what they say, how they are drawn, and where on their pages the answers stand."""
