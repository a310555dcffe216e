"""The text layer of a PDF page: its characters, words and lines, with the cells and items that tags name."""
