"""The objects of a PDF as they are in its file, searched for what pdfium ignores without an error."""
