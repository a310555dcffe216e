"""Text that a page shows and its text layer lacks: finds it, and reads large pictures of it."""
