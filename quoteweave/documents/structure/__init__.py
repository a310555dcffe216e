"""What only the whole document tells: titles, captions, headers and footers."""
