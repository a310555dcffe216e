"""Makes contexts for questions about a document as a whole: its structure and its front matter."""
