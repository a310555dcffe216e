"""What a page of a file is made of: its picture, its words with their boxes, its bookmarks."""
