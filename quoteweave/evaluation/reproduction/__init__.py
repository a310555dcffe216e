"""Compute published figures again from the files published with them, to the printed decimal."""
