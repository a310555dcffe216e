"""What the folder holds beside the catalogue: files, vectors, unfinished pages, OCR texts, descriptions, indexes."""
