"""What a PDF page draws besides its text, and what of the text it strikes out or covers."""
