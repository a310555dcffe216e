"""What the server keeps besides collections: its folder, and conversations."""
