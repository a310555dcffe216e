"""Examples and runs become rows, and rows become summaries. Imports nothing of ours but core."""
