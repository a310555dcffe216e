"""Answers and citations in the forms that other systems read, and theirs in ours."""
