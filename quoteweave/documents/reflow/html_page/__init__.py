"""What an HTML page is read with: its blocks, styles and losses, what is set apart, and the roles of its parts."""
