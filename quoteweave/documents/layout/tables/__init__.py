"""Tables on a page: found by rules, shading and columns, with their heads, and read as rows of cells."""
