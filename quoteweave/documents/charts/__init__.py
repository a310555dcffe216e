"""Values of charts are paired with their labels, where geometry leaves no doubt."""
