"""Tables on a page: found by rules, shading and columns, with their heads, as rows of cells."""
