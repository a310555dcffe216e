"""Questions become ranked quotes."""
