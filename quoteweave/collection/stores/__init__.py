"""What lies in the folder beside the catalogue: files, vectors, unfinished pages, OCR texts, descriptions, indexes."""
