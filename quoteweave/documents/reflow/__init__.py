"""Sets formats without pages of their own (HTML, Markdown, plain text) on virtual pages."""
