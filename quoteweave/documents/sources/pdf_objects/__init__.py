"""The objects of a PDF as they stand in its file, looked at for what pdfium passes over without a word."""
