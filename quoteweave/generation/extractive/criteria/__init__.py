"""What a statement has to have to answer a question: its words, those that belong together, and the years."""
