"""Questions about a document as a whole: what it consists of, who wrote it and when."""
