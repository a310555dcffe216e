"""Converts answers and citations to the forms of other systems, and theirs to ours."""
