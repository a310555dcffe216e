"""What speaks for each page, given a question, and rankings of several retrievers fused page by page."""
